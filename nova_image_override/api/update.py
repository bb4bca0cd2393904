"""What an update does with a server's overrides.

They take effect when the guest is next built: when a stopped server is
started, or when a shelved offloaded server is unshelved. Until then nothing of
the server runs, so only what is stored has to change.
"""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import typing

from nova import exception
from nova import objects
from nova.compute import power_state
from nova.compute import task_states
from nova.compute import vm_states
from nova.virt import hardware
from oslo_utils import excutils

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import record
from nova_image_override import stored_image
from nova_image_override.api import audit
from nova_image_override.api import compute_capability
from nova_image_override.api import disk_buses
from nova_image_override.api import host_scheduling
from nova_image_override.api import pipeline as pipeline_module
from nova_image_override.api import replacement
from nova_image_override.api.flavor import image_metadata
from nova_image_override.api.flavor import numa_changes
from nova_image_override.api.flavor import validation

#: The action that ``openstack server event list`` shows.
ACTION = 'update_image_props'

#: The server's task state while the change is stored, so that nothing else
#: that Nova does to a server can begin meanwhile. It is one of Nova's own,
#: because its notifications know no others (InstanceTaskStateField), and one
#: that nova-compute clears when it starts (ComputeManager._init_instance).
TASK_STATE = task_states.RESIZE_PREP

_STOP = 'stop it, or shelve it and wait until it is offloaded'
_REMEDIES = {
    vm_states.BUILDING: 'wait until it is built, then ' + _STOP,
    vm_states.RESCUED: 'unrescue it, then ' + _STOP,
    vm_states.RESIZED: 'confirm or revert the resize, then ' + _STOP,
    vm_states.SHELVED: 'wait until it is offloaded',
}
_SHELVE_FIRST = 'shelve it first'


@dataclasses.dataclass
class Update(replacement.Replacement):
    """One update of a server that replaces its overrides.

    :ivar merged: the result, once it has been checked
    :ivar image: image metadata that the server's request spec is to have
    :ivar changes_numa: whether the server's NUMA topology is to change
    :ivar moves: disks that move to another bus
    """

    merged: typing.Any = None
    image: objects.ImageMeta | None = None
    changes_numa: bool = False
    moves: disk_buses.Moves = disk_buses.NONE

    @classmethod
    def begin(
        cls, context: typing.Any, instance: typing.Any,
        asked: override.Overrides,
    ) -> Update:
        """Return the update of a server whose overrides can be changed.

        :raises errors.Conflict: the server's state does not permit it
        """
        _require_state(context, instance)
        return cls(
            instance, record.in_force(instance.system_metadata), asked)

    @property
    def _is_offloaded(self) -> bool:
        return bool(self.instance.vm_state == vm_states.SHELVED_OFFLOADED)

    def check(
        self, pipeline: pipeline_module.Pipeline, context: typing.Any,
        scheduler: host_scheduling.HostScheduler, guard: numa_changes.Guard,
    ) -> None:
        """Find out whether the server may have the overrides.

        Nothing is changed.

        :param guard: Nova's check that a rebuild leaves NUMA alone
        :raises errors.OverrideError: it may not
        """
        catalog, changed = pipeline.catalog, self.changed
        flavor = self.instance.get_flavor()
        # The image itself may no longer exist.
        base = stored_image.properties_without_overrides(self.instance)
        kept = self.kept_anew(pipeline.enforcer, base, lambda: True)
        for possible in self._possible_bases(pipeline, base):
            pipeline.enforcer.check(
                pipeline.callers.caller(context, self.instance), changed,
                possible, kept)
        image = image_metadata.of_server(self.instance)
        self.merged = pipeline.merge(
            pipeline_module.Change(
                self.overrides, changed, kept, self._still_removed,
                # What had no effect before loses nothing in the update.
                validation.ineffective(catalog, self.instance)
                - set(changed)),
            flavor, {**image, 'properties': base})
        spec = self.request_spec(context)
        present = _image_meta(image)
        wanted = _image_meta(self.merged.image)
        self.image = _changed(
            spec.image, present, wanted, {
                catalog.resolve(name).field for name, value
                in self.overrides.items() if value is not None})
        self._require_possible(flavor, present, wanted)
        self.moves = self.disk_moves(
            context, image['properties'], self.merged.image['properties'])
        numa = numa_changes.refused_by(
            guard, catalog, self.instance, base, self.merged.image,
            self.overrides)
        self.changes_numa = bool(numa)
        if self._is_offloaded:
            if self.instance.system_metadata.get('shelved_image_id'):
                compute_capability.require_anywhere(
                    context, None, 'its shelved image has other properties, '
                    'which would count on a host that it is unshelved on')
            return
        self._require_no_claim([*numa, *host_scheduling.decided_at_unshelve(
            flavor, present, wanted)])
        if host_scheduling.properties_of(spec.image) \
                != host_scheduling.properties_of(self.image):
            scheduler.require(
                context, self.instance, spec, self.image, self.differing,
                f'where a stopped server stays: {_SHELVE_FIRST}')

    def _possible_bases(
        self, pipeline: pipeline_module.Pipeline,
        base: override.ImageProperties,
    ) -> collections.abc.Iterator[override.ImageProperties]:
        """Yield each form in which the image may have what is overridden.

        The record holds the image's value, but not which of the property's
        names the image uses: a caller needs Glance's permission for each.
        """
        yield base
        if pipeline.enforcer.protections is None:
            return
        values = record.image_values(self.instance.system_metadata)
        legacy_names = {
            name: pipeline.catalog.resolve(name).legacy_names
            for name in self.changed
            if name in values and values[name] is not None}
        legacy = {each: values[name] for name, names in legacy_names.items()
                  for each in names}
        if legacy:
            yield {**base, **legacy}
            yield {**{name: value for name, value in base.items()
                      if not legacy_names.get(name)}, **legacy}

    @property
    def _still_removed(self) -> dict[str, str]:
        """What was removed, stays removed, and has nova-compute's default."""
        return {
            name: value for name, value in record.set_after_removal(
                self.instance.system_metadata).items()
            if name in self.overrides and self.overrides[name] is None}

    def _require_possible(
        self, flavor: objects.Flavor, present: objects.ImageMeta,
        wanted: objects.ImageMeta,
    ) -> None:
        """Refuse to change what a server keeps for its whole life.

        :raises errors.Invalid: naming each such property
        """
        names = host_scheduling.decided_at_create(flavor, present, wanted)
        if names:
            raise errors.Invalid.of(
                names, errors.CREATE_ONLY, 'takes effect only when a server '
                'is created: keep it as it is, or boot another server')

    def _require_no_claim(
            self, names: collections.abc.Collection[str]) -> None:
        """Refuse changes for which a stopped server needs other resources.

        :raises errors.Conflict: naming each such property
        """
        if names:
            raise errors.Conflict.of(
                names, errors.NEEDS_CLAIM, 'needs resources of a host, which '
                f'a stopped server is not given anew: {_SHELVE_FIRST}')

    def store(
        self, context: typing.Any,
        save: collections.abc.Callable[[], typing.Any],
    ) -> typing.Any:
        """Store the change and all else that the update does, or nothing.

        The server's task state is set meanwhile, as Nova's compute API does,
        so that nothing else can begin.

        :param save: saves the instance and returns what the caller wants;
            its context is targeted at the instance's cell
        :raises errors.Conflict: something else has begun, or has changed the
            server since it was checked
        """
        checked = _state_of(self.instance)
        self.instance.task_state = TASK_STATE
        try:
            self.instance.save(
                expected_vm_state=[self.instance.vm_state],
                expected_task_state=[None])
        except exception.InstanceUpdateConflict:
            raise _meanwhile() from None
        had_topology = self.instance.numa_topology
        try:
            if _state_of(self.instance) != checked:
                raise _meanwhile()
            with self._request_spec_saved(context), self.moves.saved():
                self._change_instance()
                result = save()
        except Exception:
            with excutils.save_and_reraise_exception():
                # Reloaded, without what may have been set on this object.
                instance = objects.Instance.get_by_uuid(
                    context, self.instance.uuid)
                instance.task_state = None
                instance.numa_topology = had_topology
                instance.save(
                    expected_vm_state=[instance.vm_state],
                    expected_task_state=[TASK_STATE])
        audit.changed(
            context, audit.BY_UPDATE, self.overrides, self.instance)
        return result

    @contextlib.contextmanager
    def _request_spec_saved(
            self, context: typing.Any) -> collections.abc.Iterator[None]:
        """Store the merged image in the request spec; undo it on failure."""
        spec = self.request_spec(context)
        had_image, had_topology = spec.image, spec.numa_topology
        spec.image = self.image
        if self.changes_numa:
            spec.numa_topology = self._numa_topology
        spec.save()
        try:
            yield
        except Exception:
            with excutils.save_and_reraise_exception():
                spec.image, spec.numa_topology = had_image, had_topology
                spec.save()

    def _change_instance(self) -> None:
        instance, properties = self.instance, self.merged.image['properties']
        record.replace_properties(
            instance.system_metadata, stored_image.properties(instance),
            properties)
        record.replace(
            instance.system_metadata, self.merged.record or (
                {record.DROPPED: None} if self._is_offloaded else {}))
        # API._inherit_properties_from_image
        instance.os_type = properties.get('os_type')
        instance.architecture = properties.get('architecture')
        instance.vm_mode = properties.get('vm_mode')
        self.moves.rename(instance)
        if self.changes_numa:
            instance.numa_topology = self._numa_topology
        instance.task_state = None

    @property
    def _numa_topology(self) -> typing.Any:
        return hardware.numa_get_constraints(
            self.instance.get_flavor(), _image_meta(self.merged.image))


def _require_state(context: typing.Any, instance: typing.Any) -> None:
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
    if instance.vm_state == vm_states.SHELVED_OFFLOADED or (
            instance.vm_state == vm_states.STOPPED
            and instance.power_state != power_state.RUNNING):
        return
    raise _conflict(
        f'while the server is {instance.vm_state}: '
        + _REMEDIES.get(instance.vm_state, _STOP))


def _conflict(reason: str) -> errors.Conflict:
    return errors.Conflict.of(
        [errors.PARAMETER], errors.WRONG_STATE, f'cannot be changed {reason}')


def _meanwhile() -> errors.Conflict:
    return _conflict('now: something else has changed the server, try again')


def _state_of(instance: typing.Any) -> tuple[typing.Any, ...]:
    """Return what an update was checked against."""
    return (instance.host, instance.instance_type_id,
            dict(instance.system_metadata))


def _image_meta(image: dict[str, typing.Any]) -> objects.ImageMeta:
    # A copy, because ImageMetaProps.from_dict changes its argument.
    return objects.ImageMeta.from_dict(
        {**image, 'properties': dict(image['properties'])})


def _changed(
    image_meta: objects.ImageMeta | None, present: objects.ImageMeta,
    wanted: objects.ImageMeta, overridden: collections.abc.Container[str],
) -> objects.ImageMeta:
    """Return a copy of IMAGE_META, changed as PRESENT is to be changed.

    A request spec does not have the defaults that nova-compute stores with the
    server (LibvirtDriver._register_undefined_instance_details).

    :param overridden: fields that the copy must have, even if such a default
        is the same
    """
    if image_meta is None:
        return wanted
    result = image_meta.obj_clone()
    before, after = (host_scheduling.properties_of(each)
                     for each in (present, wanted))
    for field in {*before, *after}:
        if before.get(field) == after.get(field) and field not in overridden:
            continue
        if wanted.properties.obj_attr_is_set(field):
            setattr(result.properties, field,
                    getattr(wanted.properties, field))
        elif result.properties.obj_attr_is_set(field):
            delattr(result.properties, field)
    return result
