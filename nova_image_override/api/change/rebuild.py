"""Rebuild of a server with overrides."""

from __future__ import annotations

from collections.abc import Callable, Collection
import contextlib
import dataclasses
from typing import Any

from nova import objects
from nova.compute import task_states

from nova_image_override import errors
from nova_image_override import override_record as record
from nova_image_override.api.change import disks
from nova_image_override.api.change import plan as plan_module
from nova_image_override.api.change import scheduling
from nova_image_override.api.change import store as store_module
from nova_image_override.api.change.change import Change
from nova_image_override.api.guest import check
from nova_image_override.api.guest.guest import image_of_server
from nova_image_override.override import ImageProperties
from nova_image_override.properties.book import vocabulary

_REMEDY = 'and a rebuild does not move it: boot another server'


@dataclasses.dataclass(frozen=True)
class Rebuild:
    """A rebuild that may take place.

    :ivar plan: what the server is to have
    :ivar had: metadata of the image in the server's request spec
    :ivar image: metadata of the merged image
    :ivar stored: the image properties that Nova is to store with the server
    """

    plan: plan_module.Plan
    had: objects.ImageMeta | None
    image: objects.ImageMeta
    stored: dict[str, Any]


def plan(
    planner: plan_module.Planner, scheduler: scheduling.HostScheduler,
    context: Any, instance: Any, change: Change,
    is_asked: bool, image: dict[str, Any], guard: scheduling.Guard,
    image_changes: Callable[[], bool],
) -> Rebuild:
    """Return what a server is to have, if its host permits it.

    :param is_asked: whether the request has the parameter
    :param image: metadata of the image to rebuild from; left unchanged
    :param guard: Nova's check that a rebuild leaves NUMA alone
    :param image_changes: whether Nova itself schedules the rebuild
    :raises errors.OverrideError: it may not have it
    """
    metadata = instance.system_metadata
    spec = objects.RequestSpec.get_by_instance_uuid(context, instance.uuid)
    had = spec.image if 'image' in spec else None
    base = image.get('properties') or {}
    change = change.on(planner.catalog, base)
    new = (change.new(planner.catalog, base) if _is_unchanged(had, image)
           else change.after)
    flavor = instance.get_flavor()
    result = planner.plan(
        context, change, flavor, image, new=new,
        fixed={} if is_asked else _set_since(metadata, had),
        # An override without effect loses nothing in the rebuild.
        ineffective=check.ineffective(planner.catalog, instance)
        - {*change.differing},
        owner=instance)
    # Nova asks its guard only for a new image, but overrides can change NUMA
    # while the image stays the same, and a rebuild does not claim the topology
    # again.
    _refuse(
        scheduling.changing_numa(
            guard, planner.catalog, instance, result.image, change),
        errors.NUMA_CHANGE, 'a rebuild cannot change the NUMA topology of a '
        'server, boot another one')
    wanted = objects.ImageMeta.from_dict(
        {**image, 'properties': result.image['properties']})
    server = image_of_server(instance)
    present = objects.ImageMeta.from_dict(server)
    _refuse(
        [field for when in (vocabulary.AT_UNSHELVE, vocabulary.AT_CREATE)
         for field in scheduling.decided(
             planner.catalog, when, flavor, present, wanted)],
        errors.CREATE_ONLY, 'takes effect only when a server is created and '
        'cannot be changed by a rebuild: keep it as it is, or boot another '
        'server')
    disks.require_config_drive(
        change, base.get(disks.CONFIG_DRIVE), instance, way=None)
    changed = ['']
    source, target = (disks.bus(each['properties'])
                      for each in (server, result.image))
    if disks.PROPERTY in change.differing:
        disks.moves(instance.get_bdms(), source, target)
        changed.append(disks.PROPERTY)
    # A server that never was on a host is scheduled anew by Nova. The request
    # spec holds what the scheduler has already granted, while nova-compute
    # adds its defaults to system metadata.
    if instance.host and (
            scheduling.properties_of(had) != scheduling.properties_of(wanted)
            or image_changes()):
        scheduler.require(context, instance, spec, wanted, change.differing,
                          _REMEDY)
    return Rebuild(result, had, wanted, {
        **result.stored, **store_module.unfinished(changed, source, target)})


def undo(store: store_module.Store, operation: Any) -> None:
    """Leave a server as it was, if its rebuild holds it already.

    :param operation: the rebuild, of which nothing has been sent
    """
    if operation.former is None:
        return
    instance = store_module.stored(operation.instance)
    disks.put_back(instance, operation.places)
    instance.update({**operation.former, 'task_state': instance.task_state,
                     'system_metadata': operation.stored})
    had = operation.rebuild and operation.rebuild.had
    store.agree(
        instance, {*operation.change.names,
                   *record.image_values(operation.stored)} or {''},
        had, onto=had)
    # Whatever has taken the task state, such as a deletion, wins.
    with contextlib.suppress(errors.Conflict):
        store_module.save(
            instance, task_states.REBUILDING, {'task_state': None})


def inherited(properties: ImageProperties) -> dict[str, Any]:
    """Return the fields of a server that follow from its image properties.

    As API._inherit_properties_from_image does.
    """
    return {name: properties.get(name)
            for name in ('os_type', 'architecture', 'vm_mode')}


def _set_since(
    metadata: record.SystemMetadata, had: objects.ImageMeta | None,
) -> dict[str, str]:
    """Return what was removed with null but set by an operator since.

    ``nova-manage image_property set`` writes it into the request spec too.
    What only system metadata has is nova-compute's default, which it chooses
    again for the guest that it builds.

    :param had: the image of the request spec
    """
    kept = scheduling.properties_of(had)
    return {name: value for name, value
            in record.set_after_removal(metadata).items() if name in kept}


def _is_unchanged(had: objects.ImageMeta | None, image: dict[str, Any]) -> bool:
    """Return whether IMAGE is HAD, which the server has been built from."""
    # Properties that Nova cannot read are refused later, by name.
    has = objects.ImageMeta.from_dict({**image, 'properties': {}})
    return had is not None and all(
        each.obj_attr_is_set(name) for each in (had, has)
        for name in ('id', 'updated_at')) and (
            had.id, had.updated_at) == (has.id, has.updated_at)


def _refuse(names: Collection[str], code: str, reason: str) -> None:
    """Refuse a rebuild because of NAMES, if there are any."""
    if names:
        raise errors.Invalid.of(names, code, reason)
