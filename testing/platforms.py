"""Write down what of a wheel has passed beside a Nova and a Python.

usage: python -m testing.platforms NAME=FILE...    (unit=unit.xml)

The files are what pytest --junitxml wrote where nothing failed. A line is the
last run with this release of Nova and of Python.
"""
from __future__ import annotations

import json
import platform
import sys
from xml.etree import ElementTree

from testing import figures

PLATFORMS = figures.FOLDER / 'platforms.jsonl'


def counted(path: str) -> str:
    """Return how many tests passed and were skipped."""
    (suite,) = ElementTree.parse(path).getroot()
    skipped = int(suite.attrib['skipped'])
    return f'{int(suite.attrib["tests"]) - skipped} passed, {skipped} skipped'


def place(run: dict[str, str]) -> tuple[int, int]:
    """Return the release of Nova, and the minor one of Python."""
    return int(run['nova'].split('.')[0]), int(run['python'].split('.')[1])


def main(results: list[str]) -> None:
    """Replace or add this run's line."""
    run = {**figures.running(), 'python': platform.python_version(), **{
        name: counted(path)
        for name, path in (each.split('=') for each in results)}}
    runs = {place(each): each for each in map(
        json.loads, PLATFORMS.read_text().splitlines())}
    runs[place(run)] = run
    figures.write(PLATFORMS, ''.join(
        json.dumps(each) + '\n' for _, each in sorted(runs.items())))


if __name__ == '__main__':
    main(sys.argv[1:])
