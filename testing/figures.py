"""Figures of a full run, for docs/source/contributor/proof.rst."""

import datetime
import json
import os
import pathlib
import subprocess
import typing

from nova import version

from testing import release

#: Whether the full form is asked for, rather than the short form.
FULL = os.environ.get('PROOF') == 'full'

ROOT = pathlib.Path(__file__).parents[1]


def record(item: str, figures: dict[str, typing.Any]) -> None:
    """Write what a full run counted, and on which commit.

    :param item: what was proven, in one word
    """
    path = (ROOT / 'docs' / 'source' / 'contributor' / 'figures'
            / f'{item}-{release.NUMBER}.json')
    path.write_text(json.dumps({
        'commit': subprocess.check_output(
            ['git', 'describe', '--always', '--dirty'],
            cwd=ROOT, text=True).strip(),
        'nova': version.version_string(),
        'date': datetime.date.today().isoformat(),
        **figures}, indent=1) + '\n')
