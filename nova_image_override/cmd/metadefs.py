"""``nova-image-override metadefs``: a namespace of metadata definitions.

Glance's metadata definitions tell tools the properties of a kind of resource.
The namespace is bound to servers with a ``properties_target`` of our own, so
that no tool takes these properties for server metadata.
"""

import argparse
import json
import re
from typing import Any

from cliff.command import Command

from nova_image_override import errors
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.cmd import deployment_files
from nova_image_override.properties.property import Integer, Property, Schema

NAMESPACE = 'OS::Compute::ImagePropsOverride'

#: The longest names and descriptions that Glance stores
#: (glance/api/v2/metadef_namespaces.py).
TITLE_MAX = 80
DESCRIPTION_MAX = 500

Json = dict[str, Any]


class Metadefs(Command):
    """Print the overridable properties as Glance metadata definitions.

    Import them with "glance md-namespace-import --file FILE".
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options."""
        parser = super().get_parser(prog_name)
        deployment_files.add_config_options(parser)
        deployment_files.add_user_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Print the namespace.

        :raises errors.StartupError: with these rules nova-api does not start
        """
        read, caller = deployment_files.read_rules(
            deployment_files.read_nova_conf(parsed_args), parsed_args)
        self.app.stdout.write(
            json.dumps(namespace(read.enforcer, caller), indent=4) + '\n')


def namespace(enforcer: Enforcer, caller: Caller) -> Json:
    """Return the namespace of what CALLER may override.

    Glance's format has no patterns for names: of the families, it gets only
    the members that ``allowed_properties`` names.
    """
    properties: Json = {}
    for each in enforcer.overridable(caller):
        # Glance's format has no null.
        if not each.can_be_set:
            continue
        family = each.prop.family
        if family is None:
            properties[each.names] = definition(
                each.prop, each.names, each.schema)
            continue
        for entry in enforcer.allowed.entries:
            if family.has(entry.name) and re.search(each.names, entry.name):
                properties[entry.name] = definition(
                    each.prop, entry.name, each.schema)
    return {
        'namespace': NAMESPACE,
        'display_name': 'Image property overrides',
        'description': 'Image properties that can be overridden when a '
                       'server is created (image_props_override).',
        'visibility': 'public',
        'protected': False,
        'resource_type_associations': [
            {'name': 'OS::Nova::Server',
             'properties_target': errors.PARAMETER}],
        'properties': dict(sorted(properties.items())),
    }


def definition(prop: Property, name: str, value: Schema) -> Json:
    """Return one property's definition.

    :param value: the JSON Schema of the values that the user may send
    """
    words = re.sub('^(hw|os|img)_', '', name).replace('_', ' ')
    description = prop.description
    if prop.drivers:
        # Glance's format has no key for these.
        description += f' Acts with: {", ".join(prop.drivers)}.'
    result: Json = {
        'title': (words[:1].upper() + words[1:])[:TITLE_MAX],
        'description': description[:DESCRIPTION_MAX],
        'type': 'string',
    }
    if isinstance(prop, Integer):
        result |= {'type': 'integer', 'minimum': prop.minimum,
                   'maximum': prop.maximum}
    elif 'enum' in value:
        result['enum'] = [each for each in value['enum'] if each is not None]
    else:
        result |= {'minLength': value['minLength'],
                   'maxLength': value['maxLength']}
        # Glance takes only one pattern, and all of these must match.
        limits = ''.join(
            f'(?!{limit["not"]["pattern"]})' if 'not' in limit
            else f'(?={limit["pattern"]})' for limit in value.get('allOf', ()))
        pattern = limits + value.get('pattern', '')
        if pattern:
            result['pattern'] = pattern
    return result
