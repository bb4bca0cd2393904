"""The ``openstack`` command."""

import collections.abc
import contextlib
import functools
from importlib import metadata
import json
import os
import signal
import sys
import tempfile
import typing

from openstackclient import shell

from testing.deployment import tenants
from testing.deployment.state import State

#: How long a command may take, in seconds.
_PATIENCE = 600


def overriding(overrides: collections.abc.Mapping[str, str]) -> list[str]:
    """Return the options with which ``openstack server`` takes OVERRIDES."""
    return [word for name, value in overrides.items()
            for word in ('--image-prop-override', f'{name}={value}')]


def replacing(overrides: collections.abc.Mapping[str, str]) -> list[str]:
    """Return those with which ``server set`` leaves it no other overrides."""
    return ['--no-image-prop-override', *overriding(overrides)]


class Refused(Exception):
    """The command failed; the message is what it printed as its error."""


@functools.cache
def _load() -> None:
    """Load all commands, once, and not in each: four fifths of their time."""
    found = metadata.entry_points()
    for group in found.groups:
        if group.startswith('openstack.'):
            for point in found.select(group=group):
                point.load()


class Openstack:
    """Runs ``openstack`` as one of the users of the cloud.

    Each command is a process of its own, as from a shell, but a fork of this
    one, which has loaded the clients.

    :param who: a key of :data:`.deployment.tenants.USERS`
    """

    def __init__(self, state: State, who: str) -> None:
        self._clouds = tenants.write_clouds(state)
        self._who = who

    def __call__(self, *words: str) -> str:
        """Run ``openstack WORDS``, and return what it prints.

        :raises Refused: it fails
        """
        _load()
        with tempfile.TemporaryFile('w+') as out, \
                tempfile.TemporaryFile('w+') as error:
            child = os.fork()
            if child == 0:
                self._run(words, out, error)
            _, status = os.waitpid(child, 0)
            out.seek(0)
            error.seek(0)
            if status:
                raise Refused(error.read().strip() or f'status {status}')
            return out.read()

    def _run(
        self, words: tuple[str, ...], out: typing.TextIO,
        error: typing.TextIO,
    ) -> typing.NoReturn:
        """Become the command, and exit."""
        code = 70
        # It would wait for ever for a state that a server never reaches.
        signal.alarm(_PATIENCE)
        try:
            os.environ.update(
                OS_CLIENT_CONFIG_FILE=str(self._clouds), OS_CLOUD=self._who)
            sys.argv = ['openstack', *words]
            with contextlib.redirect_stdout(out), \
                    contextlib.redirect_stderr(error):
                code = shell.main(list(words))
        except SystemExit as exc:
            code = exc.code if isinstance(exc.code, int) else 1
        finally:
            out.flush()
            error.flush()
            os._exit(code)

    def json(self, *words: str) -> typing.Any:
        """Run a command that shows something, and return what it shows."""
        return json.loads(self(*words, '--format', 'json'))
