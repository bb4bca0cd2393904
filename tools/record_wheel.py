"""Write down what of a wheel has passed beside a Nova and a Python.

usage: record_wheel.py NAME=FILE...    (unit=unit.xml short=short.xml)

The files are what pytest --junitxml wrote. A line of PLATFORMS is the last run
with this release of Nova and of Python.
"""
from __future__ import annotations

import json
import pathlib
import platform
import sys
from xml.etree import ElementTree

from testing import figures

PLATFORMS = figures.FOLDER / 'platforms.jsonl'


def counted(path: str) -> str:
    """Return how many tests passed and were skipped."""
    (suite,) = ElementTree.parse(path).getroot()
    of = {name: int(suite.attrib[name])
          for name in ('tests', 'failures', 'errors', 'skipped')}
    if of['failures'] or of['errors']:
        sys.exit(f'{path}: not everything has passed')
    return f'{of["tests"] - of["skipped"]} passed, {of["skipped"]} skipped'


def place(run: dict[str, str]) -> tuple[int, int]:
    """Return the release of Nova, and the minor one of Python."""
    return int(run['nova'].split('.')[0]), int(run['python'].split('.')[1])


def main(results: list[str]) -> None:
    """Replace or add this run's line."""
    run = {**figures.run(), 'python': platform.python_version(), **{
        name: counted(path)
        for name, path in (each.split('=') for each in results)}}
    runs = {place(each): each for each in map(
        json.loads, PLATFORMS.read_text().splitlines())}
    runs[place(run)] = run
    PLATFORMS.write_text(''.join(
        json.dumps(each) + '\n' for _, each in sorted(runs.items())))


if __name__ == '__main__':
    main(sys.argv[1:])
