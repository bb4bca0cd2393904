"""Findings about what the hosts of the cloud make of what is allowed."""

import collections.abc
import re

from nova import objects

from nova_image_override.authorization import lists
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd.check import cloud as cloud_module
from nova_image_override.cmd.check.cloud import Cloud
from nova_image_override.cmd.check.cloud import Finding
from nova_image_override.cmd.check.cloud import Findings
from nova_image_override.properties import driver_matrix
from nova_image_override.properties import drivers as drivers_module
from nova_image_override.properties import property as property_module


def without_driver(cloud: Cloud) -> Findings:
    """H1: allowed properties and values that no driver acts on."""
    if not cloud.drivers:
        return
    drivers = ', '.join(cloud.drivers)
    for entry in cloud.enforcer.allowed.entries:
        reached = [
            prop for prop in cloud.catalog.values()
            if not prop.never and entry.reaches(prop)
            and not any(denied.covers_all(prop) and not denied.values
                        for denied in cloud.enforcer.denied.entries)]
        idle = [prop for prop in reached
                if not _acts(cloud.drivers, prop, None)]
        if reached and idle == reached:
            yield Finding(
                cloud_module.WARNING, 'H1', (entry.text,),
                f'no driver of this cloud ({drivers}) acts on it',
                'drop the entry, unless host aggregates name the property')
            continue
        values = _idle_values(cloud.drivers, entry, reached)
        if values:
            yield Finding(
                cloud_module.WARNING, 'H1', (entry.text,),
                f'no driver of this cloud ({drivers}) acts on '
                + ', '.join(values), 'drop these values')


def other_drivers(cloud: Cloud) -> Findings:
    """H2: virt_drivers differs from what the compute nodes have."""
    if cloud.hypervisor_types is None or not cloud.drivers:
        return
    known = driver_matrix.HYPERVISOR_TYPES
    unknown = cloud.hypervisor_types - known.keys()
    found = {known[each] for each in cloud.hypervisor_types - unknown}
    for names, why, change in (
            (found.difference(cloud.drivers),
             'compute nodes have this driver, and virt_drivers does not name '
             'it: overrides that only it acts on are refused',
             'add it to virt_drivers'),
            (set(cloud.drivers) - found,
             'no compute node has this driver: overrides that only it acts on '
             'do nothing', 'take it out of virt_drivers'),
            (unknown,
             'compute nodes have this hypervisor type, and what its driver '
             'acts on is not known', 'leave virt_drivers empty')):
        for name in sorted(names):
            yield Finding(cloud_module.WARNING, 'H2', (name,), why, change)


def hypervisor_types() -> frozenset[str]:
    """Return those of the compute nodes of every cell.

    :raises errors.StartupError: a database cannot be read
    """
    found: set[str] = set()
    for cell in deployment_files.cells():
        with deployment_files.targeted(cell) as context:
            found.update(
                node.hypervisor_type
                for node in objects.ComputeNodeList.get_all(context))
    return frozenset(found)


def _acts(
    drivers: collections.abc.Iterable[str], prop: property_module.Property,
    value: str | None,
) -> bool:
    return any(drivers_module.can_act(each, prop.field, value)
               for each in drivers)


def _idle_values(
    drivers: collections.abc.Collection[str], entry: lists.Entry,
    reached: collections.abc.Iterable[property_module.Property],
) -> list[str]:
    """Return the values of ENTRY that no driver acts on."""
    result = []
    for value in entry.values:
        matched = [
            (prop, each) for prop in reached for each in prop.values or (value,)
            if re.fullmatch(
                lists.glob_pattern(prop.canonical(value)), each)]
        if matched and not any(
                _acts(drivers, prop, each) for prop, each in matched):
            result.append(value)
    return result


CHECKS = (without_driver, other_drivers)
