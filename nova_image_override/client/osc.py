"""python-openstackclient: options for its commands about servers.

cliff finds the hooks by entry point, one group for each command
(``openstack.cli.server_create``), and runs them around the command's own code.
"""
from __future__ import annotations

import argparse
from collections.abc import Callable
import contextlib
import functools
from typing import Any

from cliff import columns
from cliff import hooks
from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions
from osc_lib.cli import format_columns

from nova_image_override import errors
from nova_image_override.client import answers
from nova_image_override.client import arguments
from nova_image_override.client import osc_commands
from nova_image_override.client import transport
from nova_image_override.properties import book


class PresetColumn(columns.FormattableColumn):  # type: ignore[misc]
    """The preset of a server: its name for people, all of it for programs."""

    def human_readable(self) -> str:
        """Return the name, or nothing."""
        return self._value['name'] if self._value else ''


#: How servers show each parameter, and its column in ``server list --long``.
SHOWN = {
    errors.PARAMETER: (format_columns.DictColumn, 'Image Prop Overrides'),
    errors.PRESET: (PresetColumn, 'Image Prop Override Preset'),
}
#: The same of a server in a cell that is down, of which answers show neither.
_UNSEEN: dict[str, Any] = {errors.PARAMETER: {}, errors.PRESET: None}

_DRY_RUN = 'nova_image_override_dry_run'
_HOSTS = 'nova_image_override_hosts'
#: The option, for commands that create or change a server.
_DRY_RUN_OPTION: dict[str, dict[str, Any]] = {'--dry-run': {
    'action': 'store_true', 'dest': _DRY_RUN,
    'help': 'Change nothing; show the image properties that the server would '
            'have, or why it would be refused'}}


class Hook(hooks.CommandHook):
    """A hook, with those of cliff's methods that most hooks leave alone.

    :ivar options: the options to add, with the arguments of add_argument
    :ivar change: what is to follow the command's own code, if that succeeds
    """

    cmd: Any
    options: dict[str, dict[str, Any]] = {}
    change: Callable[..., Any] | None = None

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
        """Make the change that was checked, if there is one."""
        if self.change is not None:
            self.change()
        return return_code

    def session(self) -> transport.OverridingSession:
        """Return the session of the command, with openstacksdk's cache off.

        The cache knows answers by what the command asks, without what hooks
        add.

        :raises answers.NotAvailable: python-openstackclient is too old
        """
        manager = self.cmd.app.client_manager
        manager.sdk_connection.cache_enabled = False
        return transport.attach(manager.compute)

    def find(self, server: str) -> tuple[str, transport.Overrides]:
        """Return the ID of a server, and its overrides in force.

        :raises answers.Error: the cloud does not show them
        """
        compute = self.cmd.app.client_manager.compute
        with self.session().showing() as asking:
            found = compute.find_server(server, ignore_missing=False)
        if found.id not in asking.seen:
            raise answers.Error(
                'Cannot see the image property overrides of the server.')
        return found.id, asking.seen[found.id][errors.PARAMETER]

    def check(
        self, server_id: str, overrides: transport.Overrides,
        preset: str | None = None,
    ) -> dict[str, Any]:
        """Check a change, which is to follow; return the cloud's answer."""
        self.change = functools.partial(
            self.session().replace_overrides, server_id, overrides, preset)
        return self.change(checks=True)

    def wrap(
        self, context:
            contextlib.AbstractContextManager[transport.Asking] | None = None,
    ) -> None:
        """Run the command's own code in CONTEXT, and add the overrides.

        cliff makes the command anew each time it is called, in an interactive
        session too, so nothing stays behind.
        """
        take_action = self.cmd.take_action

        def wrapped(parsed_args: argparse.Namespace) -> tuple[Any, Any]:
            with context or contextlib.nullcontext(
                    transport.Asking()) as asking:
                try:
                    return self.add(
                        parsed_args, asking.seen, *take_action(parsed_args))
                except sdk_exceptions.HttpException:
                    # Its message has the URL before the cloud's.
                    if asking.response is not None:
                        answers.raise_for(asking.response)
                    raise
            # Only a check ends here.
            if parsed_args.formatter == 'table':
                self.cmd.produce_output = lambda *_: (
                    osc_commands.print_answer(
                        self.cmd, parsed_args, asking.checked))
            return tuple(asking.checked), tuple(
                map(_cell, asking.checked.values()))

        self.cmd.take_action = wrapped

    def add(
        self, parsed_args: argparse.Namespace, seen: dict[str, dict[str, Any]],
        names: Any, data: Any,
    ) -> tuple[Any, Any]:
        """Add rows with what a server shows to those of the command."""
        # With our vendor_hook in clouds.yaml there are such rows, too: None
        # where no answer has shown them.
        rows = {name: _cell(value) if name in SHOWN else value
                for name, value in zip(names, data)
                if name not in SHOWN or value is not None}
        rows.update((name, SHOWN[name][0](value)) for name, value
                    in seen.get(rows.get('id', ''), {}).items())
        return tuple(rows), tuple(rows.values())


def _cell(value: Any) -> Any:
    return (format_columns.DictColumn(value) if isinstance(value, dict)
            else value)


class Show(Hook):
    """``server show`` and ``evacuate``: rows with overrides and preset."""

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Let the answers show them, if the cloud has the extension."""
        context = None
        try:
            context = self.session().showing()
        except answers.NotAvailable:
            pass
        except answers.Error as exc:
            # The server itself may well be found.
            self.cmd.log.warning('%s', exc)
        self.wrap(context)
        return parsed_args


class Create(Hook):
    """``server create --image-prop-override[-preset] [--dry-run]``."""

    action = transport.CREATE
    #: What a check without overrides asks for.
    nothing: tuple[Any, ...] = ({}, None)
    options = {
        arguments.SET: arguments.OPTION,
        arguments.PRESET: arguments.PRESET_OPTION, **_DRY_RUN_OPTION,
        '--hosts': {**osc_commands.HOSTS_OPTION, 'dest': _HOSTS}}

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Let the command's own request carry the overrides."""
        slips = [name for name in getattr(parsed_args, 'properties', None) or ()
                 if book.field_of(name) in book.RECORDS]
        if slips:
            self.cmd.log.warning(
                '--property sets metadata of the server, which overrides no '
                'image property: for %s, use %s', ', '.join(slips),
                arguments.SET)
        asked = arguments.asked(parsed_args)
        checks = getattr(parsed_args, _DRY_RUN, False)
        hosts = getattr(parsed_args, _HOSTS, False)
        if hosts and not checks:
            raise exceptions.CommandError('--hosts needs --dry-run')
        if checks:
            asked = asked or self.nothing
        self.wrap(self.session().overriding(
            self.action._replace(checks=checks, hosts=hosts), *asked)
            if asked else None)
        return parsed_args


class Rebuild(Create):
    """``server rebuild --[no-]image-prop-override[-preset] [--dry-run]``."""

    action = transport.REBUILD
    nothing = (None, None)
    options = {arguments.PRESET: arguments.PRESET_OPTION, **_DRY_RUN_OPTION}

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
        if asked:
            session = self.session()
            if parsed_args.marker is not None and not parsed_args.deleted:
                # In the context its name would be looked up with the filter.
                compute = self.cmd.app.client_manager.compute
                parsed_args.marker = compute.find_server(
                    parsed_args.marker, ignore_missing=False).id
            self.wrap(session.overriding(transport.LIST, *asked))
        elif parsed_args.long:
            with contextlib.suppress(answers.Error):
                self.wrap(self.session().showing())
        return parsed_args

    def add(
        self, parsed_args: argparse.Namespace, seen: dict[str, dict[str, Any]],
        names: Any, data: Any,
    ) -> tuple[Any, Any]:
        """Add columns to a list of servers, if it is to be long."""
        # They are made while they are read.
        rows = list(data)
        if not parsed_args.long or 'ID' not in names:
            return names, rows
        at = names.index('ID')
        return (*names, *(column for _, column in SHOWN.values())), [
            (*row, *(form(seen.get(row[at], _UNSEEN)[name])
                     for name, (form, _) in SHOWN.items()))
            for row in rows]


class Set(Hook):
    """``server set --[no-]image-prop-override[-preset] [--dry-run]``.

    Overrides are checked before the command's own code, and changed after it:
    a refusal of either leaves them as they were.
    """

    _dropping = 'nova_image_override_drop'

    options = {
        arguments.SET: arguments.OPTION,
        arguments.DROP: {
            'dest': _dropping, 'action': 'store_true',
            'help': 'Drop the overrides of the server (with '
                    f'{arguments.SET}: all others)'},
        arguments.PRESET: {
            **arguments.PRESET_OPTION,
            'help': 'Replace the overrides of the server with one of the '
                    f'cloud\'s presets (with {arguments.SET}: and these)'},
        **_DRY_RUN_OPTION}

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Check the overrides, which are changed later."""
        asked = arguments.asked(parsed_args)
        dropping = getattr(parsed_args, self._dropping, False)
        checks = getattr(parsed_args, _DRY_RUN, False)
        if checks and not (dropping or asked):
            raise exceptions.CommandError(
                f'--dry-run of server set needs {arguments.SET}, '
                f'{arguments.PRESET} or {arguments.DROP}')
        if dropping or asked:
            if parsed_args.state:
                # After it the server does not count as stopped.
                raise exceptions.CommandError(
                    '--state does not go with options of overrides')
            overrides, preset = asked or ({}, None)
            server_id, in_force = self.find(parsed_args.server)
            kept = {} if dropping or preset is not None else in_force
            answer = self.check(
                server_id, {**kept, **(overrides or {})}, preset)
            if checks:
                osc_commands.print_answer(self.cmd, parsed_args, answer)
                # Nothing else is set, either.
                self.change, self.cmd.take_action = None, lambda _: None
        return parsed_args


class Unset(Hook):
    """``openstack server unset --image-prop-override``."""

    options = {arguments.SET: {
        **arguments.NAMES,
        'help': 'Drop the override of an image property (repeat to drop '
                'several)'}}

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Check the overrides, which are changed later."""
        names = getattr(parsed_args, arguments.DEST, None)
        if names is not None:
            server_id, in_force = self.find(parsed_args.server)
            missing = sorted({*names} - in_force.keys())
            if missing:
                raise exceptions.CommandError(
                    'The server has no override of ' + ', '.join(missing))
            self.check(server_id, {
                name: value for name, value in in_force.items()
                if name not in names})
        return parsed_args
