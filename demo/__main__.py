"""``python -m demo [NAME=VALUE ...]`` and ``python -m demo --serve``."""
from __future__ import annotations

import argparse
import logging
import signal
import sys
import traceback
import types
import warnings

from demo import page


def override(text: str) -> tuple[str, str]:
    """Return the name and value of NAME=VALUE, split at the first "="."""
    name, equals, value = text.partition('=')
    if not equals:
        raise argparse.ArgumentTypeError(f'write {text} as NAME=VALUE')
    return name, value


def silence() -> None:
    """Keep Nova's logs and warnings off the page."""
    logging.disable()
    # Not by a filter: Nova's test fixtures set filters of their own.
    warnings.showwarning = lambda *args, **kwargs: None


def stop(number: int, frame: types.FrameType | None) -> None:
    """Clean up and exit; only once, however often the signal comes."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(0)


def main() -> int:
    """Run the demo.

    :returns: the exit status: 1 when Nova refuses the reader's own overrides,
        or cannot build the server
    """
    parser = argparse.ArgumentParser(
        prog='demo', description='Boot one image twice, as it is and with '
                                 'overrides, and show what differs.')
    parser.add_argument(
        'overrides', nargs='*', type=override, metavar='NAME=VALUE',
        help='image property to override; without any, the demo chooses, '
             'and shows a refusal too')
    parser.add_argument(
        '--serve', action='store_true',
        help='keep the cloud up on loopback, for any client, until Ctrl-C')
    parser.add_argument(
        '--clients', metavar='FOLDER',
        help='where openstack is, for the lines that --serve prints')
    args = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    silence()
    try:
        return run(args)
    except Exception:
        # Not left to sys.excepthook, with which oslo.log would log it.
        traceback.print_exc()
        return 1


def run(args: argparse.Namespace) -> int:
    """Do what the command line says; return the exit status."""
    # Takes seconds, and Nova warns and logs as soon as it is imported.
    from demo import serve
    from demo import story
    from testing.site import cloud
    sheet = page.Page(sys.stdout)
    if args.serve:
        serve.until_stopped(sheet, args.clients)
    with cloud.Cloud.running() as running:
        told = story.Story(running, sheet)
        if args.overrides:
            return 0 if told.boot(dict(args.overrides)) else 1
        told.boot(story.OVERRIDES)
        told.refuse(story.WRONG)
    return 0


if __name__ == '__main__':
    sys.exit(main())
