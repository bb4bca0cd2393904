"""Figures of a full run, for docs/source/contributor/proof.rst."""
from __future__ import annotations

import collections.abc
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


def record(
    item: str, figures: dict[str, typing.Any],
    rows: collections.abc.Iterable[dict[str, typing.Any]] | None = None,
) -> None:
    """Write what a full run counted, and on which commit.

    :param item: what was proven, in one word
    :param rows: a table that belongs to it: the file has a line for each, and
        FIGURES in the first
    """
    path = (ROOT / 'docs' / 'source' / 'contributor' / 'figures'
            / f'{item}-{release.NUMBER}.json')
    head = {
        'commit': subprocess.check_output(
            ['git', 'describe', '--always', '--dirty'],
            cwd=ROOT, text=True).strip(),
        'nova': version.version_string(),
        'date': datetime.date.today().isoformat(),
        **figures}
    if rows is None:
        path.write_text(json.dumps(head, indent=1) + '\n')
    else:
        path.with_suffix('.jsonl').write_text(''.join(
            json.dumps(row) + '\n' for row in (head, *rows)))
