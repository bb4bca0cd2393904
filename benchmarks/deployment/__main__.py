"""``python -m benchmarks.deployment load|saves [--docs]``."""

import argparse
import contextlib
import datetime
import pathlib
import sys
import typing

from benchmarks import table
from benchmarks.deployment import load
from benchmarks.deployment import saves
from testing.deployment import cloud
from testing.deployment import state

#: Where the documentation takes its figures from.
FIGURES = (pathlib.Path(__file__).parents[2]
           / 'docs' / 'source' / 'contributor' / 'figures')


def main() -> None:
    """Measure on the running cloud, and print tables."""
    parser = argparse.ArgumentParser(prog='benchmarks.deployment')
    parser.add_argument('what', choices=['load', 'saves'])
    parser.add_argument(
        '--docs', action='store_true',
        help='write the figures of the documentation, too')
    arguments = parser.parse_args()
    deployment = cloud.Cloud(state.State.default())
    if deployment.nova_api.pid is None:
        parser.error('the cloud does not run: make cloud-up')
    with contextlib.ExitStack() as stack:
        docs: typing.TextIO | None = None
        if arguments.docs:
            docs = stack.enter_context(
                (FIGURES / f'{arguments.what}.txt').open('w'))
            print(f'Written by ``make cloud-{arguments.what} ARGS=--docs`` '
                  f'on {datetime.date.today()}.', file=docs)
        if arguments.what == 'saves':
            rows = _saves(deployment, docs)
            if docs:
                saves.plot(rows, FIGURES / 'saves.svg')
        else:
            for title, head, measured in load.tables(deployment):
                _tell(docs, title, head, [*measured])


def _saves(
    deployment: cloud.Cloud, docs: typing.TextIO | None,
) -> list[list[str]]:
    rows = [*saves.rows(deployment)]
    _tell(docs, '20 shapes of one image of 256 MiB',
          ['way', 'who may', *saves.MEASURES], rows)
    return rows


def _tell(
    docs: typing.TextIO | None, title: str, head: list[str],
    rows: list[list[str]],
) -> None:
    """Print a table, and write it for the documentation."""
    table.plain(sys.stdout, title, head, rows)
    if docs:
        table.rst(docs, title, head, rows)


if __name__ == '__main__':
    main()
