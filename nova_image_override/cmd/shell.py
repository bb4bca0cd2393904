"""``nova-image-override``: the operator's command."""

import importlib.metadata
import sys
import typing

from cliff import app
from cliff import commandmanager

from nova_image_override import errors
from nova_image_override.cmd import environment


class Commands(commandmanager.CommandManager):
    """Imports only the module of the command that is run.

    cliff's own imports all of them (CommandManager.load_commands), and Nova
    with them.
    """

    def load_commands(self, namespace: str) -> None:
        """Remember the entry points of commands."""
        self.group_list.append(namespace)
        for found in importlib.metadata.entry_points(group=namespace):
            self.commands[found.name.replace('_', ' ')] = found

    def find_command(self, argv: list[str]) -> typing.Any:
        """Return a command's class, its name, and the arguments that are left.

        :raises ValueError: there is no such command
        :raises errors.StartupError: what it needs is not installed
        """
        try:
            return super().find_command(argv)
        except ModuleNotFoundError as exc:
            raise errors.StartupError(
                environment.not_installed(exc)) from None


class Shell(app.App):
    """The application that finds its commands by entry point."""

    #: Only warnings and errors: libraries log at INFO what they load.
    DEFAULT_VERBOSE_LEVEL = 0

    def __init__(self) -> None:
        super().__init__(
            description='Boot-time override of image properties for Nova: '
                        'what operators ask and check.',
            version=importlib.metadata.version('nova-image-override'),
            command_manager=Commands('nova_image_override.cli'),
            deferred_help=True)


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    :returns: the exit status
    """
    environment.silence_eventlet()
    try:
        return Shell().run(sys.argv[1:] if argv is None else argv)
    except errors.StartupError as exc:
        print(exc, file=sys.stderr)
        return 1
