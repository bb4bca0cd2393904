"""Which overrides change the NUMA topology of a server."""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from typing import Any

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import record
from nova_image_override.api.guest import image_metadata
from nova_image_override.api.guest import safe_cpu_lists
from nova_image_override.api.guest.guest import Guest
from nova_image_override.api.guest.guest import REFUSALS
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.properties.catalog import Catalog

#: Stands for a topology that Nova refuses to make from flavor and image.
_REFUSED = object()


#: The fields that a topology depends on.
_READ = frozenset(api_interfaces.CHECKED['numa_get_constraints'])

#: API._validate_numa_rebuild
Guard = Callable[[Any, Any, Any], None]


def refused_by(
    guard: Guard, catalog: Catalog, instance: Any,
    base: override.ImageProperties, merged: dict[str, Any],
    wanted: override.Overrides,
) -> Collection[str]:
    """Return the overrides that change NUMA, if Nova's GUARD says they do.

    :param guard: Nova's check that a rebuild leaves a server's NUMA topology
        alone
    :param base: properties of the image that the server is to have
    :param merged: metadata of that image, with the merged properties
    :param wanted: the overrides that are to be in force
    :returns: empty when the topology stays the same; the name of the whole
        parameter when the image alone changes it
    """
    try:
        # A copy, because ImageMetaProps.from_dict changes its argument.
        guard(instance, {**merged, 'properties': dict(merged['properties'])},
              instance.get_flavor())
    except REFUSALS:
        return changing(
            catalog, instance, safe_cpu_lists.without_unsafe_lists(
                catalog, base, wanted)[0], wanted) or [errors.PARAMETER]
    return ()


def changing(
    catalog: Catalog, instance: Any,
    base: override.ImageProperties, wanted: override.Overrides,
) -> set[str]:
    """Return the overrides by which WANTED changes a server's NUMA topology.

    These are the overrides of each field whose change alone changes it or,
    where fields act only together, of all the fields that Nova reads for it.
    Each field is tried once, and no CPU list is expanded
    (:mod:`nova_image_override.api.guest.safe_cpu_lists`).

    :param instance: ``nova.objects.Instance``, with its overrides in force
    :param base: properties of the image that it is to be rebuilt from,
        without lists that must not be expanded
    :param wanted: the overrides that are to be in force
    :returns: empty when the image alone changes it
    """
    merger = override.Merger(catalog)
    flavor = instance.get_flavor()
    recorded = record.in_force(instance.system_metadata)
    before = _topology(flavor, image_metadata.of_server(instance)['properties'])
    fields: dict[str, set[str]] = {}
    for name in {*recorded, *wanted}:
        field = catalog.resolve(name).field
        if field in _READ and (
                name not in recorded or name not in wanted
                or recorded[name] != wanted[name]):
            fields.setdefault(field, set()).add(name)

    def changes(names: Set[str]) -> bool:
        mixed = {
            **{k: v for k, v in recorded.items() if k not in names},
            **{k: v for k, v in wanted.items() if k in names}}
        try:
            merged = merger.merge(base, mixed)
        except errors.Invalid:
            # Parts of a set may exclude each other.
            return True
        return _topology(flavor, merged) != before

    return set().union(*(
        [names for names in fields.values() if changes(names)]
        or fields.values()))


def _topology(flavor: Any, properties: override.ImageProperties) -> object:
    """Return a topology as API._validate_numa_rebuild compares it."""
    try:
        topology = Guest.of(flavor, {'properties': {
            **properties, **safe_cpu_lists.cheap_lists(flavor, properties),
        }}).ask('numa_get_constraints')
    except REFUSALS:
        return _REFUSED
    return topology and topology.obj_to_primitive()
