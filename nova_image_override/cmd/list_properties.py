"""``nova-image-override list``: the properties a user may override."""

import argparse
from typing import Any

from nova_image_override import property_table
from nova_image_override import versions
from nova_image_override.cmd import deployment_files
from nova_image_override.properties import families


class List(deployment_files.Lister):
    """List the properties that a user may override.

    The answer of discovery to such a user, as a table.
    """

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Apply the rules.

        :raises errors.StartupError: with these rules nova-api does not start
        """
        planner, caller = deployment_files.read_rules(parsed_args)
        schema = planner.schema(caller, versions.MAX)
        return ('Property', 'Type', 'Values', 'Removable', 'Drivers',
                'Description'), [
            (_name(row), row.kind, row.values, row.removable, row.drivers,
             row.description) for row in property_table.rows(schema)]


def _name(row: property_table.Row) -> str:
    """Return a row's name, with the pattern for a part of a family."""
    whole = ('', *(family.pattern for family in families.FAMILIES.values()))
    return row.name if row.pattern in whole else f'{row.name} ({row.pattern})'
