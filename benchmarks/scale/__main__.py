"""``python -m benchmarks.scale [N] [--rounds R] [--docs]``."""

import argparse
import contextlib
import datetime
import io
import logging
import pathlib
import shutil
import sys
import typing
import warnings

from benchmarks import table
from testing.deployment import state as state_module

#: Where the documentation takes the tables from.
FIGURES = state_module.ROOT / 'docs/source/admin/figures/scale.txt'

#: Where the databases are during the run.
FOLDER = state_module.ROOT / '.cloud-scale'


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(
        prog='benchmarks.scale',
        description='Measure a cell of many servers on MariaDB.')
    parser.add_argument(
        'number', type=int, nargs='?', default=100_000, metavar='N',
        help='how many servers (default: %(default)s)')
    parser.add_argument(
        '--rounds', type=int, default=11, metavar='R',
        help='how often to take each request (default: %(default)s)')
    parser.add_argument(
        '--docs', action='store_true',
        help='write the tables of the documentation, too')
    arguments = parser.parse_args()
    if arguments.number < 10_000:
        parser.error('fewer than 10,000 servers have no page of each kind')
    warnings.showwarning = lambda *args, **kwargs: None
    # Nova warns and logs on import, which would end up among the tables.
    logging.disable()
    # The harness must be the first to import Nova.
    import testing.harness  # noqa: F401
    docs = _measure(arguments.number, arguments.rounds)
    if arguments.docs:
        # Not before everything is measured.
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(docs)


def _measure(number: int, rounds: int) -> str:
    """Print the tables, and return them as the documentation has them."""
    from nova import version

    from benchmarks.scale import database as database_module
    from benchmarks.scale import report
    # Through it, Nova logs what ends a program, and nothing is logged here.
    sys.excepthook = sys.__excepthook__
    docs = io.StringIO()
    with _folder() as folder:
        database = database_module.Database(state_module.State(folder))
        try:
            database.up()
            print(f'Written by ``make bench-scale N={number} ARGS=--docs`` '
                  f'on {datetime.date.today()}: Nova '
                  f'{version.version_string()}, {database.version}.',
                  file=docs)
            for name, *rest in report.tables(database, number, rounds):
                table.plain(sys.stdout, *rest)
                print(f'\n.. {name}', file=docs)
                table.rst(docs, *rest)
        finally:
            database.server.stop()
    return docs.getvalue()


@contextlib.contextmanager
def _folder() -> typing.Iterator[pathlib.Path]:
    """Provide an empty folder, which grows to gigabytes, and remove it."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    try:
        yield FOLDER
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)


if __name__ == '__main__':
    main()
