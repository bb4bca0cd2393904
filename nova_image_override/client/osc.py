"""python-openstackclient: options for its commands, and a command of our own.

cliff finds the hooks by entry point, one group for each command
(``openstack.cli.server_create``), and runs them around the command's own code.
"""

import argparse
import functools
import typing

from cliff import hooks
from osc_lib.cli import format_columns
from osc_lib.command import command

from nova_image_override import errors
from nova_image_override.client import arguments
from nova_image_override.client import discovery
from nova_image_override.client import sdk_proxy
from nova_image_override.client import transport
from nova_image_override.properties import table

#: A column of ``openstack server list --long``.
COLUMN = 'Image Prop Overrides'

#: Columns and values that a display command shows.
Shown = tuple[tuple[str, ...], tuple[typing.Any, ...]]


class Hook(hooks.CommandHook):
    """What all hooks share: what cliff wants to be there.

    Display commands pass columns and values where other commands pass a
    return code (cliff/display.py DisplayCommandBase._run_after_hooks).
    """

    cmd: typing.Any

    def get_parser(
        self, parser: argparse.ArgumentParser,
    ) -> argparse.ArgumentParser:
        """Add no option."""
        return parser

    def get_epilog(self) -> str:
        """Add no text to the help."""
        return ''

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Change nothing."""
        return parsed_args

    def after(
        self, parsed_args: argparse.Namespace, return_code: typing.Any,
    ) -> typing.Any:
        """Change nothing."""
        return return_code


class Overriding(Hook):
    """Lets a command ask for overrides."""

    _ours = False

    def get_parser(
        self, parser: argparse.ArgumentParser,
    ) -> argparse.ArgumentParser:
        """Add the options, unless the command has them itself."""
        if not self._command_has_them():
            self._ours = True
            self._add_options(parser)
        return parser

    def _command_has_them(self) -> bool:
        """Return whether a future python-openstackclient has the option itself.

        Hooks add to the parser before the command does, and the same option
        twice would break every use of the command (cliff/command.py
        Command.get_parser). Without a name, a command has no hooks.
        """
        command_alone = type(self.cmd)(self.cmd.app, self.cmd.app_args)
        parser = command_alone.get_parser('')
        return any(arguments.SET in action.option_strings
                   for action in parser._actions)

    def _add_options(self, parser: typing.Any) -> None:
        parser.add_argument(
            arguments.SET, metavar='<key=value>', dest=arguments.DEST,
            action=arguments.Override, default=None, help=arguments.HELP)

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Let the command run in the context of what is asked for.

        The command is created anew each time it is called, in an interactive
        session too, so nothing stays behind.
        """
        asked = getattr(parsed_args, arguments.DEST) if self._ours else None
        if asked is not None:
            self.cmd.take_action = functools.partial(
                self.take_action, self.cmd.take_action, asked)
        return parsed_args

    def take_action(
        self, take_action: typing.Callable[..., typing.Any],
        asked: typing.Any, parsed_args: argparse.Namespace,
    ) -> typing.Any:
        """Run the command with what is asked for.

        :param take_action: the command's own code
        :raises discovery.Error: that is not possible; nothing is requested
        """
        raise NotImplementedError


class _Sending(Overriding):
    """Lets a command's own request carry overrides, and shows them."""

    action: str

    def take_action(
        self, take_action: typing.Callable[..., typing.Any],
        asked: typing.Any, parsed_args: argparse.Namespace,
    ) -> typing.Any:
        """Run the command in the context of overrides."""
        adapter = transport.attach(self.cmd.app.client_manager.compute)
        with adapter.overriding(self.action, asked), \
                adapter.showing() as seen:
            columns, values = take_action(parsed_args)
        server_id = dict(zip(columns, values, strict=True)).get('id', '')
        return _with_row(columns, values, seen.get(server_id))


def _with_row(
    columns: typing.Any, values: typing.Any, in_force: typing.Any,
) -> Shown:
    """Return what is shown of a server, with the overrides in force.

    :param in_force: None to show none
    """
    shown = dict(zip(columns, values, strict=True))
    if in_force is not None:
        # Already there if clouds.yaml has our vendor_hook.
        shown.pop(errors.PARAMETER, None)
        shown[errors.PARAMETER] = format_columns.DictColumn(in_force)
    return tuple(shown), tuple(shown.values())


class Create(_Sending):
    """``openstack server create --image-prop-override``."""

    action = discovery.CREATE


class Rebuild(_Sending):
    """``openstack server rebuild --[no-]image-prop-override``."""

    action = discovery.REBUILD

    def _add_options(self, parser: typing.Any) -> None:
        group = parser.add_mutually_exclusive_group()
        super()._add_options(group)
        group.add_argument(
            arguments.DROP, dest=arguments.DEST, action='store_const',
            const={}, help='Drop the overrides of the server')


class Show(Hook):
    """``openstack server show``: a row with the overrides in force."""

    def after(
        self, parsed_args: argparse.Namespace, return_code: typing.Any,
    ) -> typing.Any:
        """Add the row, if the cloud has the extension."""
        columns, values = return_code
        shown = dict(zip(columns, values, strict=True))
        if 'id' not in shown:
            return return_code
        # Already there if clouds.yaml has our vendor_hook.
        in_force = shown.get(errors.PARAMETER)
        return _with_row(
            columns, values,
            self._ask(shown['id']) if in_force is None else in_force)

    def _ask(self, server_id: str) -> dict[str, str | None] | None:
        adapter = transport.attach(self.cmd.app.client_manager.compute)
        try:
            return adapter.overrides_of(server_id)
        except discovery.NotAvailable:
            return None
        except discovery.Error as exc:
            # The server itself has been found, and is shown.
            self.cmd.log.warning('%s', exc)
            return None


class ListServers(Overriding):
    """``openstack server list``: which servers have certain overrides.

    With ``--long``, a column with the overrides.
    """

    def _add_options(self, parser: typing.Any) -> None:
        parser.add_argument(
            arguments.SET, metavar='<key>', dest=arguments.DEST,
            action=arguments.Name, default=None,
            help='List only servers that override an image property (repeat '
                 'for servers that override all of several)')

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Let the command's own request ask for them."""
        if parsed_args.long:
            self.cmd.take_action = functools.partial(
                self._with_column, self.cmd.take_action)
        return super().before(parsed_args)

    def take_action(
        self, take_action: typing.Callable[..., typing.Any],
        asked: typing.Any, parsed_args: argparse.Namespace,
    ) -> typing.Any:
        """Run the command, which lists servers once.

        :raises discovery.Error: the cloud cannot do it, or cannot be asked
        """
        with sdk_proxy.filtering(
                self.cmd.app.client_manager.compute, asked):
            columns, rows = take_action(parsed_args)
            # The rows are made while they are read.
            return columns, list(rows)

    def _with_column(
        self, take_action: typing.Callable[..., typing.Any],
        parsed_args: argparse.Namespace,
    ) -> typing.Any:
        adapter = transport.attach(self.cmd.app.client_manager.compute)
        try:
            adapter.discover()
        except discovery.Error:
            return take_action(parsed_args)
        with adapter.showing() as seen:
            columns, rows = take_action(parsed_args)
            # The rows are made while they are read.
            rows = [tuple(row) for row in rows]
        if 'ID' not in columns:
            return columns, rows
        at = columns.index('ID')
        return (*columns, COLUMN), [
            (*row, format_columns.DictColumn(seen.get(row[at]) or {}))
            for row in rows]


class List(command.Lister):
    """List the image properties that may be overridden."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the option."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--long', action='store_true',
            help='List limits, drivers and descriptions too')
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[tuple[typing.Any, ...]]]:
        """Ask the cloud.

        :raises discovery.Error: it does not have the extension, or does not
            answer
        """
        manager: typing.Any = self.app.client_manager
        adapter = transport.attach(manager.compute)
        rows = table.rows(adapter.discover().schema)
        if not parsed_args.long:
            return ('Property', 'Type', 'Values'), [
                (row.name, row.kind, row.values) for row in rows]
        return ('Property', 'Type', 'Values', 'Removable', 'Names',
                'Drivers', 'Description'), [
            (row.name, row.kind, row.values, row.removable, row.pattern,
             row.drivers, row.description) for row in rows]
