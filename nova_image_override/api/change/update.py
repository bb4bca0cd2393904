"""Update of a server's overrides.

They take effect when the guest is next built: when a stopped server is
started, or when a shelved offloaded server is unshelved. Until then nothing of
the server runs, so only what is stored has to change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
import dataclasses
import time
from typing import Any

from nova import exception
from nova import objects
from nova.compute import power_state
from nova.compute import vm_states
from oslo_utils import strutils

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import override_record as record
from nova_image_override import stored_image
from nova_image_override.api.change import disks
from nova_image_override.api.change import plan as plan_module
from nova_image_override.api.change import rebuild
from nova_image_override.api.change import scheduling
from nova_image_override.api.change import store as store_module
from nova_image_override.api.change.change import Change
from nova_image_override.api.guest import check
from nova_image_override.api.guest.guest import Guest, image_of_server
from nova_image_override.api.hosts import compute_part
from nova_image_override.authorization.presets import Preset
from nova_image_override.properties.book import vocabulary
from nova_image_override.properties.catalog import Catalog

#: Seconds to wait for a host that is about to give up a server.
PATIENCE = 3

_STOP = 'stop it, or shelve it and wait until it is offloaded'
_REMEDIES = {
    vm_states.BUILDING: 'wait until it is built, then ' + _STOP,
    vm_states.RESCUED: 'unrescue it, then ' + _STOP,
    vm_states.RESIZED: 'confirm or revert the resize, then ' + _STOP,
    vm_states.SHELVED: 'wait until it is offloaded',
}
_SHELVE = 'shelve it first'
_BUILD = f'rebuild the server, or {_SHELVE}'
#: As Nova refuses both (nova/compute/api.py reject_vtpm_instances).
_WITH_VTPM = ('boot another server: Nova neither rebuilds nor shelves one with '
              'a vTPM')


@dataclasses.dataclass(frozen=True)
class Update:
    """An update that may be stored.

    :ivar plan: what the server is to have
    :ivar had: metadata of the image in the server's request spec
    :ivar changed: the overrides that are others then
    :ivar stored: the image properties that are stored with it
    """

    plan: plan_module.Plan
    had: objects.ImageMeta | None
    changed: Collection[str]
    stored: dict[str, Any]


def plan(
    planner: plan_module.Planner, scheduler: scheduling.HostScheduler,
    context: Any, instance: Any, asked: override.Overrides,
    named: Preset | None, guard: scheduling.Guard,
) -> Update:
    """Return what a server is to have, if its state and its host permit it.

    :param asked: the overrides that are to take the place of those in force
    :param named: the preset that the request names
    :param guard: Nova's check that a rebuild leaves NUMA alone
    :raises errors.OverrideError: it may not have it
    """
    _require_state(context, instance)
    spec = _request_spec(context, instance)
    had = spec.image if 'image' in spec else None
    catalog, metadata = planner.catalog, instance.system_metadata
    flavor = instance.get_flavor()
    image = image_of_server(instance)
    base = stored_image.properties_without_overrides(instance)
    change = Change.of(metadata, asked, named).on(catalog, base)
    new = change.new(catalog, base)
    result = planner.plan(
        context, change, flavor, {**image, 'properties': base}, new=new,
        owns=_owns(catalog, instance, had, base, new),
        fixed=_still_removed(metadata, change),
        # An override without effect loses nothing in the update.
        ineffective=check.ineffective(catalog, instance) - {*new},
        owner=instance)
    present, wanted = (objects.ImageMeta.from_dict(each)
                       for each in (image, result.image))
    fixed = scheduling.decided(
        catalog, vocabulary.AT_CREATE, flavor, present, wanted)
    if fixed:
        raise errors.Invalid.of(
            fixed, errors.CREATE_ONLY, 'takes effect only when a server is '
            'created: keep it as it is, or boot another server')
    changed = change.differing
    is_offloaded = instance.vm_state == vm_states.SHELVED_OFFLOADED
    shelve, build = _SHELVE, _BUILD
    if scheduling.gets(catalog['hw_tpm_version'].record,
                       Guest(flavor, present, {})):
        shelve = build = _WITH_VTPM
    disks.require_config_drive(
        change, base.get(disks.CONFIG_DRIVE), instance,
        None if is_offloaded else build)
    if disks.PROPERTY in changed:
        disks.moves(instance.get_bdms(), disks.bus(image['properties']),
                    disks.bus(result.image['properties']))
    if is_offloaded:
        if not changed:
            return Update(result, had, (), {
                **{name: value for name, value
                   in record.image_properties(metadata).items()
                   if not name.startswith(record.PRESET_PREFIX)},
                **result.recorded})
        return Update(result, had, changed, {
            **result.stored, **_on_offloaded(context, metadata)})
    if changed:
        _require_start_builds(context, instance, changed, build)
    if kept := scheduling.decided(
            catalog, vocabulary.AT_BUILD, flavor, present, wanted):
        raise errors.Conflict.of(
            kept, errors.NEEDS_REBUILD, 'takes effect when the guest is '
            f'built, and a start keeps the firmware that it has: {build}')
    needing = [
        *scheduling.changing_numa(
            guard, catalog, instance, result.image, change),
        *scheduling.decided(
            catalog, vocabulary.AT_UNSHELVE, flavor, present, wanted)]
    if needing:
        raise errors.Conflict.of(
            needing, errors.NEEDS_CLAIM, 'needs resources of a host, which '
            f'a stopped server is not given anew: {shelve}')
    image_meta = store_module.with_fields(
        had or present, wanted,
        {catalog.resolve(name).field for name in changed})
    if scheduling.properties_of(had) \
            != scheduling.properties_of(image_meta):
        scheduler.require(
            context, instance, spec, image_meta, changed,
            f'where a stopped server stays: {shelve}')
    return Update(result, had, changed, result.stored)


def fields(update: Update) -> dict[str, Any]:
    """Return the fields of the server that follow from its properties."""
    properties = update.plan.image['properties']
    result = rebuild.inherited(properties)
    if 'hw_auto_disk_config' in update.changed:
        # As API._inherit_properties_from_image at create.
        result['auto_disk_config'] = strutils.bool_from_string(
            properties.get('auto_disk_config'))
    return result


def _on_offloaded(
    context: Any, metadata: record.SystemMetadata,
) -> dict[str, str]:
    """Return what is recorded of a change that the shelved image lacks.

    :raises errors.Conflict: it would count on some host
    """
    shelved = metadata.get('shelved_image_id')
    if not shelved:
        return {}
    compute_part.require_anywhere(
        context, None, 'its shelved image has other properties, which would '
        'count on a host that it is unshelved on')
    return {record.OFFLOADED: shelved}


def _require_start_builds(
    context: Any, instance: Any, changed: Iterable[str], way: str,
) -> None:
    """Require a host whose driver builds a guest anew when it starts it.

    libvirt's does (LibvirtDriver.power_on); the other drivers switch on what
    there is.

    :param way: how the caller can have it built
    :raises errors.Conflict: it does not
    """
    try:
        node = objects.ComputeNode.get_by_host_and_nodename(
            context, instance.host, instance.node)
    except exception.ComputeHostNotFound:
        return
    driver = vocabulary.HYPERVISOR_TYPES.get(node.hypervisor_type)
    if driver != 'libvirt':
        raise errors.Conflict.of(
            changed, errors.NEEDS_REBUILD, 'takes effect when the guest is '
            f'built, and the driver of its host ({node.hypervisor_type}) does '
            f'not build it anew at a start: {way}')


def _owns(
    catalog: Catalog, instance: Any, spec_image: objects.ImageMeta | None,
    base: override.ImageProperties, new: override.Overrides,
) -> list[override.ImageProperties]:
    """Return the properties of the server's image, in each possible form.

    The image itself may no longer exist. nova-compute's defaults, which are
    stored with the server, are not in its request spec
    (LibvirtDriver._register_undefined_instance_details). Nor does the record
    say which of a property's names the image has.
    """
    recorded = record.image_values(instance.system_metadata)
    if spec_image is None:
        return [base, {}]
    had = scheduling.properties_of(spec_image)
    own = {name: value for name, value in base.items()
           if name in recorded
           or (field := catalog.field_of(name)) is None or field in had}
    legacy = {
        each: own[name] for name in new if name in own
        for each in catalog.resolve(name).legacy_names}
    if not legacy:
        return [own]
    return [own, {**{name: value for name, value in own.items()
                     if name not in new}, **legacy}]


def _still_removed(
    metadata: record.SystemMetadata, change: Change,
) -> dict[str, str]:
    """Return nova-compute's defaults for properties that stay removed."""
    return {name: value for name, value
            in record.set_after_removal(metadata).items()
            if name in change.after and change.after[name] is None}


def _request_spec(context: Any, instance: Any) -> objects.RequestSpec:
    try:
        return objects.RequestSpec.get_by_instance_uuid(context, instance.uuid)
    except exception.RequestSpecNotFound:
        raise _conflict(
            'because the server has no request spec: ask the operator'
        ) from None


def _require_state(context: Any, instance: Any) -> None:
    """Require a server with nothing running, and nothing being done to it.

    :raises errors.Conflict: it is in another state
    """
    if instance.locked and not context.is_admin:
        # As in nova/compute/api.py check_instance_lock.
        raise _conflict('while the server is locked: unlock it')
    if instance.task_state is not None:
        raise _conflict(
            f'while the server is in task {instance.task_state}: wait until '
            'that ends')
    if instance.vm_state == vm_states.SHELVED_OFFLOADED:
        if _is_given_up(instance):
            return
        raise _conflict('while its host gives it up: try again, or unshelve it')
    if (instance.vm_state == vm_states.STOPPED
            and instance.power_state != power_state.RUNNING):
        return
    raise _conflict(
        f'while the server is {instance.vm_state}: '
        + _REMEDIES.get(instance.vm_state, _STOP))


def _is_given_up(instance: Any) -> bool:
    """Return whether nova-compute is done with an offloaded server.

    It does so once more after the server is offloaded, with the NUMA topology
    that it had (ComputeManager._shelve_offload_instance). What shelves a server
    and then updates it should not fail by chance, so this waits for a while.
    """
    until = time.monotonic() + PATIENCE
    while instance.host is not None and time.monotonic() < until:
        time.sleep(0.2)
        instance.refresh()
    return instance.host is None


def _conflict(reason: str) -> errors.Conflict:
    return errors.Conflict.of(
        [errors.PARAMETER], errors.WRONG_STATE, f'cannot be changed {reason}')
