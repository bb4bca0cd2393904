"""``nova-image-override metadefs``: what may be overridden, for Glance.

Glance's metadata definitions tell tools such as Horizon what a resource takes.
The namespace is bound to servers with a ``properties_target`` of our own, so
that no tool takes these properties for server metadata.
"""

import argparse
import json
import re
import typing

from cliff import command
import openstack

from nova_image_override.api import startup
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.cmd import deployment_files
from nova_image_override.properties import property as property_module

NAMESPACE = 'OS::Compute::ImagePropsOverride'
RESOURCE_TYPE = 'OS::Nova::Server'
TARGET = 'image_props_override'

#: The longest names and descriptions that Glance stores
#: (glance/api/v2/metadef_namespaces.py).
TITLE_MAX = 80
DESCRIPTION_MAX = 500

Json = dict[str, typing.Any]


class Metadefs(command.Command):
    """Write Glance's metadata definitions of what a user may override.

    The output is what "glance-manage db load_metadefs --path FILE" takes.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options."""
        parser = super().get_parser(prog_name)
        deployment_files.add_config_options(parser)
        deployment_files.add_role_options(parser)
        parser.add_argument(
            '--upload', action='store_true',
            help='register the namespace in Glance, or update it there; needs '
                 'administrator\'s credentials in OS_CLOUD or OS_*')
        parser.add_argument(
            '--os-cloud', metavar='NAME',
            help='cloud of clouds.yaml to upload to')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print or upload.

        :raises errors.StartupError: with these rules nova-api does not start
        """
        read = startup.read(deployment_files.read_nova_conf(parsed_args))
        made = namespace(read.enforcer, deployment_files.caller(
            read.callers, parsed_args.roles or deployment_files.MEMBER,
            parsed_args.project))
        if not parsed_args.upload:
            self.app.stdout.write(json.dumps(made, indent=4) + '\n')
            return 0
        cloud = openstack.connect(cloud=parsed_args.os_cloud)
        self.app.stdout.write(f'{NAMESPACE}: {upload(cloud.image, made)}\n')
        return 0


def namespace(
    enforcer: Enforcer, caller: Caller,
) -> Json:
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
        'protected': True,
        'resource_type_associations': [
            {'name': RESOURCE_TYPE, 'properties_target': TARGET}],
        'properties': dict(sorted(properties.items())),
    }


def definition(
    prop: property_module.Property, name: str, value: property_module.Schema,
) -> Json:
    """Return one property's definition.

    :param value: the JSON Schema of what the user may send
    """
    words = re.sub('^(hw|os|img)_', '', name).replace('_', ' ')
    result: Json = {
        'title': (words[:1].upper() + words[1:])[:TITLE_MAX],
        'description': _description(prop)[:DESCRIPTION_MAX],
        'type': 'string',
    }
    if isinstance(prop, property_module.Integer):
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


def _description(prop: property_module.Property) -> str:
    """Return the description, with the parts of Nova that act on the property.

    Glance's format has no key for these.
    """
    acting = ', '.join(prop.drivers)
    return f'{prop.description} Acts with: {acting}.' if acting \
        else prop.description


def upload(image: typing.Any, made: Json) -> str:
    """Register MADE in Glance, or update what is there to match it.

    :param image: openstacksdk's adapter of the image service
    :returns: what was done
    :raises openstack.exceptions.HttpException: Glance refuses
    """
    path = f'/metadefs/namespaces/{NAMESPACE}'

    def send(method: str, where: str, body: Json | None = None) -> typing.Any:
        response = image.request(where, method, json=body)
        openstack.exceptions.raise_from_response(response)
        return response

    found = image.get(path)
    if found.status_code == 404:
        send('POST', '/metadefs/namespaces', made)
        return 'registered'
    openstack.exceptions.raise_from_response(found)
    head = {key: made[key] for key in (
        'namespace', 'display_name', 'description', 'visibility')}
    # Glance deletes nothing in a protected namespace.
    send('PUT', path, {**head, 'protected': False})
    there = send('GET', f'{path}/properties').json()['properties']
    wanted = made['properties']
    for name in sorted({*there} - {*wanted}):
        send('DELETE', f'{path}/properties/{name}')
    for name, body in wanted.items():
        if name in there:
            send('PUT', f'{path}/properties/{name}', {'name': name, **body})
        else:
            send('POST', f'{path}/properties', {'name': name, **body})
    send('PUT', path, {**head, 'protected': True})
    return (f'updated, {len(wanted)} properties, '
            f'{len({*there} - {*wanted})} removed')
