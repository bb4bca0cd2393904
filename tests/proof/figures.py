"""Figures of a full run, for docs/source/contributor/proof.rst."""

import datetime
import json
import os
import pathlib
import typing

from nova import version

from testing import release

#: Whether the full form is asked for, rather than the short form.
FULL = os.environ.get('PROOF') == 'full'

FOLDER = (pathlib.Path(__file__).parents[2]
          / 'docs' / 'source' / 'contributor' / 'figures')


def record(
    item: str, figures: dict[str, typing.Any], command: str | None = None,
) -> None:
    """Write what a full run counted; the short form writes nothing.

    :param item: what was proven, in one word
    :param command: the command that was run; by default ``make proof-ITEM``
    """
    if not FULL:
        return
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f'{item}-{release.NUMBER}.json'
    path.write_text(json.dumps({
        'nova': version.version_string(),
        'date': datetime.date.today().isoformat(),
        'command': command or f'make proof-{item}',
        **figures}, indent=1) + '\n')
