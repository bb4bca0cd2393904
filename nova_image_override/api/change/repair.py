"""Repair of a server that was left half changed.

A request that was cut off (store.py) is finished by the next one.

An unmodified nova-api or nova-compute stores system metadata whole, as it has
read it, for example for a lock with a reason, or for the defaults that
nova-compute registers when it starts. A change of overrides that came between
is taken back with the server, but its request spec and disks have it still.
What is stored with the server counts: its guest is built from it.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nova import exception
from nova import objects
from nova import utils as nova_utils
from nova.compute import instance_actions
from nova.compute import vm_states
from oslo_log import log as logging
from oslo_utils import timeutils

from nova_image_override.api.change import disks
from nova_image_override.api.change import scheduling
from nova_image_override.api.change import store
from nova_image_override.metadata_keys import VALUE_BYTES_MAX
from nova_image_override.properties import catalog
from nova_image_override.server_record import DEFAULTS
from nova_image_override.server_record import ServerRecord

LOG = logging.getLogger(__name__)

#: The action of a repair that moves no disk: its guest is as it is stored.
ACTION = 'repair_image_props'


def needed(instance: Any) -> Mapping[str, str]:
    """Return the properties that a request spec has otherwise, as unfinished.

    A server without a record is left as Nova has it, without being looked at.
    """
    record = ServerRecord.of(instance)
    if not record.counts or instance.task_state is not None:
        return {}
    in_force = record.in_force
    try:
        spec = objects.RequestSpec.get_by_instance_uuid(
            instance._context, instance.uuid)
    except exception.RequestSpecNotFound:
        return {}
    if 'image' not in spec or spec.image is None:
        return {}
    wanted, had = (scheduling.properties_of(each)
                   for each in (instance.image_meta, spec.image))
    # A request spec has all of what system metadata holds 255 bytes of.
    had = {field: nova_utils.safe_truncate(value, VALUE_BYTES_MAX)
           if isinstance(value, str) else value
           for field, value in had.items()}
    alone = {name for name in DEFAULTS.keys() - had.keys()
             if in_force.get(name) is None}
    differing = [
        field for field, prop in catalog.running().items()
        if not prop.record.never and field not in alone
        and wanted.get(field) != had.get(field)]
    if not differing:
        return {}
    return store.unfinished(differing, disks.bus(had))


def make(instance: Any, unfinished: Mapping[str, str]) -> None:
    """Bring request spec and disks into line with a server.

    :raises errors.Conflict: something else has changed it, or does
    """
    store.hold(instance)
    record = ServerRecord.of(instance)
    store.save(instance, store.TASK_STATE, {
        'system_metadata': record.with_properties(
            {**record.stored, **unfinished})})
    store.finish(instance)


def recover(instance: Any) -> None:
    """Finish what a request that was cut off has left to do.

    Called when a server is fetched, so failing must not harm.
    """
    if instance.task_state == store.TASK_STATE:
        if not (timeutils.is_older_than(
                instance.updated_at.replace(tzinfo=None), store.LEASE)
                and _is_held_by_us(instance)):
            return
    elif instance.task_state is not None or not ServerRecord.of(
            instance).unfinished:
        return
    try:
        if instance.task_state is None:
            store.hold(instance)
        store.finish(instance)
        LOG.info('Finished a change of image properties that had been cut '
                 'off', instance=instance)
    except Exception:
        LOG.exception('A change of image properties that was cut off cannot '
                      'be finished yet', instance=instance)


def _is_held_by_us(instance: Any) -> bool:
    """Return whether we, not Nova's resize, have set our task state."""
    if instance.vm_state == vm_states.SHELVED_OFFLOADED:  # It has no host.
        return True
    # Locking a server, for example, is an action whatever the task state.
    actions = objects.InstanceActionList.get_by_instance_uuid(
        instance._context, instance.uuid, limit=50)
    last = next((each.action for each in actions if each.action in (
        store.ACTION, ACTION, instance_actions.REBUILD,
        instance_actions.MIGRATE, instance_actions.RESIZE)), None)
    # A rebuild has another task state, until recover finishes it.
    return last in (store.ACTION, ACTION) or (
        last == instance_actions.REBUILD
        and bool(ServerRecord.of(instance).unfinished))
