"""CPU lists that are safe to give to Nova, and that mean the same."""

from collections.abc import Iterator, Mapping
from typing import Any

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.properties import cpu_lists
from nova_image_override.properties import families
from nova_image_override.properties.catalog import Catalog

REALTIME_MASK = 'hw_cpu_realtime_mask'


def without_unsafe_lists(
    catalog: Catalog, base: override.ImageProperties,
    overrides: override.Overrides,
) -> tuple[override.ImageProperties, list[errors.Problem]]:
    """Return BASE without CPU lists that must not be expanded.

    :returns: the rest of BASE, and a problem for each list that no override
        replaces
    """
    unsafe = {
        name for name, value in base.items()
        if (field := catalog.field_of(name)) is not None
        and catalog[field].record.limits.cpu_list
        and not cpu_lists.can_be_expanded(str(value))}
    return {name: base[name] for name in base if name not in unsafe}, [
        errors.Problem(
            name, errors.UNREADABLE, "the image's own value names CPUs "
            f'beyond {cpu_lists.CPU_ID_MAX}')
        for name in sorted(unsafe - {*overrides})]


def missing_cpus(
    flavor: Any, properties: override.ImageProperties,
    lists: Mapping[str, str], overrides: override.Overrides,
) -> Iterator[errors.Problem]:
    """Find the lists that name CPUs which the flavor does not have.

    The image's own realtime mask is left to Nova, which reads it with some
    flavors only.

    :param lists: as :func:`cheap_lists` returns them
    """
    vcpus = flavor.vcpus
    for name in lists:
        cpu = cpu_lists.highest(properties[name])
        if cpu < vcpus or (name == REALTIME_MASK and name not in overrides):
            continue
        yield errors.Problem(
            name, errors.FLAVOR_CONFLICT,
            "the image's own value " * (name not in overrides)
            + f'names vCPU {cpu}, but the flavor has {vcpus}, numbered from 0 '
            f'to {vcpus - 1}')


def cheap_lists(
    flavor: Any, properties: override.ImageProperties,
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
