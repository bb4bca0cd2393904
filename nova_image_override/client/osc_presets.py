"""``openstack image override preset``: what the cloud offers by name."""

import argparse
from typing import Any

from osc_lib.cli import format_columns
from osc_lib.command import command

from nova_image_override.client import answers
from nova_image_override.client import transport


def _offer(shown: command.Command) -> answers.Discovery:
    """Ask the cloud what it offers.

    :raises answers.Error: it does not have the extension, or does not answer
    """
    manager: Any = shown.app.client_manager
    return transport.attach(manager.compute).discover()


class List(command.Lister):
    """List the presets that you may use: sets of image property overrides."""

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Ask the cloud."""
        return ('Name', 'Description', 'Flavors'), [
            (name, preset['description'],
             format_columns.ListColumn(preset['flavors']))
            for name, preset in sorted(_offer(self).presets.items())]


class Show(command.ShowOne):
    """Show a preset, and the image properties that it overrides."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the argument."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'name', metavar='<name>', help='Name of the preset')
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        """Ask the cloud.

        :raises answers.Error: it does not offer the preset
        """
        preset = _offer(self).preset(parsed_args.name)
        return ('name', 'description', 'properties', 'flavors'), (
            parsed_args.name, preset['description'],
            format_columns.DictColumn(preset['properties']),
            format_columns.ListColumn(preset['flavors']))
