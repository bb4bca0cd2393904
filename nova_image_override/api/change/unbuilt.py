"""Updates whose guest has not been built yet.

An update changes what is stored with a stopped server. Until the server is
started, libvirt has its guest as it was built before, and some operations of
Nova go on from that one. A server without overrides is left as Nova has it,
without being looked at, also where an update has just dropped the last one.
"""
from __future__ import annotations

from typing import Any

from nova import objects
from nova.compute import instance_actions
from oslo_serialization import jsonutils

from nova_image_override import errors
from nova_image_override.api.change import store
from nova_image_override.server_record import ServerRecord

#: Actions that build a guest from what is stored.
_BUILDING = frozenset({
    instance_actions.START, instance_actions.REBOOT, instance_actions.REBUILD,
    instance_actions.RESIZE, instance_actions.MIGRATE,
    instance_actions.EVACUATE, instance_actions.UNSHELVE,
    instance_actions.RESTORE})

#: What nova-compute notes of an action that has failed (InstanceAction
#: .message, by nova/db/main/api.py action_event_finish).
_FAILED = 'Error'


def require_no_rescue(instance: Any) -> None:
    """Require a guest to which an end of the rescue goes back.

    That is the one before it (LibvirtDriver.unrescue).

    :raises errors.Conflict: an update has changed what it is to be
    """
    if ServerRecord.of(instance).counts:
        _require_built(instance, 'rescued')


def require_no_move(instance: Any) -> None:
    """Require a guest of which Nova knows what its disks are.

    nova-compute reads that from the guest, and which of them are volumes from
    the names that are stored (LibvirtDriver._get_instance_disk_info). Disks
    that are on the network in the guest, too, are not looked at.

    :raises errors.Conflict: an update may have changed these names
    """
    if not ServerRecord.of(instance).counts:
        return
    for mapping in instance.get_bdms():
        connection = jsonutils.loads(mapping.connection_info or '{}')
        if mapping.is_volume and connection.get('driver_volume_type') != 'rbd':
            _require_built(instance, 'resized or migrated')
            return


def _require_built(instance: Any, what: str) -> None:
    actions = objects.InstanceActionList.get_by_instance_uuid(
        instance._context, instance.uuid)
    # The newest first.
    last = next((each.action for each in actions if each.message != _FAILED
                 and each.action in (store.ACTION, *_BUILDING)), None)
    if last == store.ACTION:
        raise errors.Conflict.of(
            [errors.PARAMETER], errors.WRONG_STATE, 'has been updated since '
            'the guest was built, and until it is built anew the server '
            f'cannot be {what}: start it first')
