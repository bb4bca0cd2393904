"""``openstack server set`` and ``unset``: overrides of an existing server."""

import argparse
import typing

from osc_lib import exceptions

from nova_image_override.client import arguments
from nova_image_override.client import osc
from nova_image_override.client import refusal
from nova_image_override.client import transport


class _Changing(osc.Overriding):
    """Changes overrides before the command does anything else.

    What is refused leaves everything as it was.
    """

    def take_action(
        self, take_action: typing.Callable[..., typing.Any],
        asked: typing.Any, parsed_args: argparse.Namespace,
    ) -> typing.Any:
        """Change the overrides, and run the command.

        :raises exceptions.CommandError: the change is refused
        :raises discovery.Error: the cloud cannot be asked
        """
        compute = self.cmd.app.client_manager.compute
        server = compute.find_server(parsed_args.server, ignore_missing=False)
        adapter = transport.attach(compute)
        overrides = self._changed(adapter.overrides_of(server.id), asked)
        try:
            adapter.replace_overrides(server.id, overrides)
        except refusal.Refused as exc:
            raise exceptions.CommandError(exc.lines) from exc
        return take_action(parsed_args)

    def _changed(
        self, in_force: dict[str, str | None], asked: typing.Any,
    ) -> dict[str, str | None]:
        raise NotImplementedError


class Set(_Changing):
    """``openstack server set --[no-]image-prop-override``."""

    _dropping = 'nova_image_override_drop'
    _keeps = True

    def _add_options(self, parser: typing.Any) -> None:
        super()._add_options(parser)
        parser.add_argument(
            arguments.DROP, dest=self._dropping, action='store_true',
            help='Drop the overrides of the server (with '
                 f'{arguments.SET}: all others)')

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Do as other hooks do; to drop all is to ask for something, too."""
        if self._ours and getattr(parsed_args, self._dropping):
            asked = getattr(parsed_args, arguments.DEST) or {}
            setattr(parsed_args, arguments.DEST, asked)
            self._keeps = False
        return super().before(parsed_args)

    def _changed(
        self, in_force: dict[str, str | None], asked: typing.Any,
    ) -> dict[str, str | None]:
        return {**(in_force if self._keeps else {}), **asked}


class Unset(_Changing):
    """``openstack server unset --image-prop-override``."""

    def _add_options(self, parser: typing.Any) -> None:
        parser.add_argument(
            arguments.SET, metavar='<key>', dest=arguments.DEST,
            action=arguments.Name, default=None,
            help='Drop the override of an image property (repeat to drop '
                 'several)')

    def _changed(
        self, in_force: dict[str, str | None], asked: typing.Any,
    ) -> dict[str, str | None]:
        missing = sorted({*asked} - in_force.keys())
        if missing:
            raise exceptions.CommandError(
                'The server has no override of ' + ', '.join(missing))
        return {name: value for name, value in in_force.items()
                if name not in asked}
