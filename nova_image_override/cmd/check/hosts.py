"""Findings about what the hosts of the cloud make of what is allowed."""

import collections.abc
import re

from nova_image_override.authorization import property_lists
from nova_image_override.cmd.check import cloud as cloud_module
from nova_image_override.cmd.check.cloud import Cloud
from nova_image_override.cmd.check.cloud import Finding
from nova_image_override.cmd.check.cloud import Findings
from nova_image_override.properties import drivers as drivers_module
from nova_image_override.properties import property as property_module


def without_driver(cloud: Cloud) -> Findings:
    """H1, H2: allowed properties and values that no driver acts on."""
    if cloud.drivers is None:
        return
    drivers = ', '.join(sorted(cloud.drivers))
    unread: set[str] = set()
    for entry in cloud.enforcer.allowed.entries:
        reached = [
            prop for prop in cloud.catalog.values() if not prop.never
            and any(found.text == entry.text
                    for found, _ in cloud.enforcer.allowed.reaching(prop))
            and not any(whole and not found.values for found, whole
                        in cloud.enforcer.denied.reaching(prop))]
        idle = [prop for prop in reached
                if not _acts(cloud.drivers, prop, None)]
        if reached and idle == reached:
            yield Finding(
                cloud_module.WARNING, 'H1', (entry.text,),
                f'no driver of this cloud ({drivers}) acts on it',
                'drop the entry, unless host aggregates name the property')
            continue
        unread.update(prop.spelling for prop in idle)
        values = _idle_values(cloud.drivers, entry, reached)
        if values:
            yield Finding(
                cloud_module.WARNING, 'H1', (entry.text,),
                f'no driver of this cloud ({drivers}) acts on '
                + ', '.join(values), 'drop these values')
    if unread:
        yield Finding(
            cloud_module.NOTE, 'H2', tuple(sorted(unread)),
            f'allowed, and no driver of this cloud ({drivers}) acts on them',
            'deny them, unless host aggregates name them')


def unknown_drivers(cloud: Cloud) -> Findings:
    """H3: hosts about which nothing is known."""
    if cloud.drivers is None and cloud.hypervisor_types is not None:
        yield Finding(
            cloud_module.NOTE, 'H3',
            tuple(sorted(cloud.hypervisor_types)) or ('compute nodes',),
            'there are no compute nodes, a cell does not answer, or what '
            'drivers of these hypervisor types act on is not known: nothing '
            'was checked with them', 'none')


def _acts(
    drivers: collections.abc.Iterable[str], prop: property_module.Property,
    value: str | None,
) -> bool:
    return any(drivers_module.can_act(each, prop.field, value)
               for each in drivers)


def _idle_values(
    drivers: collections.abc.Collection[str], entry: property_lists.Entry,
    reached: collections.abc.Iterable[property_module.Property],
) -> list[str]:
    """Return the values of ENTRY that no driver acts on."""
    result = []
    for value in entry.values:
        matched = [
            (prop, each) for prop in reached for each in prop.values or (value,)
            if re.fullmatch(
                property_lists.glob_pattern(prop.canonical(value)), each)]
        if matched and not any(
                _acts(drivers, prop, each) for prop, each in matched):
            result.append(value)
    return result


CHECKS = (without_driver, unknown_drivers)
