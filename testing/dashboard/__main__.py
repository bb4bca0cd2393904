"""``make dashboard-up``: Horizon with the plugin, until Ctrl-C."""
from __future__ import annotations

import argparse
import contextlib
import logging
import pathlib
import signal
import tempfile
import types
import typing

from testing.dashboard import horizon


def stop(number: int, frame: types.FrameType | None) -> None:
    """Clean up and exit."""
    raise SystemExit(0)


@contextlib.contextmanager
def demo() -> typing.Iterator[str]:
    """Run the cloud; return the URL of its Keystone."""
    # Takes seconds, and is not needed for another cloud. Nova logs and warns as
    # soon as it is imported.
    logging.disable()
    from testing.dashboard import cloud
    with cloud.running() as (_, url):
        yield f'{url}/identity/v3'


def main() -> None:
    """Run Horizon.

    :raises SystemExit: it does not start
    """
    parser = argparse.ArgumentParser(
        prog='make dashboard-up', description='Run Horizon with the plugin.')
    parser.add_argument(
        '--keystone', metavar='URL',
        help='Keystone of the cloud, with /v3; without it, the cloud of make '
             'demo-serve is started beside Horizon')
    args = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    # Before the cloud, whose harness nests folders for temporary files.
    with (tempfile.TemporaryDirectory(prefix='nova-image-override-') as name,
          contextlib.nullcontext(args.keystone) if args.keystone
          else demo() as keystone):
        folder = pathlib.Path(name)
        try:
            static = horizon.make_static(folder)
            with horizon.running(folder, keystone, static) as url:
                tell(url, args.keystone)
                signal.pause()
        except horizon.Failed as exc:
            raise SystemExit(str(exc)) from exc


def tell(url: str, keystone: str | None) -> None:
    """Print where Horizon is, and who can log in."""
    print(f'Horizon is at {url}')
    if not keystone:
        print('Log in as demo, as nfv, who may override more, or as admin. '
              'The password is the\nname.')
    print('Ctrl-C ends it, and leaves nothing behind.', flush=True)


if __name__ == '__main__':
    main()
