"""``nova-image-override``, ``nova-image-override-status``: operators' commands.

Imports neither Nova nor its libraries, as they may not be there: the users'
part of the package installs the commands too.
"""
from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import logging
import os
import signal
import sys
from typing import Any
import warnings

from cliff import app
from cliff import commandmanager

from nova_image_override import errors
from nova_image_override.cmd import version

#: Not to be confused with the results (oslo_upgradecheck.upgradecheck.run).
CANNOT_CHECK = 255


class Command(importlib.metadata.EntryPoint):
    """The class of a command, which uses Nova."""

    def load(self) -> Any:
        """Import it, after what of Nova decides how its threads run."""
        _begin_with_nova()
        return super().load()


class Commands(commandmanager.CommandManager):
    """Imports only the module of the command that is run.

    cliff's own imports all of them (CommandManager.load_commands), and Nova
    with them.
    """

    def load_commands(self, namespace: str) -> None:
        """Remember the entry points of commands."""
        self.group_list.append(namespace)
        for found in importlib.metadata.distribution(
                'nova-image-override').entry_points:
            if found.group == namespace:
                self.commands[found.name.replace('_', ' ')] = Command(
                    found.name, found.value, found.group)

    def find_command(self, argv: list[str]) -> Any:
        """Return a command's class, its name, and the arguments that are left.

        :raises ValueError: there is no such command
        :raises errors.StartupError: a package that it needs is not installed
        """
        try:
            return super().find_command(argv)
        except ModuleNotFoundError as exc:
            raise errors.StartupError(_not_installed(exc)) from None


class Shell(app.App):
    """The application that finds its commands by entry point."""

    #: Only warnings and errors: libraries log at INFO what they load.
    DEFAULT_VERBOSE_LEVEL = 0

    def __init__(self) -> None:
        super().__init__(
            description='Boot-time override of image properties for Nova: '
                        'commands for operators.',
            version=version.text(),
            command_manager=Commands('nova_image_override.cli'),
            deferred_help=True)

    def build_option_parser(
        self, *args: Any, **kwargs: Any,
    ) -> argparse.ArgumentParser:
        """Take the files of nova.conf before the command or after it."""
        parser = super().build_option_parser(*args, **kwargs)
        add_file_options(parser)
        return parser

    def initialize_app(self, argv: list[str]) -> None:
        """Print the help where no command is named: none asks for any."""
        if not argv:
            self.options.deferred_help = True


def add_file_options(
    parser: argparse.ArgumentParser, shell: Any = None,
) -> None:
    """Add the options that oslo.config gives every service.

    :param shell: what has already taken them from the command line
    """
    for option, kind, meaning in (
            ('config_file', 'PATH', 'path to a nova.conf; may be repeated '
             '(default: the files that Nova reads)'),
            ('config_dir', 'FOLDER', 'folder of configuration files, which '
             'are read after the others')):
        parser.add_argument(
            f'--{option.replace("_", "-")}', metavar=kind, action='append',
            default=getattr(shell.options, option) if shell else [],
            help=meaning)


def main(argv: list[str] | None = None) -> int:
    """Run one command; return the exit status."""
    _begin()
    result = 0
    try:
        try:
            result = Shell().run(sys.argv[1:] if argv is None else argv)
        except SystemExit as exc:  # From argparse.
            result = int(exc.code or 0)
        if not sys.stdout.closed:  # By help, whose reader has gone.
            sys.stdout.flush()
        return result
    except errors.StartupError as exc:
        print(exc, file=sys.stderr)
        return 1
    except OSError as exc:
        return end(exc, result or 1, is_said=bool(result))


def status() -> int:
    """Run ``nova-image-override-status``; return the exit status."""
    _begin()
    try:
        if version.is_asked('nova-image-override-status'):
            return 0
        _begin_with_nova()
        from nova_image_override.cmd import upgrade_checks
        try:
            result = upgrade_checks.run(sys.argv[1:])
        except SystemExit as exc:
            # From argparse, which has printed the error, and exits with 2.
            result = CANNOT_CHECK if exc.code else 0
        sys.stdout.flush()
        return result
    except ModuleNotFoundError as exc:
        print(_not_installed(exc), file=sys.stderr)
        return CANNOT_CHECK
    except Exception as exc:  # Python's own status, 1, would be a warning.
        return end(exc, CANNOT_CHECK)


def end(exc: Exception, status: int, *, is_said: bool = False) -> int:
    """Say what ends a command, if it is not said yet; return the status."""
    if isinstance(exc, OSError):
        # Python would report it when it flushes again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(exc, BrokenPipeError):
        return 128 + signal.SIGPIPE
    if not is_said:
        print(' '.join(str(exc).split()), file=sys.stderr)
    return status


def _not_installed(exc: ModuleNotFoundError) -> str:
    package = str(exc.name).partition('.')[0]
    return (f'{package} is not installed in {sys.prefix}: this command needs '
            'nova-image-override in the environment that Nova runs in')


def _begin_with_nova() -> None:
    """Import of Nova first what decides how its threads run.

    Nova 32 and 33 give up if anything else of it has done so.
    """
    importlib.import_module('nova.cmd')


def _begin() -> None:
    """Make the streams fit for all that is printed; silence eventlet.

    futurist imports it wherever it is installed, and up to release 33 Nova has
    it patch modules (nova/monkey_patch.py). No command uses it.
    """
    # Python has neither where it is closed.
    sys.stdout, sys.stderr = (
        each or open(os.devnull, 'w')  # noqa: SIM115 - until the process ends
        for each in (sys.stdout, sys.stderr))
    # A locale may lack characters of a tenant's value.
    sys.stdout.reconfigure(  # type: ignore[union-attr]
        errors='backslashreplace')
    warnings.filterwarnings('ignore', r'\s*Eventlet is deprecated')
    logging.getLogger('nova.monkey_patch').setLevel(logging.ERROR)
