"""Findings about our own lists and policy."""

from nova_image_override import policies
from nova_image_override.authorization.lists import Entry
from nova_image_override.authorization.lists import PropertyList
from nova_image_override.cmd.check import cloud as cloud_module
from nova_image_override.cmd.check.cloud import Cloud
from nova_image_override.cmd.check.cloud import Finding
from nova_image_override.cmd.check.cloud import Findings


def unknown_names(cloud: Cloud) -> Findings:
    """L1: entries that name what this Nova does not have."""
    for checked in (cloud.enforcer.denied, cloud.enforcer.allowed):
        for entry in checked.unknown_names():
            yield Finding(
                cloud_module.WARNING, 'L1', (entry.text,),
                f'{checked.option}: this Nova has no such image property, '
                'the entry does nothing',
                'correct the name, or drop the entry')


def without_effect(cloud: Cloud) -> Findings:
    """L2: entries that no property, or no value, can match."""
    for checked in (cloud.enforcer.denied, cloud.enforcer.allowed):
        unknown = checked.unknown_names()
        for entry in checked.entries:
            if entry in unknown:
                continue
            if not any(entry.reaches(prop) for prop in cloud.catalog.values()
                       if not prop.never):
                yield Finding(
                    cloud_module.WARNING, 'L2', (entry.text,),
                    f'{checked.option}: it matches no property that can be '
                    'overridden, the entry does nothing',
                    'correct the entry, or drop it')
                continue
            dead = checked.dead_values(entry)
            if dead:
                yield Finding(
                    cloud_module.WARNING, 'L2', (entry.text,),
                    f'{checked.option}: no property that it matches takes '
                    + ', '.join(dead), 'correct the values, or drop them')


def shadowed(cloud: Cloud) -> Findings:
    """L3: allowed entries that denied ones take back completely."""
    for entry in cloud.enforcer.allowed.entries:
        reached = [prop for prop in cloud.catalog.values()
                   if not prop.never and entry.reaches(prop)]
        if reached and all(
                any(not denied.values and (denied.covers_all(prop)
                                           or denied.name == entry.name)
                    for denied in cloud.enforcer.denied.entries)
                for prop in reached):
            yield Finding(
                cloud_module.WARNING, 'L3', (entry.text,),
                'allowed_properties: denied_properties takes back all that '
                'the entry allows', 'drop the one or the other')


def repeated(cloud: Cloud) -> Findings:
    """L4: entries that are in a list twice."""
    for checked in (cloud.enforcer.denied, cloud.enforcer.allowed):
        seen: set[tuple[str, tuple[str, ...]]] = set()
        for entry in checked.entries:
            if (entry.name, entry.values) in seen:
                yield _repeated(checked, entry)
            seen.add((entry.name, entry.values))


def _repeated(
    checked: PropertyList, entry: Entry,
) -> Finding:
    return Finding(
        cloud_module.WARNING, 'L4', (entry.text,),
        f'{checked.option}: the entry stands there twice',
        'drop one of them')


def nothing_allowed(cloud: Cloud) -> Findings:
    """L5: a list that allows nothing."""
    if not cloud.enforcer.allowed.entries:
        yield Finding(
            cloud_module.NOTE, 'L5', ('allowed_properties',),
            'it is empty: nobody may override anything',
            'name what your users ask for')


def policy_names(cloud: Cloud) -> Findings:
    """P1: policy rules for properties that do not exist."""
    prefix = policies.CREATE + ':'
    for name in cloud.caller.policy_defined:
        field = name.removeprefix(prefix)
        if name.startswith(prefix) and (
                field not in cloud.catalog or cloud.catalog[field].never):
            yield Finding(
                cloud_module.ERROR, 'P1', (name,),
                'policy.yaml defines a rule for a property that cannot be '
                'overridden under this name: it is never checked',
                'use the canonical field name, such as '
                + policies.property_rule('hw_numa_mem'))


CHECKS = (unknown_names, without_effect, shadowed, repeated, nothing_allowed,
          policy_names)
