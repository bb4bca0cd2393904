"""``nova-image-override list``: what a user may override."""

import argparse
import typing

from nova_image_override import catalog as catalog_module
from nova_image_override import schema
from nova_image_override.api import extension as extension_module
from nova_image_override.cmd import deployment
from nova_image_override.rules import offer


class List(deployment.Lister):
    """List what a user may override, with type, values and description.

    The answer of discovery to such a user, as a table.
    """

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Ask the rules.

        :raises errors.StartupError: with these rules nova-api does not start
        """
        extension = extension_module.Extension.from_conf(
            deployment.read_nova_conf(parsed_args))
        caller = deployment.caller(
            extension, parsed_args.roles or deployment.MEMBER,
            parsed_args.project)
        offered = offer.offered(extension.rules, caller, removals=True)
        return ('Property', 'Type', 'Values', 'Removable', 'Description'), [
            row(prop, name, offered[name])
            for prop in extension.catalog.values() for name in offered
            if field_of(extension.catalog, name) == prop.field]


def field_of(catalog: catalog_module.Catalog, name: str) -> str:
    """Return the field that a name or pattern of an offer is about."""
    if name in catalog:
        return name
    # A narrowed pattern ends in the family's own.
    return next(field for field, prop in catalog.items()
                if prop.name_pattern and name.endswith(prop.name_pattern[1:]))


def row(
    prop: catalog_module.Property, name: str, offered: schema.Schema,
) -> tuple[str, ...]:
    """Return one row of the table."""
    return (
        prop.spelling if name in (prop.field, prop.name_pattern)
        else f'{prop.spelling} ({name})',
        prop.kind, values(prop, offered),
        'yes' if 'null' in offered['type'] else 'no', prop.row.text)


def values(
        prop: catalog_module.Property, offered: schema.Schema) -> str:
    """Return the values on offer, in words."""
    if offered['type'] == 'null':
        return '(only removal)'
    if 'enum' in offered:
        return ', '.join(v for v in offered['enum'] if v is not None)
    limits: list[typing.Any] = offered.get('allOf', [])
    return '; '.join([prop.expects, *(
        f'not {limit["not"]["pattern"]}' if 'not' in limit
        else f'like {limit["pattern"]}' for limit in limits)])
