"""Rebuild of a server with overrides, from the request to what is sent.

The methods of :class:`Rebuild` come in the order in which Nova's rebuild
calls them.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nova import conductor
from nova import objects
from nova.compute import task_states
from nova.compute import vm_states
from oslo_utils import excutils

from nova_image_override import errors
from nova_image_override.api import audit
from nova_image_override.api import compute_part
from nova_image_override.api import operation as operations
from nova_image_override.api.change import disks
from nova_image_override.api.change import dry_run
from nova_image_override.api.change import held_instance
from nova_image_override.api.change import scheduling
from nova_image_override.api.change import store
from nova_image_override.api.change.plan import Change, Plan, Planner
from nova_image_override.api.guest import check
from nova_image_override.api.guest.guest import boot_metadata
from nova_image_override.nova_interfaces import interface
from nova_image_override.override import NONE, Overrides
from nova_image_override.properties.book import vocabulary
from nova_image_override.server_record import ServerRecord

_REMEDY = 'and a rebuild does not move it: boot another server'


class Rebuild(operations.Operation):
    """One rebuild.

    :param read: the server, as the request has read it
    :param asked: the overrides that the request asks for; None keeps those in
        force
    :param is_check: whether it ends with the plan
    """

    def __init__(
        self, planner: Planner, scheduler: scheduling.HostScheduler,
        context: Any, read: Any, asked: Overrides | None,
        is_check: bool = False,
    ) -> None:
        self._planner = planner
        self._scheduler = scheduler
        self._context = context
        self._record = ServerRecord.of(read)
        self.asked = asked
        self._instance = held_instance.Instance.of(
            read, asks=bool(asked), then=self._held,
            instead=self._end if is_check else None)
        self.is_check = is_check
        #: What Nova rebuilds from, without overrides.
        self._fetched: dict[str, Any] = {}
        #: The plan, once it is checked; metadata of the merged image, and of
        #: the one in the server's request spec.
        self._plan: Plan | None = None
        self._image: objects.ImageMeta | None = None
        self._had: objects.ImageMeta | None = None
        #: What Nova's method has changed, as it was before, and the server's
        #: system metadata, once its task state is held; and the record that
        #: Nova's method has stored.
        self._former: Mapping[str, Any] | None = None
        self._metadata: Mapping[str, Any] = {}
        self._wanted: ServerRecord | None = None
        #: Where the disks were when they were about to be moved.
        self._places: disks.Places = []
        self._is_sent = False

    def run(self, nova_rebuild: Callable[[Any], Any]) -> Any:
        """Call NOVA_REBUILD with the server.

        :raises errors.OverrideError: the rebuild is refused
        """
        before = self._record.in_force
        after = before if self.asked is None else self.asked.values
        if after:
            compute_part.require(
                self._context, self._instance, 'rebuilt',
                'or send an empty image_props_override, which drops them'
                if before else 'or leave image_props_override out')
        with operations.during(self._context, self):
            try:
                result = nova_rebuild(self._instance)
            except Exception:
                with excutils.save_and_reraise_exception():
                    if not self._is_sent:
                        self._undo()
        if self._plan is not None:
            audit.changed(self._context, 'by the rebuild',
                          self._plan.change.after, self._instance)
        return result

    @property
    def _names(self) -> set[str]:
        """Names of the overrides in force and of those asked for."""
        asked = self.asked.names if self.asked else ()
        return {*self._record.in_force, *asked}

    # --- 1: nothing is stored yet -------------------------------------------

    def image_fetched(self, image: dict[str, Any]) -> None:
        """Merge the overrides over the image, if the host permits it.

        Nothing has read the image yet, and nothing has been saved.

        :raises errors.OverrideError: the server may not have the result
        """
        if not self._names:
            self._fetched = dict(image)
            return
        instance, record = self._instance, self._record
        # In ERROR a resize has failed, and nothing is saved any more.
        if (instance.vm_state != vm_states.ERROR
                and held_instance.is_resize_ending(instance)):
            raise errors.Conflict.of(
                [errors.PARAMETER], errors.WRONG_STATE, 'cannot be kept or '
                'changed while its host ends a resize: try again')
        spec = objects.RequestSpec.get_by_instance_uuid(
            self._context, instance.uuid)
        self._had = spec.image if 'image' in spec else None
        plan = self._planner.plan(self._context, self._change(image))
        # Nova asks its guard only for a new image, but overrides can change
        # NUMA while the image stays the same, and a rebuild does not claim the
        # topology again.
        changing = self._scheduler.changing_numa(instance, record, plan)
        if changing:
            raise errors.Invalid.of(
                changing, errors.NUMA_CHANGE, 'a rebuild cannot change the '
                'NUMA topology of a server: update it once it is shelved and '
                'offloaded, or boot another one')
        # ImageMeta.from_dict changes its argument.
        wanted = objects.ImageMeta.from_dict(
            {**image, 'properties': dict(plan.image['properties'])})
        scheduling.refuse_fixed_at_create(
            plan.change.flavor,
            objects.ImageMeta.from_dict(boot_metadata(record.image)), wanted,
            vocabulary.AT_UNSHELVE)
        disks.require_config_drive(plan.change, instance, way=None)
        disks.require_places(plan, instance, record.image['properties'])
        source = disks.bus(record.image['properties'])
        changed = ['', disks.PROPERTY] \
            if disks.PROPERTY in plan.change.differing else ['']
        # A server that never was on a host is scheduled anew by Nova. The
        # request spec holds what the scheduler has already granted, while
        # nova-compute adds its defaults to system metadata.
        if instance.host and (
                scheduling.properties_of(self._had)
                != scheduling.properties_of(wanted)
                or self._scheduler.is_asked_by_nova(
                    self._context, instance, image)):
            self._scheduler.require(
                self._context, instance, spec, wanted, plan.change.differing,
                _REMEDY)
        self._plan, self._image = plan, wanted
        image['properties'] = {
            **plan.stored, **store.unfinished(changed, source)}

    def _change(self, image: dict[str, Any]) -> Change:
        """Return the change of a server that is rebuilt from IMAGE."""
        base, record = image.get('properties') or {}, self._record
        before = record.overrides
        after = before if self.asked is None else self.asked.over(base)
        flavor = self._instance.get_flavor()
        return Change(
            # A copy: what Nova stores from here on is not the image's own.
            flavor, dict(image), after,
            after.judged_as_new(base, before) if self._is_same_image(image)
            else after,
            before=before,
            # What only system metadata has is nova-compute's default, which it
            # chooses again for the guest that it builds; an operator's
            # ``nova-manage image_property set`` writes the request spec, too.
            fixed=record.set_after_removal(scheduling.properties_of(self._had))
            if self.asked is None else {},
            # An override without effect loses nothing in the rebuild.
            ineffective=check.ineffective(flavor, record)
            - {*after.differing(before)},
            owner=self._instance)

    def _is_same_image(self, image: dict[str, Any]) -> bool:
        """Return whether the server was built from IMAGE as it is now.

        A volume does not know when its image was last changed.
        """
        if not self._instance.image_ref:
            return not self._scheduler.is_asked_by_nova(
                self._context, self._instance, image)
        # Properties that Nova cannot read are refused later, by name.
        had, has = self._had, objects.ImageMeta.from_dict(
            {**image, 'properties': {}})
        return had is not None and all(
            each.obj_attr_is_set(name) for each in (had, has)
            for name in ('id', 'updated_at')) and (
                had.id, had.updated_at) == (has.id, has.updated_at)

    def _end(self) -> None:
        """End a check: raise dry_run.Checked."""
        if self._plan is None:
            base = self._fetched.get('properties') or {}
            self._plan = Plan(
                Change(self._instance.get_flavor(), self._fetched, NONE, NONE),
                {**self._fetched, 'properties': base})
        dry_run.end(self._planner, self._context, self._plan)

    # --- 2: Nova has taken the task state -----------------------------------

    def _held(
        self, former: dict[str, Any], metadata: Mapping[str, Any],
    ) -> None:
        self._former, self._metadata = former, metadata

    # --- 3: the server is stored, and nothing is sent yet --------------------

    def sending(self, instance: Any) -> dict[str, Any]:
        """Store the rest, with the server's disks on their bus.

        Nova would let the conductor ask the scheduler again without a host,
        and look for the traits of the image without its overrides
        (ComputeTaskManager._validate_image_traits_for_rebuild).
        """
        if self.is_check:
            raise interface.unsupported(
                'rebuilds past Instance.save, which ends a check')
        arguments = {}
        if self._plan is not None:
            self._wanted = ServerRecord.read(dict(instance.system_metadata))
            self._places = disks.places(instance)
            store.finish(
                instance, task_states.REBUILDING, image=self._image)
            arguments = {'host': instance.host, 'bdms': instance.get_bdms()}
        elif self._names:
            raise interface.unsupported(
                'rebuilds past API._get_image, where overrides are merged')
        self._is_sent = True
        return arguments

    # --- instead, if anything fails -----------------------------------------

    def _undo(self) -> None:
        """Leave the server as it was, if the rebuild holds it already."""
        if self._former is None:
            return
        instance = store.stored(self._instance)
        disks.put_back(instance, self._places)
        instance.update({
            **self._former, 'system_metadata': dict(self._metadata)})
        # Nova has stored another image, too.
        store.agree(instance, {''}, self._had)
        held = task_states.REBUILDING
        try:
            store.save(instance, held, {'task_state': None})
        except errors.Conflict:
            # Whatever has taken the task state, such as a deletion, wins.
            if self._wanted is not None:
                store.take_back(
                    self._instance, held, self._wanted,
                    ServerRecord.read(self._metadata), {
                        name: value for name, value in self._former.items()
                        if name != 'task_state'}, self._had, self._places)


class ComputeTaskAPI(conductor.ComputeTaskAPI):
    """Nova's conductor API, the last that nova-api calls for a server."""

    @interface.overrides
    def rebuild_instance(
        self, context: Any, instance: Any, *args: Any,
        request_spec: Any = None, recreate: bool = False, **kwargs: Any,
    ) -> Any:
        """Rebuild a server once the rest of its rebuild is stored.

        An evacuation takes the task state whatever it is: an update may have
        come since Nova has read server and request spec.
        """
        if recreate:
            store.renew(instance, request_spec)
        kwargs.update(operations.of(context).sending(instance))
        return super().rebuild_instance(
            context, instance, *args, request_spec=request_spec,
            recreate=recreate, **kwargs)
