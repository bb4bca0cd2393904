"""Start or end the cloud, or run something on it.

``python -m testing.deployment up``, ``down``, or ``run MODULE ARGUMENTS...``:
``run`` starts the cloud, runs a module of Python on it, and ends the cloud,
whatever becomes of the module. ``fetch`` only downloads what it needs, for one
that is then started without a network. ``--older ENVIRONMENT`` before it: the
cloud of :mod:`testing.deployment.rolling`; ``--packages``: that of
:mod:`testing.deployment.debian`.
"""
from __future__ import annotations

import argparse
import contextlib
import pathlib
import signal
import subprocess
import sys
import types
import typing

from testing.deployment import cloud
from testing.deployment import debian
from testing.deployment import machine
from testing.deployment import processes
from testing.deployment import rolling
from testing.deployment import state

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _handle(handler: typing.Any) -> None:
    for number in _SIGNALS:
        signal.signal(number, handler)


def _interrupt(number: int, frame: types.FrameType | None) -> typing.NoReturn:
    """Treat whoever asks us to end (make, a CI) like somebody pressing ^C."""
    raise KeyboardInterrupt


def run(deployment: cloud.Cloud, command: list[str]) -> int:
    """Run a command while the cloud is up; take it down, whatever happens.

    :returns: the exit status of the command; that of a shell if interrupted
    """
    _handle(_interrupt)
    try:
        deployment.up()
        # A signal that comes while the command is being started waits until
        # there is somebody to pass it on to.
        pending: list[int] = []
        _handle(lambda number, frame: pending.append(number))
        with subprocess.Popen(command) as child:
            try:
                _handle(_interrupt)
                if pending:
                    raise KeyboardInterrupt
                return child.wait()
            except KeyboardInterrupt:
                # A terminal has signalled the child, too.
                child.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(20)
                child.kill()
                raise
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        _handle(signal.SIG_IGN)
        deployment.down()


def main() -> None:
    """Run one command."""
    parser = argparse.ArgumentParser(prog='cloud', description=__doc__)
    parser.add_argument('--older', type=pathlib.Path)
    parser.add_argument('--packages', action='store_true')
    parser.add_argument('command', choices=['fetch', 'up', 'down', 'run'])
    parser.add_argument('module', nargs=argparse.REMAINDER)
    given = parser.parse_args()
    try:
        cloud.check()
        where = state.State.default()
        deployment = (rolling.Cloud(where, given.older.resolve())
                      if given.older else debian.Cloud(where)
                      if given.packages else cloud.Cloud(where))
        if given.command == 'fetch':
            deployment.fetch()
            return
        if given.command == 'down':
            deployment.down()
            return
        if given.command == 'run':
            sys.exit(run(deployment, [
                sys.executable, '-W', 'ignore', '-m', *given.module]))
        deployment.up()
    except machine.Unable as exc:
        sys.exit(f'The cloud cannot run here: {exc}')
    except processes.NotReady as exc:
        sys.exit(f'The cloud does not start: {exc}')
    print('export OS_CLIENT_CONFIG_FILE='
          f'{deployment.state.file("clouds.yaml")} OS_CLOUD=tenant')


if __name__ == '__main__':
    main()
