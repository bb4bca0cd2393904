"""The goals of docs/source/user/nfv-start.rst, row by row."""
from __future__ import annotations

import csv
import dataclasses
import pathlib
import re

#: The page's table.
TABLE = (pathlib.Path(__file__).parents[1] / 'docs' / 'source' / 'samples'
         / 'nfv-goals.csv')


@dataclasses.dataclass(frozen=True)
class Goal:
    """What a goal takes: of the flavor, the user and the operator."""

    name: str
    specs: dict[str, str]
    overrides: dict[str, str]
    entries: list[str]

    def __str__(self) -> str:
        return self.name


def _literals(cell: str) -> list[str]:
    return re.findall('``(.+?)``', cell)


def _pairs(cell: str) -> dict[str, str]:
    return dict(each.split('=', 1) for each in _literals(cell)
                if '=' in each)


def read() -> list[Goal]:
    """Return the rows of the table."""
    _, *rows = csv.reader(TABLE.read_text().splitlines())
    return [Goal(name, _pairs(specs), _pairs(overrides), _literals(entries))
            for name, specs, overrides, entries in rows]
