"""The one place that stores a change of a server that exists.

What belongs to one change is in three places: the properties and their record
with the server, in its cell; the properties in its request spec, in the API
database; the bus of its disks, in the cell again. No transaction spans them.
So the server comes first: one statement stores its properties, its record and
the names of all that has still to follow. Then :func:`finish` brings the rest
into line with what is stored with the server, and takes those names away.

Doing that again does no harm. If it is cut off (nova-api killed, a database
lost), the next request for the server does it (repair.recover); if it fails,
the former properties are stored in the same way. Meanwhile the server has a
task state, so that nothing else can begin, and each save expects that state:
whatever takes it away, such as a deletion, wins, and errors.Conflict says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
import time
from typing import Any

from nova import exception
from nova import objects
from nova.compute import task_states
from nova.compute import vm_states
from nova.db.main import api as main_db
from nova.objects import base as objects_base
from nova.virt import hardware
from oslo_db import api as oslo_db_api
from oslo_utils import excutils
from sqlalchemy import exc as sqlalchemy_exceptions

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.api.change import disks
from nova_image_override.override import ImageProperties
from nova_image_override.properties import catalog
from nova_image_override.server_record import ServerRecord

#: The action that ``openstack server event list`` shows.
ACTION = 'update_image_props'

#: A server's task state while an update of its overrides is stored. It is one
#: of Nova's own, because its notifications know no others
#: (InstanceTaskStateField), and one that nova-compute clears when it starts
#: (ComputeManager._init_instance).
TASK_STATE = task_states.RESIZE_PREP

#: Seconds after which an update that is still being stored counts as cut off;
#: after half of that, it gives up itself.
LEASE = 60

#: As nova/db/main/api.py _retry_instance_update, which is within the
#: transaction of save_keys, and finds it ended.
_retry = oslo_db_api.wrap_db_retry(
    max_retries=5, retry_on_deadlock=True,
    exception_checker=lambda exc: isinstance(
        exc, sqlalchemy_exceptions.PendingRollbackError))


def state(instance: Any) -> tuple[Any, ...]:
    """Return what requests that change overrides are checked against."""
    return (instance.host, instance.instance_type_id,
            _of_image(instance.system_metadata))


def _of_image(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items()
            if key.startswith(metadata_keys.IMAGE_PREFIX)}


def changed_meanwhile() -> errors.Conflict:
    """Return the refusal of a request that another one has overtaken."""
    return errors.Conflict.of(
        [errors.PARAMETER], errors.WRONG_STATE,
        'cannot be changed now: something else has changed the server, try '
        'again')


def confirmed(
    instance: Any, checked: tuple[Any, ...], held: str,
    release: Callable[[Any], Mapping[str, Any]],
) -> objects.Instance:
    """Return a server whose task state is held, if it is what was checked.

    It is read again: the row that Instance.save has read may be older than
    the task state that it set, because its transaction reads first.

    :param checked: its :func:`state` as it was checked
    :param held: the task state that holds it
    :param release: returns the fields with which the server, as it is stored,
        is given back if it has changed
    :raises errors.Conflict: something else has changed the server
    """
    present = stored(instance)
    if state(present) != checked:
        save(present, held, release(present))
        raise changed_meanwhile()
    return present


def has_record(instance: Any) -> bool:
    """Return whether anything is recorded with a server now."""
    return ServerRecord.read(main_db.instance_system_metadata_get(
        instance._context, instance.uuid)).counts


def save_keys(
    context: Any, instance: Any, changed: Mapping[str, str | None],
    gone: Collection[str], save: Callable[[], object],
) -> None:
    """Save a server with some keys of its system metadata, and no others.

    Nova stores system metadata whole: what it has read before would take back
    what has been stored since. In one transaction, only keys that differ from
    what is read here are written (_instance_metadata_update_in_place).
    """
    fields = {name: instance[name] for name in instance.obj_what_changed()}

    @_retry
    @main_db.pick_context_manager_writer
    def attempt(context: Any) -> None:
        present = main_db.instance_system_metadata_get(context, instance.uuid)
        # Where the commit failed, what had changed is forgotten.
        instance.update({**fields, 'system_metadata': {
            key: value for key, value in {**present, **changed}.items()
            if key not in gone}})
        save()

    attempt(context)


def replace(
    instance: Any, changed: Collection[str], properties: ImageProperties,
    fields: Mapping[str, Any], image: objects.ImageMeta | None,
) -> None:
    """Store other properties of a server that nothing else is done to.

    :param instance: as it was checked
    :param changed: names of the overrides that change
    :param properties: its new image properties, with the record
    :param fields: what else of it changes
    :param image: the image in its request spec
    :raises nova.exception.InstanceNotFound: it has been deleted
    """
    until = time.monotonic() + LEASE / 2
    hold(instance)
    former = {name: instance[name] for name in fields}
    record = ServerRecord.of(instance)
    source, target = disks.bus(record.stored), disks.bus(properties)
    places = disks.places(instance) if disks.PROPERTY in changed else []
    wanted = ServerRecord.read(record.with_properties({
        **properties, **unfinished(changed, source)}))
    try:
        save(instance, TASK_STATE, {
            **fields, 'system_metadata': dict(wanted.metadata)})
        finish(instance, until=until)
    except errors.Conflict:
        with excutils.save_and_reraise_exception():
            take_back(instance, TASK_STATE, wanted, record, former, image,
                      places)
    except Exception:
        with excutils.save_and_reraise_exception():
            save(instance, TASK_STATE, {
                **former, 'task_state': TASK_STATE,
                'system_metadata': record.with_properties({
                    **record.stored, **unfinished(changed, target)})})
            finish(instance, until=until, image=image, places=places)


def hold(instance: Any) -> None:
    """Give INSTANCE our task state, if it is still what was checked.

    :raises errors.Conflict: it is not, or something else holds it
    """
    checked = state(instance)
    keep_what_was_read(instance)
    instance.task_state = TASK_STATE
    try:
        instance.save(expected_vm_state=[instance.vm_state],
                      expected_task_state=[None])
    except exception.InstanceUpdateConflict:
        raise changed_meanwhile() from None
    present = confirmed(
        instance, checked, TASK_STATE, lambda present: {'task_state': None})
    instance.system_metadata = dict(present.system_metadata)


def take_back(
    instance: Any, held: str, wanted: ServerRecord, record: ServerRecord,
    former: Mapping[str, Any], image: objects.ImageMeta | None,
    places: disks.Places,
) -> None:
    """Leave a server as it was whose task state something else has taken.

    Such as a soft deletion, after which the server may be restored, or the
    start of nova-compute, which may have registered a default with it
    (LibvirtDriver._register_undefined_instance_details).

    :param held: the task state that it had
    :param wanted: the record that was to be stored with it; RECORD, FORMER
        (other fields), IMAGE (in the request spec) and PLACES (of the disks)
        are those from before
    """
    present = stored(instance)
    if present.task_state == held or not (
            wanted.stored.items() <= ServerRecord.of(present).stored.items()):
        return
    present.update(former)
    save_keys(
        present._context, present, _of_image(record.metadata),
        _of_image(wanted.metadata).keys() - record.metadata.keys(),
        present.save)
    agree(present, wanted.unfinished, image)
    disks.put_back(present, places)


def finish(
    instance: Any, held: str = TASK_STATE, *, until: float | None = None,
    image: objects.ImageMeta | None = None,
    places: disks.Places | None = None,
) -> None:
    """Bring all else into line with what is stored with INSTANCE.

    :param held: the task state that holds the server; ours is given back
    :param until: when it must be over, on the clock of time.monotonic
    :param image: the image that the request spec is to have, if known
    :param places: where the disks are to be, if known
    :raises errors.Conflict: the server's task state is another one by now,
        or its properties are others, or it has taken too long
    """
    task_state = None if held == TASK_STATE else held
    record = ServerRecord.of(instance)
    agree(instance, record.unfinished, image)
    source = record.unfinished.get(disks.PROPERTY)
    former = disks.places(instance) if source else []
    if places is not None:
        disks.put_back(instance, places)
    elif source:
        disks.move(instance, source, disks.bus(record.stored))

    def release(present: Any) -> dict[str, Any]:
        # Nova's "lock" stores system metadata that it read before.
        agree(present, record.unfinished)
        disks.put_back(instance, former)
        return {'task_state': task_state}

    present = confirmed(instance, state(instance), held, release)
    if until is not None and time.monotonic() > until:
        # Another request may take this one for cut off.
        raise changed_meanwhile()
    save(instance, held, {
        'system_metadata': ServerRecord.of(present).finished(),
        'task_state': task_state})


def agree(
    instance: Any, names: Iterable[str], image: objects.ImageMeta | None = None,
) -> None:
    """Store in the request spec what the server has.

    A request spec does not have the defaults that nova-compute stores with the
    server (LibvirtDriver._register_undefined_instance_details), so only what
    has changed is copied.

    :param names: the properties that have changed, or '' for all
    :param image: the image that the request spec is to have, if known
    """
    names = {*names}
    if not names:
        return
    spec = objects.RequestSpec.get_by_instance_uuid(
        instance._context, instance.uuid)
    wanted = instance.image_meta
    present = spec.image if 'image' in spec else None
    if image is None:
        image = wanted if '' in names or present is None \
            else with_properties_of(present, wanted, names)
    topology = spec.numa_topology
    if instance.vm_state == vm_states.SHELVED_OFFLOADED:
        # On other servers nothing changes that a host has claimed.
        topology = hardware.numa_get_constraints(
            instance.get_flavor(), wanted)
        instance.numa_topology = topology
    if not (_is_same(image, present)
            and _is_same(topology, spec.numa_topology)):
        spec.image, spec.numa_topology = image, topology
        spec.save()


def renew(instance: Any, spec: Any) -> None:
    """Take what an update may have stored since Nova read a server.

    :param spec: its request spec, as Nova has read it, if it has one
    """
    if spec is None or not has_record(instance):
        return
    present = stored(instance)
    instance.system_metadata = dict(present.system_metadata)
    instance.obj_reset_changes(['system_metadata'])
    renewed = objects.RequestSpec.get_by_instance_uuid(
        instance._context, instance.uuid)
    for name in ('image', 'numa_topology'):
        if name in renewed:
            setattr(spec, name, getattr(renewed, name))


def repair(before: Any) -> None:
    """Store the request spec anew if one from BEFORE may have been stored."""
    present = stored(before)
    if state(present) != state(before):
        agree(present, {
            *ServerRecord.of(before).rows, *ServerRecord.of(present).rows})


def with_properties_of(
    image: objects.ImageMeta, wanted: objects.ImageMeta, names: Iterable[str],
) -> objects.ImageMeta:
    """Return a copy of IMAGE which has some properties of WANTED."""
    result = image.obj_clone()
    for field in fields(names):
        if wanted.properties.obj_attr_is_set(field):
            setattr(result.properties, field, getattr(wanted.properties, field))
        elif result.properties.obj_attr_is_set(field):
            delattr(result.properties, field)
    return result


def unfinished(changed: Iterable[str], source: str) -> dict[str, str]:
    """Return the image properties that name what is still to be stored.

    :param changed: the properties that have changed, or '' for all
    :param source: the bus that disks move from where theirs has changed
    """
    return {
        f'{metadata_keys.UNFINISHED}:{field}' if field
        else metadata_keys.UNFINISHED:
        source if field == disks.PROPERTY else ''
        for field in fields(changed)}


def fields(names: Iterable[str]) -> set[str]:
    """Return the fields of properties, which all traits have in common.

    :param names: what requests call them, or fields, or '' for all
    :raises errors.Invalid: this Nova has no such property
    """
    known = catalog.running()
    return {name if not name or name in known else known.resolve(name).field
            for name in names}


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two of Nova's objects, or None, say the same."""
    if one is None or other is None:
        return one is other
    return bool(objects_base.obj_equal_prims(one, other))


def save(instance: Any, held: str, fields: Mapping[str, Any]) -> None:
    """Store FIELDS while the server's task state is HELD.

    :raises errors.Conflict: it is another one by now
    """
    instance.update(fields)
    try:
        instance.save(expected_task_state=[held])
    except exception.InstanceUpdateConflict:
        raise changed_meanwhile() from None


def stored(instance: Any) -> objects.Instance:
    """Return INSTANCE as it is stored now."""
    result = objects.Instance.get_by_uuid(
        instance._context, instance.uuid,
        expected_attrs=['flavor', 'numa_topology', 'system_metadata'])
    keep_what_was_read(result)
    return result


def keep_what_was_read(
    instance: Any, names: Iterable[str] = (
        'flavor', 'old_flavor', 'new_flavor', 'numa_topology'),
) -> None:
    """Have the next save leave the server's flavors and NUMA topology alone.

    Those that have been read from the database may count as changed, and
    Instance.save stores them before it looks at the task state: it would take
    back the flavor of a resize that has come between.
    """
    for name in names:
        if instance.obj_attr_is_set(name):
            instance.obj_reset_changes([name], recursive=True)
