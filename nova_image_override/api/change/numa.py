"""Overrides that change the NUMA topology of a server."""

from collections.abc import Callable, Collection
from typing import Any

from nova_image_override import errors
from nova_image_override.api.change.change import Change
from nova_image_override.api.guest import image_metadata
from nova_image_override.api.guest.guest import Guest, REFUSALS
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.properties.book.vocabulary import NUMA_TOPOLOGY
from nova_image_override.properties.catalog import Catalog

#: API._validate_numa_rebuild
Guard = Callable[[Any, Any, Any], None]


def refused_by(
    guard: Guard, catalog: Catalog, instance: Any, merged: dict[str, Any],
    change: Change,
) -> Collection[str]:
    """Return the overrides that change NUMA, if Nova's GUARD says they do.

    :param guard: Nova's check that a rebuild leaves a server's NUMA topology
        alone
    :param merged: metadata of the image that the server is to have, with the
        merged properties
    :returns: empty when the topology stays the same; the name of the whole
        parameter when the image alone changes it
    """
    flavor = instance.get_flavor()
    try:
        # A copy, because ImageMetaProps.from_dict changes its argument.
        guard(instance, {**merged, 'properties': dict(merged['properties'])},
              flavor)
    except REFUSALS:
        differing = _differing(
            catalog, change,
            Guest.of(flavor, image_metadata.of_server(instance)),
            Guest.of(flavor, merged))
        makes = [name for name in differing if NUMA_TOPOLOGY[0]
                 in catalog.resolve(name).record.readers]
        return makes or differing or [errors.PARAMETER]
    return ()


def _differing(
    catalog: Catalog, change: Change, before: Guest, after: Guest,
) -> list[str]:
    """Return the overrides that differ, of what a topology depends on."""
    fields = api_interfaces.CHECKED['numa_get_constraints']
    return [name for name in change.differing
            if (field := catalog.resolve(name).field) in fields
            and before.prop(field) != after.prop(field)]
