"""CPU lists that Nova must not be given, because it would expand them."""

from collections.abc import Iterator
from typing import Any

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.properties import cpu_lists
from nova_image_override.properties.catalog import Catalog


def problems(
    catalog: Catalog, flavor: Any, properties: override.ImageProperties,
    overrides: override.Overrides,
) -> Iterator[errors.Problem]:
    """Find the lists that are too large or name CPUs that FLAVOR lacks.

    The image's own realtime mask may name any CPU: Nova reads it with some
    flavors only.

    :param properties: the image's own ones, or the merged ones
    """
    vcpus = flavor.vcpus
    for name, value in properties.items():
        field = catalog.field_of(name)
        if field is None or not catalog[field].record.limits.cpu_list:
            continue
        whose = '' if name in overrides else "the image's own value "
        spec = str(value)
        fault = cpu_lists.too_large(spec)
        cpu = cpu_lists.highest(spec)
        if fault:
            yield errors.Problem(name, errors.UNREADABLE, whose + fault)
        elif cpu >= vcpus and not (whose and field == 'hw_cpu_realtime_mask'):
            yield errors.Problem(
                name, errors.FLAVOR_CONFLICT, f'{whose}names vCPU {cpu}, but '
                f'the flavor has {vcpus}, numbered from 0 to {vcpus - 1}')
