"""Figures of a full run, for docs/source/contributor/proof.rst."""
from __future__ import annotations

import collections.abc
import contextlib
import datetime
import fcntl
import hashlib
import json
import os
import pathlib
import typing

from nova import version

from testing import checkout
from testing import release

#: Whether the full form is asked for, rather than the short form.
FULL = os.environ.get('PROOF') == 'full'

FOLDER = checkout.ROOT / 'docs' / 'source' / 'contributor' / 'figures'

#: What sha256sum says of each file, so that nobody edits one by hand.
SUMS = FOLDER / 'SHA256SUMS'


def sums() -> dict[str, str]:
    """Return the sum of each file, by its name."""
    lines = SUMS.read_text().splitlines() if SUMS.exists() else ()
    return {name: number for number, name in map(str.split, lines)}


def write(path: pathlib.Path, text: str) -> None:
    """Write a file of figures, and its sum."""
    path.write_text(text)
    found = {**sums(), path.name: hashlib.sha256(text.encode()).hexdigest()}
    SUMS.write_text(''.join(
        f'{number}  {name}\n' for name, number in sorted(found.items())))


def record(
    item: str, figures: dict[str, typing.Any],
    rows: collections.abc.Iterable[dict[str, typing.Any]] | None = None,
) -> None:
    """Write what a full run counted, and on which commit.

    :param item: what was proven, in one word
    :param rows: a table that belongs to it: the file has a line for each, and
        FIGURES in the first
    """
    path = _path(item)
    head = {**running(), **figures}
    if rows is None:
        write(path, json.dumps(head, indent=1) + '\n')
    else:
        write(path.with_suffix('.jsonl'), ''.join(
            json.dumps(row) + '\n' for row in (head, *rows)))


def read(item: str) -> dict[str, typing.Any]:
    """Return what the last full run has counted."""
    result: dict[str, typing.Any] = json.loads(_path(item).read_text())
    return result


def add(item: str, figures: dict[str, typing.Any]) -> None:
    """Add what one more part of a full run counted to what others did.

    A long run can so be made in parts: those on one commit are one run. Numbers
    are added up, and a text replaces the former one.

    :param item: what was proven, in one word
    """
    run = running()
    # pytest-xdist's processes add to one file.
    with SUMS.open('a') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known: dict[str, typing.Any] = {}
        with contextlib.suppress(FileNotFoundError):
            known = read(item)
        if (known.pop('commit', None), known.pop('nova', None)) != (
                run['commit'], run['nova']):
            known = {}
        known.pop('date', None)
        record(item, {**known, **{
            name: value + known.get(name, 0)
            if isinstance(value, int) else value
            for name, value in figures.items()}})


def _path(item: str) -> pathlib.Path:
    return FOLDER / f'{item}-{release.NUMBER}.json'


def running() -> dict[str, str]:
    """Return what is running, and when."""
    changed = checkout.git(
        'status', '--porcelain', '--', '.',
        f':!{FOLDER.relative_to(checkout.ROOT)}')
    return {
        'commit': checkout.git('describe', '--always')
        + '-dirty' * bool(changed),
        'nova': version.version_string(),
        'date': datetime.date.today().isoformat()}
