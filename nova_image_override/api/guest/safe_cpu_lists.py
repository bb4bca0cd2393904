"""CPU lists that are safe to give to Nova, and that mean the same."""

import typing

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import cpu_lists
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module

REALTIME_MASK = 'hw_cpu_realtime_mask'


def without_unsafe_lists(
    catalog: catalog_module.Catalog, base: override.ImageProperties,
    overrides: override.Overrides,
) -> override.ImageProperties:
    """Return BASE without CPU lists that must not be expanded.

    :raises errors.Invalid: naming those that no override replaces
    """
    names = {
        name for name, value in base.items()
        if (field := catalog.field_of(name)) is not None
        and isinstance(catalog[field], property_module.CpuList)
        and not cpu_lists.can_be_expanded(str(value))}
    if names - set(overrides):
        raise errors.Invalid([
            errors.Problem(
                name, errors.UNREADABLE, "the image's own value names CPUs "
                f'beyond {cpu_lists.CPU_ID_MAX}')
            for name in names - set(overrides)])
    return {name: base[name] for name in base if name not in names}


def cheap_lists(
    flavor: typing.Any, properties: override.ImageProperties,
) -> dict[str, str]:
    """Return the CPU lists of PROPERTIES in a form that is cheap to expand.

    :param flavor: ``nova.objects.Flavor``; for the CPUs that it has, the lists
        mean the same
    """
    vcpus = flavor.vcpus
    nodes = {
        name: properties[name] for name in map(
            families.NUMA_CPUS.member, range(families.NUMA_NODES_MAX))
        if isinstance(properties.get(name), str)}
    lists = dict(zip(nodes, cpu_lists.disjoint(nodes.values(), vcpus),
                     strict=True))
    mask = properties.get(REALTIME_MASK)
    if isinstance(mask, str) and mask.strip():
        # As hardware.get_realtime_cpu_constraint does.
        lists[REALTIME_MASK] = cpu_lists.cheap(
            f'0-{vcpus - 1},{mask}' if mask.strip().startswith('^')
            else mask, vcpus)
    return lists
