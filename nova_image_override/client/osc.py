"""python-openstackclient: options for its commands, and a command of our own.

cliff finds the hooks by entry point, one group for each command
(``openstack.cli.server_create``), and runs them around the command's own code.
"""

import argparse
from collections.abc import Callable
import contextlib
import functools
from typing import Any

from cliff import columns
from cliff import hooks
from openstack import exceptions as sdk_exceptions
from osc_lib.cli import format_columns
from osc_lib.command import command

from nova_image_override import errors
from nova_image_override import property_table
from nova_image_override.client import answers
from nova_image_override.client import arguments
from nova_image_override.client import sdk_proxy
from nova_image_override.client import transport


class PresetColumn(columns.FormattableColumn):  # type: ignore[misc]
    """A preset that overrides came with: its name, for programs all of it."""

    def human_readable(self) -> str:
        """Return the name, or nothing."""
        return self._value['name'] if self._value else ''


#: The form of what servers show, and its column in ``server list --long``.
SHOWN = {
    errors.PARAMETER: (format_columns.DictColumn, 'Image Prop Overrides'),
    errors.PRESET: (PresetColumn, 'Image Prop Override Preset'),
}

_DRY_RUN = 'nova_image_override_dry_run'


class Hook(hooks.CommandHook):
    """A hook, with those of cliff's methods that most hooks leave alone.

    :ivar options: the options to add, with the arguments of add_argument
    """

    cmd: Any
    options: dict[str, dict[str, Any]] = {}

    def __init__(self, command: Any) -> None:
        super().__init__(command)
        # Hooks add to the parser before the command does: if a future
        # python-openstackclient has our option itself, that takes its place.
        command.conflict_handler = 'resolve'

    def get_parser(
            self, parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
        """Add the options."""
        for name, option in self.options.items():
            parser.add_argument(name, **option)
        return parser

    def get_epilog(self) -> str:
        """Add no text to the help."""
        return ''

    def after(self, parsed_args: argparse.Namespace, return_code: Any) -> Any:
        """Change nothing."""
        return return_code

    @property
    def compute(self) -> Any:
        """openstacksdk's compute proxy."""
        return self.cmd.app.client_manager.compute

    def wrap(
        self, context: contextlib.AbstractContextManager[transport.Asking],
        add: Callable[[transport.Asking, Any, Any], tuple[Any, Any]],
    ) -> None:
        """Let the command's own code run in CONTEXT.

        cliff makes the command anew each time it is called, in an interactive
        session too, so nothing stays behind.

        :param add: adds what servers show to the columns and the data that
            the command returns
        """
        take_action = self.cmd.take_action

        def wrapped(parsed_args: argparse.Namespace) -> tuple[Any, Any]:
            with context as asking:
                try:
                    return add(asking, *take_action(parsed_args))
                except sdk_exceptions.HttpException:
                    # Its message has the URL before the cloud's.
                    if asking.response is not None:
                        answers.raise_for(asking.response)
                    raise
            # Only a check ends here.
            return tuple(asking.checked), tuple(
                value and format_columns.DictColumn(value)
                for value in asking.checked.values())

        self.cmd.take_action = wrapped


def _with_row(
    asking: transport.Asking, names: Any, values: Any,
) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Add rows to those of a server."""
    rows = dict(zip(names, values))
    # Already there if clouds.yaml has our vendor_hook.
    rows.update((name, SHOWN[name][0](value)) for name, value
                in asking.seen.get(rows.get('id', ''), {}).items())
    return tuple(rows), tuple(rows.values())


class Show(Hook):
    """``openstack server show``: rows with overrides in force and preset."""

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Let the answers show them, if the cloud has the extension."""
        try:
            self.wrap(transport.attach(self.compute).showing(), _with_row)
        except answers.NotAvailable:
            pass
        except answers.Error as exc:
            # The server itself may well be found.
            self.cmd.log.warning('%s', exc)
        return parsed_args


class Create(Hook):
    """``server create --image-prop-override[-preset] [--dry-run]``."""

    action = transport.CREATE
    options = {
        arguments.SET: arguments.OPTION,
        arguments.PRESET: arguments.PRESET_OPTION,
        '--dry-run': {
            'action': 'store_true', 'dest': _DRY_RUN,
            'help': 'Create nothing; show the image properties that the server '
                    'would have, or why it would be refused'}}

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Let the command's own request carry the overrides."""
        asked = arguments.asked(parsed_args)
        action = self.action
        if getattr(parsed_args, _DRY_RUN, False):
            action = transport.CHECK
            if asked == (None, None):
                asked = {}, None
        if asked != (None, None):
            self.wrap(transport.attach(self.compute).overriding(
                action, *asked, shows=True), _with_row)
        return parsed_args


class Rebuild(Create):
    """``openstack server rebuild --[no-]image-prop-override[-preset]``."""

    action = transport.REBUILD
    options = {arguments.PRESET: arguments.PRESET_OPTION}

    def get_parser(
            self, parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
        """Add the options, two of which exclude each other."""
        group = parser.add_mutually_exclusive_group()
        group.add_argument(arguments.SET, **arguments.OPTION)
        group.add_argument(
            arguments.DROP, dest=arguments.DEST, action='store_const',
            const={}, help='Drop the overrides of the server')
        return super().get_parser(parser)


class ListServers(Hook):
    """``openstack server list``: which servers have certain overrides.

    With ``--long``, columns with the overrides and the preset.
    """

    options = {
        arguments.SET: {
            **arguments.NAMES,
            'help': 'List only servers that override an image property '
                    '(repeat for servers that override all of several)'},
        arguments.PRESET: {
            **arguments.PRESET_OPTION,
            'help': 'List only servers whose overrides came with a preset'}}

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Let the command's own request ask for them."""
        asked = arguments.asked(parsed_args)
        if any(each is not None for each in asked):
            self.wrap(sdk_proxy.filtering(self.compute, *asked),
                      functools.partial(_with_columns, parsed_args.long))
        elif parsed_args.long:
            with contextlib.suppress(answers.Error):
                self.wrap(transport.attach(self.compute).showing(),
                          functools.partial(_with_columns, True))
        return parsed_args


def _with_columns(
    long: bool, asking: transport.Asking, names: Any, rows: Any,
) -> tuple[Any, Any]:
    """Add columns to a list of servers, if it is to be long."""
    # They are made while they are read.
    rows = list(rows)
    if not long or 'ID' not in names:
        return names, rows
    at = names.index('ID')
    return (*names, *(name for _, name in SHOWN.values())), [
        (*row, *(form(asking.seen[row[at]][name] if row[at] in asking.seen
                      else {}) for name, (form, _) in SHOWN.items()))
        for row in rows]


class List(command.Lister):
    """List the image properties that may be overridden, and their values."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'names', metavar='<key|value>', nargs='*', type=arguments.name,
            help='List only these properties, or those that can have these '
                 'values; * stands for any characters')
        parser.add_argument(
            '--long', action='store_true',
            help='List limits, drivers and descriptions too')
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Ask the cloud.

        :raises answers.Error: it does not have the extension, does not
            answer, or does not offer a property that is named
        """
        manager: Any = self.app.client_manager
        rows = property_table.rows(
            transport.attach(manager.compute).discover().schema)
        names = parsed_args.names
        missing = [name for name in names
                   if not any(row.is_called(name) for row in rows)]
        if missing:
            raise answers.Error('You may not override ' + ', '.join(missing))
        if names:
            rows = [row for row in rows if any(map(row.is_called, names))]
        shown = 7 if parsed_args.long else 3
        return ('Property', 'Type', 'Values', 'Removable', 'Names',
                'Drivers', 'Description')[:shown], [
            (row.name, row.kind, row.values, row.removable, row.pattern,
             row.drivers, row.description)[:shown] for row in rows]
