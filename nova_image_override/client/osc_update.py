"""``openstack server set`` and ``unset``: overrides of an existing server.

They are changed before the command does anything else, so that a refusal
leaves everything as it was.
"""
from __future__ import annotations

import argparse
from typing import Any

from osc_lib import exceptions

from nova_image_override import errors
from nova_image_override.client import answers
from nova_image_override.client import arguments
from nova_image_override.client import transport
from nova_image_override.client.answers import InForce
from nova_image_override.client.osc import Hook


class Set(Hook):
    """``openstack server set --[no-]image-prop-override[-preset]``."""

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
                    f'cloud\'s presets (with {arguments.SET}: and these)'}}

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Change the overrides."""
        asked, preset = arguments.asked(parsed_args)
        dropping = getattr(parsed_args, self._dropping, False)
        if dropping or asked is not None or preset is not None:
            adapter, server_id, in_force = _found(
                self.compute, parsed_args.server)
            adapter.replace_overrides(server_id, {
                **({} if dropping or preset is not None else in_force),
                **(asked or {})}, preset)
        return parsed_args


class Unset(Hook):
    """``openstack server unset --image-prop-override``."""

    options = {arguments.SET: {
        **arguments.NAMES,
        'help': 'Drop the override of an image property (repeat to drop '
                'several)'}}

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Change the overrides."""
        names = getattr(parsed_args, arguments.DEST, None)
        if names is not None:
            adapter, server_id, in_force = _found(
                self.compute, parsed_args.server)
            missing = sorted({*names} - in_force.keys())
            if missing:
                raise exceptions.CommandError(
                    'The server has no override of ' + ', '.join(missing))
            adapter.replace_overrides(server_id, {
                name: value for name, value in in_force.items()
                if name not in names})
        return parsed_args


def _found(
    compute: Any, server: str,
) -> tuple[transport.OverridingSession, str, InForce]:
    """Return what carries overrides, a server's ID, and those in force.

    :raises Error: nova-api does not show them
    """
    adapter = transport.attach(compute)
    with adapter.showing() as asking:
        found = compute.find_server(server, ignore_missing=False)
    if found.id not in asking.seen:
        raise answers.Error(
            'Cannot see the image property overrides of the server.')
    return adapter, found.id, asking.seen[found.id][errors.PARAMETER]
