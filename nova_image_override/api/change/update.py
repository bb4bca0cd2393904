"""Update of a server's overrides.

They take effect when the guest is next built: when a stopped server is
started, or when a shelved offloaded server is unshelved. Until then nothing of
the server runs, so only what is stored has to change.
"""

from __future__ import annotations

from collections.abc import Mapping
import contextlib
import dataclasses
import types
from typing import Any

from nova import exception
from nova import objects
from nova.compute import power_state
from nova.compute import vm_states
from oslo_utils import strutils

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.api import compute_part
from nova_image_override.api.change import disks
from nova_image_override.api.change import held_instance
from nova_image_override.api.change import scheduling
from nova_image_override.api.change import store
from nova_image_override.api.change.plan import Change, Plan, Planner
from nova_image_override.api.guest import check
from nova_image_override.api.guest.guest import boot_metadata, Guest
from nova_image_override.override import ImageProperties, Overrides
from nova_image_override.properties import book
from nova_image_override.properties import catalog
from nova_image_override.properties.book import vocabulary
from nova_image_override.server_record import DEFAULTS
from nova_image_override.server_record import ServerRecord

_STOP = 'stop it, or shelve it and wait until it is offloaded'

#: State of a server -> what to do before its overrides can be updated; ''
#: where they can be. The documentation's table is made from this one.
STATES: Mapping[str, str] = types.MappingProxyType({
    vm_states.STOPPED: '',
    vm_states.SHELVED_OFFLOADED: '',
    vm_states.ACTIVE: _STOP,
    vm_states.BUILDING: 'wait until it is built, then ' + _STOP,
    vm_states.PAUSED: 'unpause it and ' + _STOP,
    vm_states.SUSPENDED: 'resume it and ' + _STOP,
    vm_states.RESCUED: 'unrescue it, then ' + _STOP,
    vm_states.RESIZED: 'confirm or revert the resize, then ' + _STOP,
    vm_states.SHELVED: 'wait until it is offloaded',
    vm_states.SOFT_DELETED: 'restore it, then ' + _STOP,
    vm_states.ERROR: 'stop it, or rebuild it with the overrides',
})

_SHELVE = 'shelve it first'
_BUILD = f'rebuild the server, or {_SHELVE}'
#: As Nova refuses both (nova/compute/api.py reject_vtpm_instances).
_WITH_VTPM = ('boot another server: Nova neither rebuilds nor shelves one with '
              'a vTPM')


@dataclasses.dataclass(frozen=True)
class Update:
    """An update that may be stored.

    :ivar properties: image properties to be stored with the server, with the
        record
    :ivar fields: fields of the server that follow from them
    :ivar had: metadata of the image in the server's request spec
    """

    plan: Plan
    properties: dict[str, Any]
    fields: dict[str, Any]
    had: objects.ImageMeta | None

    def store(self, instance: Any, updates: dict[str, Any]) -> None:
        """Store the update of a server, with other UPDATES of its fields.

        :raises errors.Conflict: something else has changed it, or does
        """
        store.replace(instance, self.plan.change.differing, self.properties,
                      {**self.fields, **updates}, self.had)


def plan(
    planner: Planner, scheduler: scheduling.HostScheduler,
    context: Any, instance: Any, asked: Overrides,
) -> Update:
    """Return a server's update to ASKED, if its state and host permit it.

    :raises errors.OverrideError: it may not have it
    """
    _require_state(context, instance)
    record = ServerRecord.of(instance)
    spec = _request_spec(context, instance)
    had = spec.image if 'image' in spec else None
    planned = planner.plan(context, _change(instance, record, asked, had))
    change, merged = planned.change, planned.image
    server = boot_metadata(record.image)
    # ImageMeta.from_dict changes its argument.
    present, wanted = (objects.ImageMeta.from_dict(boot_metadata(each))
                       for each in (server, merged))
    scheduling.refuse_fixed_at_create(change.flavor, present, wanted)
    is_offloaded = instance.vm_state == vm_states.SHELVED_OFFLOADED
    shelve, build = _SHELVE, _BUILD
    if scheduling.gets(book.RECORDS['hw_tpm_version'],
                       Guest(change.flavor, present, {})):
        shelve = build = _WITH_VTPM
    disks.require_config_drive(
        change, instance, None if is_offloaded else build)
    disks.require_places(planned, instance, server['properties'])
    if is_offloaded and change.differing:
        properties = {**planned.stored, **_on_offloaded(context, record)}
    elif is_offloaded:
        properties = {
            **{name: value for name, value in record.stored.items()
               if not name.startswith(metadata_keys.PRESET_PREFIX)},
            **planned.recorded}
    else:
        properties = planned.stored
        _require_start(
            context, instance, planned, present, wanted, build)
        needing = [
            *scheduler.changing_numa(instance, record, planned),
            *scheduling.decided(
                vocabulary.AT_UNSHELVE, change.flavor, present, wanted)]
        if needing:
            raise errors.Conflict.of(
                needing, errors.NEEDS_CLAIM, 'needs resources of a host, '
                f'which a stopped server is not given anew: {shelve}')
        image_meta = store.with_properties_of(
            had or present, wanted, change.differing)
        if scheduling.properties_of(had) \
                != scheduling.properties_of(image_meta):
            scheduler.require(
                context, instance, spec, image_meta, change.differing,
                f'where a stopped server stays: {shelve}')
    return Update(planned, properties, _fields(planned), had)


def _change(
    instance: Any, record: ServerRecord, asked: Overrides,
    had: objects.ImageMeta | None,
) -> Change:
    """Return the change of a server to the overrides that are ASKED for."""
    flavor, before = instance.get_flavor(), record.overrides
    own = _images_own(record, had)
    after = asked.over(own)
    # Defaults that follow from what becomes another, as nova-compute will
    # choose them for the guest that it builds.
    changed = after.differing(before)
    again = {name for name, causes in DEFAULTS.items()
             if not causes.isdisjoint(changed)}
    base = {name: value for name, value in record.own_properties.items()
            if name in own or name not in again}
    new = after.judged_as_new(base, before)
    return Change(
        flavor, {**boot_metadata(record.image), 'properties': base},
        after, new, before=before,
        images=_image_forms(own, new) if had else [base, {}],
        # nova-compute's defaults for properties that stay removed.
        fixed=record.set_after_removal({
            each.name for each in after.members
            if each.value is None and each.name not in again}),
        # An override without effect loses nothing in the update.
        ineffective=check.ineffective(flavor, record) - new.names,
        owner=instance)


def _images_own(
    record: ServerRecord, had: objects.ImageMeta | None,
) -> ImageProperties:
    """Return the properties that the server's image itself has.

    The image may no longer exist. nova-compute's defaults, which are stored
    with the server, are not in its request spec
    (LibvirtDriver._register_undefined_instance_details).
    """
    if had is None:
        return record.own_properties
    held = scheduling.properties_of(had)
    return {name: value for name, value in record.own_properties.items()
            if name in record.rows
            or (field := catalog.running().field_of(name)) is None
            or field in held}


def _image_forms(
    own: ImageProperties, new: Overrides,
) -> list[ImageProperties]:
    """Return the properties of the server's image, in each possible form.

    The record does not say which of a property's names the image has.
    """
    legacy = {name: own[each.name] for each in new.members if each.name in own
              for name in each.prop.legacy}
    if not legacy:
        return [own]
    return [own, {**{name: value for name, value in own.items()
                     if name not in new}, **legacy}]


def _fields(planned: Plan) -> dict[str, Any]:
    """Return the fields of the server that follow from its properties."""
    properties = planned.image['properties']
    # As API._inherit_properties_from_image does.
    result = {name: properties.get(name)
              for name in ('os_type', 'architecture', 'vm_mode')}
    if 'hw_auto_disk_config' in planned.change.differing:
        result['auto_disk_config'] = strutils.bool_from_string(
            properties.get('auto_disk_config'))
    return result


# --- a server that is shelved and offloaded ---------------------------------

def _on_offloaded(context: Any, record: ServerRecord) -> dict[str, str]:
    """Return what to record of a change that the shelved image lacks."""
    shelved = record.metadata.get('shelved_image_id')
    if not shelved:
        return {}
    compute_part.require_anywhere(
        context, None, 'its shelved image has other properties, which would '
        'count on a host that it is unshelved on')
    return {metadata_keys.OFFLOADED: shelved}


# --- a stopped server -------------------------------------------------------

def _require_start(
    context: Any, instance: Any, planned: Plan, present: objects.ImageMeta,
    wanted: objects.ImageMeta, way: str,
) -> None:
    """Require that a start builds the guest as the update changes it.

    libvirt builds it anew (LibvirtDriver.power_on), with the firmware that it
    has; the other drivers switch on what there is.

    :param way: how the caller can have it built
    :raises errors.Conflict: it does not
    """
    change = planned.change
    if change.differing:
        with contextlib.suppress(exception.ComputeHostNotFound):
            kind = objects.ComputeNode.get_by_host_and_nodename(
                context, instance.host, instance.node).hypervisor_type
            if vocabulary.HYPERVISOR_TYPES.get(kind, kind) != 'libvirt':
                raise errors.Conflict.of(
                    change.differing, errors.NEEDS_REBUILD, 'takes effect when '
                    f'the guest is built, and the driver of its host ({kind}) '
                    f'does not build it anew at a start: {way}')
    if kept := scheduling.decided(
            vocabulary.AT_BUILD, change.flavor, present, wanted):
        raise errors.Conflict.of(
            kept, errors.NEEDS_REBUILD, 'takes effect when the guest is '
            f'built, and a start keeps the firmware that it has: {way}')


def _require_state(context: Any, instance: Any) -> None:
    """Require a server that nothing runs of, and that nothing is done to.

    :raises errors.Conflict: it is in another state; with what to do
    """
    state = instance.vm_state
    if instance.locked and not context.is_admin:
        # As in nova/compute/api.py check_instance_lock.
        raise _conflict('while the server is locked: unlock it')
    if instance.task_state is not None:
        raise _conflict(
            f'while the server is in task {instance.task_state}: wait until '
            'that ends')
    if instance.host is None and state in (
            vm_states.STOPPED, vm_states.ERROR):
        # Nova neither starts, stops nor rebuilds it (nova/compute/api.py
        # check_instance_host).
        raise _conflict('while the server is on no host: boot another server')
    if STATES.get(state, _STOP):
        raise _conflict(
            f'while the server is {state}: {STATES.get(state, _STOP)}')
    if state == vm_states.SHELVED_OFFLOADED and instance.host is not None:
        # nova-compute saves the server once more after it is offloaded, with
        # the NUMA topology that it had
        # (ComputeManager._shelve_offload_instance).
        raise _conflict('while its host gives it up: try again, or unshelve it')
    if (state == vm_states.STOPPED
            and held_instance.is_resize_ending(instance)):
        raise _conflict('while its host ends a resize: try again')
    if (state == vm_states.STOPPED
            and instance.power_state == power_state.RUNNING):
        raise _conflict(f'while the server is {state}: {_STOP}')


def _conflict(reason: str) -> errors.Conflict:
    return errors.Conflict.of(
        [errors.PARAMETER], errors.WRONG_STATE, f'cannot be changed {reason}')


def _request_spec(context: Any, instance: Any) -> objects.RequestSpec:
    try:
        return objects.RequestSpec.get_by_instance_uuid(context, instance.uuid)
    except exception.RequestSpecNotFound:
        raise _conflict(
            'because the server has no request spec: ask the operator'
        ) from None
