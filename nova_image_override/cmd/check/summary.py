"""What a check has looked at, in words."""

import argparse
import collections
import collections.abc

from nova_image_override import versions
from nova_image_override.authorization import overridable_schema
from nova_image_override.cmd.check import cloud as cloud_module

_SEVERITIES = (cloud_module.ERROR, cloud_module.WARNING, cloud_module.NOTE)


def of(
    found: collections.abc.Sequence[cloud_module.Finding],
    cloud: cloud_module.Cloud | None, parsed_args: argparse.Namespace,
) -> str:
    """Return how many findings there are, what is open, and the files read.

    :param cloud: None when it could not be read
    """
    counted = collections.Counter(each.severity for each in found)
    parts = [', '.join(
        f'{counted[each]} {each}{"s" if counted[each] > 1 else ""}'
        for each in _SEVERITIES if counted[each]) or '0 findings']
    if cloud is not None:
        parts.append(f'{_open(cloud)} may be overridden by {cloud.roles}')
        parts.append(f'Glance: {_glance(cloud, parsed_args)}')
    parts.append('Cinder: ' + (
        'its own files' if parsed_args.cinder_config_file else 'not given'))
    return '; '.join(parts)


def _open(cloud: cloud_module.Cloud) -> str:
    schema = overridable_schema.schema_for(
        cloud.enforcer, cloud.caller, versions.MAX)
    number = len(schema['properties']) + len(schema['patternProperties'])
    return f'{number or "no"} {"property" if number == 1 else "properties"}'


def _glance(
        cloud: cloud_module.Cloud, parsed_args: argparse.Namespace) -> str:
    options = cloud.conf.image_override
    if parsed_args.glance_config_file:
        return 'its own files'
    if options.glance_image_import_files or options.property_protection_file:
        return 'the files that nova.conf names'
    return 'not given'
