"""``nova-image-override list``: the properties a user may override."""

import argparse

from nova_image_override import property_table
from nova_image_override import versions
from nova_image_override.cmd import deployment_files
from nova_image_override.properties import families


class List(deployment_files.Table):
    """List the properties that a user may override.

    The answer of discovery to such a user, as a table.
    """

    options = deployment_files.USER

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> deployment_files.Columns:
        """Apply the rules.

        :raises errors.StartupError: with these rules nova-api does not start
        """
        planner, caller = deployment_files.read_rules(parsed_args)
        schema = planner.schema(caller, versions.MAX)
        whole = ('', *(each.pattern for each in families.FAMILIES.values()))
        return ('Property', 'Type', 'Values', 'Removable', 'Drivers',
                'Description'), [
            # With the pattern, if it is a part of a family.
            (row.name if row.pattern in whole
             else f'{row.name} ({row.pattern})', row.kind, row.values,
             row.removable, row.drivers, row.description)
            for row in property_table.rows(schema)]
