"""``nova-image-override list``: what a user may override."""

import argparse
import typing

from nova_image_override import versions
from nova_image_override.api import startup
from nova_image_override.cmd import deployment_files
from nova_image_override.properties import families
from nova_image_override.properties import table


class List(deployment_files.Lister):
    """List what a user may override, with type, values and description.

    The answer of discovery to such a user, as a table.
    """

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[tuple[typing.Any, ...]]]:
        """Ask the rules.

        :raises errors.StartupError: with these rules nova-api does not start
        """
        read = startup.read(deployment_files.read_nova_conf(parsed_args))
        caller = deployment_files.caller(
            read.callers, parsed_args.roles or deployment_files.MEMBER,
            parsed_args.project)
        schema = read.enforcer.schema(caller, versions.MAX)
        return ('Property', 'Type', 'Values', 'Removable', 'Drivers',
                'Description'), [
            (_name(row), row.kind, row.values, row.removable, row.drivers,
             row.description) for row in table.rows(schema)]


def _name(row: table.Row) -> str:
    """Return a row's name, with the pattern for a part of a family."""
    whole = ('', *(family.pattern for family in families.FAMILIES.values()))
    return row.name if row.pattern in whole else f'{row.name} ({row.pattern})'
