"""``nova-image-override metadefs``: metadata definitions for Glance.

Horizon and other tools learn from them which properties there are. They are
made from the book, and kept nowhere but in Glance.
"""
from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
import json
import pathlib
import re
from typing import Any

import nova.conf

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.authorization.discovery_schema import Overridable
from nova_image_override.cmd import deployment_files
from nova_image_override.properties import book
from nova_image_override.properties import families

NAMESPACE = 'OS::Compute::ImagePropsOverride'

#: Members of a family whose names have no end: Glance's format has no patterns
#: of names.
_NODES = ('0', '1')

Json = dict[str, Any]


class Metadefs(deployment_files.Command):
    """Print the properties as metadata definitions for Glance.

    One namespace for images, volumes and servers, which glance-manage
    db_load_metadefs reads.
    """

    options = {
        **deployment_files.USER,
        '--allowed': {
            'action': 'store_true',
            'help': 'only what this deployment\'s rules leave to the user'},
        '--glance': {
            'metavar': 'FOLDER',
            'help': 'folder of Glance\'s own definitions, such as '
                    '/etc/glance/metadefs: what they define too is left '
                    'out, what they define differently is named on standard '
                    'error'}}

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Print the namespace.

        :raises errors.StartupError: with these rules nova-api does not start
        :raises OSError: the folder cannot be read
        :raises ValueError: a file in it is not JSON
        """
        planner, caller = deployment_files.read_rules(parsed_args)
        enforcer = planner.enforcer
        offered = planner.overridable(caller) if parsed_args.allowed else (
            Overridable(prop) for prop in enforcer.catalog.values()
            if not prop.record.never)
        glances = dict(_of_images(parsed_args.glance)) \
            if parsed_args.glance else {}
        found: dict[str, Json] = {title: {} for title in book.PURPOSES}
        for name, each in sorted(_named(
                offered, [entry.name for entry in enforcer.allowed.entries]),
                key=lambda pair: pair[0]):
            here, there = _definition(each, name), glances.get(name)
            if there and _permits(there) != _permits(here):
                self.app.stderr.write(
                    f'{name}: {there["namespace"]} has {_permits(there)}, '
                    f'here it is {_permits(here)}\n')
            elif there:
                continue
            found[book.purpose_of(each.prop.field)][name] = here
        self.app.stdout.write(json.dumps(_namespace(found), indent=4) + '\n')


def _namespace(found: dict[str, Json]) -> Json:
    """Return the namespace of what was found for each purpose."""
    options = nova.conf.CONF[override_conf.GROUP.name]
    # Where tools that do not know the parameter put a value. Metadata comes
    # last: of a server that exists it is refused.
    target, prefix = next((
        (target, {'prefix': f'{errors.PARAMETER}:'}) for target in (
            options.accept_scheduler_hint and 'scheduler_hints',
            options.accept_server_metadata and 'metadata') if target),
        (errors.PARAMETER, {}))
    return {
        'namespace': NAMESPACE,
        'display_name': 'Image properties that servers can override',
        'description': 'Made by nova-image-override metadefs.',
        'visibility': 'public',
        'protected': False,
        'resource_type_associations': [
            {'name': 'OS::Glance::Image'},
            # As Glance's own: Cinder's volume_image_metadata.
            {'name': 'OS::Cinder::Volume', 'properties_target': 'image'},
            {'name': 'OS::Nova::Server', 'properties_target': target,
             **prefix}],
        'objects': [
            {'name': title, 'description': f'{title}: image properties',
             'properties': properties}
            for title, properties in found.items() if properties],
    }


def _named(
    offered: Iterable[Overridable], allowed: list[str],
) -> Iterator[tuple[str, Overridable]]:
    """Yield what is OFFERED by name; Glance's format has no null."""
    for each in offered:
        family = each.prop.family
        names = {each.names} if family is None else {
            name for name in (*map(family.member, _NODES), *allowed)
            if family.has(name) and re.search(each.names, name)
            # A trait is none that nobody has named.
            and (family is not families.TRAITS or name in allowed)}
        yield from ((name, each) for name in names if each.can_be_set)


def _definition(each: Overridable, name: str) -> Json:
    value = each.schema
    words = re.sub('^(hw|os|img)_', '', name).replace('_', ' ')
    values = [text for text in value.get('enum', ()) if text is not None]
    limits: Json = value.get('contentSchema', {})
    if values:
        limits = {'type': 'boolean'} if {*values} == {'true', 'false'} else {
            'enum': values}
    elif 'minimum' not in limits:
        # Of Glance's there is one pattern, and all of these must match.
        pattern = ''.join(
            f'(?!{limit["not"]["pattern"]})' if 'not' in limit
            else f'(?={limit["pattern"]})' for limit in value.get('allOf', ())
        ) + value.get('pattern', '')
        limits = {'pattern': pattern} if pattern else {}
    # Glance stores no more (glance/api/v2/metadef_namespaces.py).
    return {'title': (words[:1].upper() + words[1:])[:80],
            'description': each.prop.record.description[:500],
            'type': 'string', **limits}


def _of_images(folder: str) -> Iterator[tuple[str, Json]]:
    """Yield Glance's definitions for images by name, with their namespace."""
    # Other than glob, iterdir raises an error where there is no such folder.
    for path in sorted(pathlib.Path(folder).iterdir(), reverse=True):
        if path.suffix != '.json':
            continue
        try:
            found = json.loads(path.read_text(encoding='utf-8'))
            if not isinstance(found, dict):
                raise ValueError('not an object')
        except ValueError as exc:
            raise ValueError(f'{path}: {exc}') from None
        # Others, such as OS::OperatingSystem, are shown to no tenant.
        for prefix in [
                kind.get('prefix', '')
                for kind in found.get('resource_type_associations', ())
                if kind['name'] == 'OS::Glance::Image'
                and found.get('visibility') == 'public'
                and found['namespace'] != NAMESPACE]:
            for part in (found, *found.get('objects', ())):
                for name, value in part.get('properties', {}).items():
                    yield prefix + name, {
                        **value, 'namespace': found['namespace']}


def _permits(definition: Json) -> Json:
    """Return what decides which values are permitted."""
    values = sorted(map(str.lower, definition.get('enum', ())))
    if values in (['false', 'true'], ['no', 'yes']):
        return {'type': 'boolean'}
    return {key: sorted(value) if key == 'enum' else value
            for key, value in definition.items()
            if key in ('type', 'enum', 'minimum', 'maximum')}
