"""``python -m benchmarks [--rounds N]``."""

import argparse
import logging
import sys
import warnings

from benchmarks import table


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(
        prog='benchmarks',
        description='Measure what the extension costs beside Nova itself.')
    parser.add_argument(
        '--rounds', type=int, default=100, metavar='N',
        help='how often to take each request (default: %(default)s)')
    arguments = parser.parse_args()
    warnings.showwarning = lambda *args, **kwargs: None
    # Nova warns and logs on import, which would end up among the tables.
    logging.disable()
    # Takes seconds. The harness must be the first to import Nova.
    import testing.harness  # noqa: F401
    # Log records are created as with Nova's defaults: from INFO up.
    logging.disable(logging.DEBUG)
    from benchmarks import report
    for title, head, rows in report.tables(arguments.rounds):
        table.plain(sys.stdout, title, head, rows)


if __name__ == '__main__':
    main()
