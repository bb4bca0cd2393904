"""The compute API: what Nova does to servers, with their overrides.

For servers without overrides every method is Nova's own. Each method finds
the request's operation, and calls Nova's method and one hook.
"""
from __future__ import annotations

from collections.abc import Callable
import functools
import inspect
from typing import Any, TypeVar

from nova import exception
from nova.compute import api
from nova.compute import utils as compute_utils
from oslo_utils import excutils

from nova_image_override import errors
from nova_image_override.api import asked as asked_module
from nova_image_override.api import audit
from nova_image_override.api import compute_part
from nova_image_override.api import operation as operations
from nova_image_override.api.change import create
from nova_image_override.api.change import dry_run
from nova_image_override.api.change import repair
from nova_image_override.api.change import store
from nova_image_override.api.change import unbuilt
from nova_image_override.api.change import update
from nova_image_override.api.change.held_instance import Instance
from nova_image_override.api.change.plan import Planner
from nova_image_override.api.change.rebuild import ComputeTaskAPI
from nova_image_override.api.change.rebuild import Rebuild
from nova_image_override.api.change.scheduling import HostScheduler
from nova_image_override.api.faults import Refused
from nova_image_override.api.guest import check as guest_check
from nova_image_override.nova_interfaces import interface
from nova_image_override.properties import families
from nova_image_override.server_record import ServerRecord

_BASE_OPTIONS = inspect.signature(api.API._validate_and_build_base_options)

_Method = TypeVar('_Method', bound=Callable[..., Any])


def _refusing(method: _Method) -> _Method:
    """Declare that METHOD overrides Nova's, and let refusals pass.

    Nova answers 500 where something else takes the task state at once; where
    one of the two asks for overrides, this is a refusal, too.

    :raises Refused: in place of an OverrideError
    """
    @functools.wraps(method)
    def refusing(self: API, context: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, context, *args, **kwargs)
        except errors.OverrideError as exc:
            raise Refused(exc) from None
        except exception.InstanceUpdateConflict as exc:
            if (operations.of(context).asked is None and exc.kwargs[
                    'actual'].get('task_state') != store.TASK_STATE):
                raise
            raise Refused(store.changed_meanwhile()) from None
    return interface.overrides(refusing)  # type: ignore[return-value]


class API(api.API):
    """Nova's compute API with overrides merged into the boot metadata."""

    def __init__(self, planner: Planner) -> None:
        super().__init__()
        interface.require(self, 'compute_task_api', 'host', 'volume_api')
        self._planner = planner
        self._scheduler = HostScheduler(
            self._validate_numa_rebuild, self.volume_api)
        self.compute_task_api = ComputeTaskAPI()

    # --- servers that are shown ---------------------------------------------

    @interface.overrides
    def get(
        self, context: Any, instance_id: str,
        expected_attrs: list[str] | None = None, **kwargs: Any,
    ) -> Any:
        """Get one instance, after any change of it that was cut off."""
        instance = super().get(
            context, instance_id, expected_attrs=operations.of(
                context).attributes(expected_attrs), **kwargs)
        # Servers in a cell that is down have no system metadata.
        if 'system_metadata' in instance:
            repair.recover(instance)
        return instance

    @interface.overrides
    def get_all(
        self, context: Any, search_opts: dict[str, Any] | None = None,
        limit: int | None = None, marker: str | None = None,
        expected_attrs: list[str] | None = None, **kwargs: Any,
    ) -> Any:
        """Get the instances that a list shows."""
        operation = operations.of(context)
        return super().get_all(context, limit=limit, marker=marker, **{
            **kwargs, **operation.listing(search_opts),
            'expected_attrs': operation.attributes(expected_attrs)})

    # --- create -------------------------------------------------------------

    @_refusing
    def create(
        self, context: Any, *args: Any,
        auto_disk_config: bool | None = None, **kwargs: Any,
    ) -> Any:
        """Create servers with the overrides that the request asks for."""
        return super().create(
            context, *args, auto_disk_config=operations.of(
                context).before_image(auto_disk_config), **kwargs)

    @interface.overrides
    def _validate_and_build_base_options(
        self, context: Any, flavor: Any, boot_meta: dict[str, Any], *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Merge the overrides of a create, for image and volume boots alike."""
        # Nova's _create_instance calls this before anything is created and
        # before anything but auto_disk_config reads the boot metadata.
        create.forget_forged_record(boot_meta)
        changed = operations.of(context).image_known(
            context, flavor, boot_meta)
        if changed:
            bound = _BASE_OPTIONS.bind(
                self, context, flavor, boot_meta, *args, **kwargs)
            bound.arguments.update(changed)
            args, kwargs = bound.args[4:], bound.kwargs
        return super()._validate_and_build_base_options(
            context, flavor, boot_meta, *args, **kwargs)

    @interface.overrides
    def _check_and_transform_bdm(
        self, context: Any, base_options: dict[str, Any], *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Check all disks of a create, once its overrides are merged."""
        mappings = super()._check_and_transform_bdm(
            context, base_options, *args, **kwargs)
        operations.of(context).disks_known(mappings, base_options)
        return mappings

    @interface.overrides
    def _populate_instance_for_create(
        self, context: Any, instance: Any,
        image: dict[str, Any], *args: Any, **kwargs: Any,
    ) -> Any:
        """Record overrides before any server is saved."""
        instance = super()._populate_instance_for_create(
            context, instance, image, *args, **kwargs)
        operations.of(context).populated(instance)
        return instance

    @interface.overrides
    def _bdm_validate_set_size_and_instance(
        self, context: Any, instance: Any, flavor: Any,
        block_device_mapping: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Validate disks; a check reserves no volume."""
        return super()._bdm_validate_set_size_and_instance(
            context, instance, flavor,
            operations.of(context).validating(block_device_mapping),
            *args, **kwargs)

    @interface.overrides
    def _create_reqspec_buildreq_instmapping(
        self, context: Any, rs: Any, br: Any, im: Any,
    ) -> None:
        """Store a server of a create; a check ends here."""
        # In Nova, this is a static method.
        operations.of(context).storing(context, rs, br.instance)
        super()._create_reqspec_buildreq_instmapping(context, rs, br, im)

    # --- rebuild ------------------------------------------------------------

    @_refusing
    def rebuild(
        self, context: Any, instance: Any, image_href: str,
        *args: Any, **kwargs: Any,
    ) -> Any:
        """Rebuild with the overrides in force, or with those asked for."""
        asked_module.require_none(kwargs.get('metadata'))
        nova_rebuild = super().rebuild
        operation = operations.of(context)
        if not operation.is_check:
            self._repair(context, instance)
        return Rebuild(
            self._planner, self._scheduler, context, instance,
            operation.asked, operation.is_check,
        ).run(lambda held: nova_rebuild(
            context, held, image_href, *args, **kwargs))

    @interface.overrides
    def _get_image(
        self, context: Any, image_href: str,
    ) -> tuple[str | None, dict[str, Any]]:
        """Merge the overrides of a rebuild, before Nova reads its image."""
        image_id, image = super()._get_image(context, image_href)
        operations.of(context).image_fetched(image)
        return image_id, image

    # --- update -------------------------------------------------------------

    @_refusing
    def update_instance_metadata(
        self, context: Any, instance: Any, metadata: dict[str, str],
        *args: Any, **kwargs: Any,
    ) -> Any:
        """Update a server's metadata, which must not ask for overrides."""
        asked_module.require_none(metadata)
        return super().update_instance_metadata(
            context, instance, metadata, *args, **kwargs)

    @_refusing
    def update_instance(
        self, context: Any, instance: Any, updates: dict[str, Any],
    ) -> Any:
        """Update a server, and replace its overrides if asked to."""
        operation = operations.of(context)
        if operation.asked is None:
            return super().update_instance(context, instance, updates)
        if not operation.is_check:
            self._repair(context, instance)
        planned = update.plan(
            self._planner, self._scheduler, context, instance, operation.asked)
        if operation.is_check:
            dry_run.end(self._planner, context, planned.plan)
        self._record_action_start(context, instance, store.ACTION)
        with compute_utils.EventReporter(
                context, f'api_{store.ACTION}', self.host, instance.uuid):
            # Nova's method would save the rest whatever the task state.
            planned.store(instance, updates)
        audit.changed(context, 'by the update', planned.plan.change.after,
                      instance)
        return instance

    # --- operations that begin with the overrides ----------------------------

    def _repair(self, context: Any, instance: Any) -> None:
        """Repair a server that a service without overrides has changed."""
        unfinished = repair.needed(instance)
        if unfinished:
            # A guest whose disks move has to be built anew.
            self._record_action_start(
                context, instance, store.ACTION if any(unfinished.values())
                else repair.ACTION)
            repair.make(instance, unfinished)

    def _whole(
        self, context: Any, instance: Any, keeps_others: bool = False,
    ) -> Instance:
        """Return a server for an operation of Nova, after any repair."""
        self._repair(context, instance)
        return Instance.of(instance, keeps_others=keeps_others)

    @_refusing
    def start(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Start a server, after any change of it that was cut off.

        Nova's controller of start and stop does not call ``get``.
        """
        repair.recover(instance)
        return super().start(
            context, self._whole(context, instance), *args, **kwargs)

    @_refusing
    def reboot(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Reboot a server, which may be stopped and is started then."""
        return super().reboot(
            context, self._whole(context, instance), *args, **kwargs)

    @_refusing
    def resize(
        self, context: Any, instance: Any, *args: Any,
        host_name: str | None = None, **kwargs: Any,
    ) -> Any:
        """Resize or cold-migrate a server if NUMA nodes and disks are kept."""
        if any(families.NUMA_CPUS.has(name) or families.NUMA_MEM.has(name)
               for name in ServerRecord.of(instance).in_force):
            # Nova takes the NUMA nodes of a cold migration from a form of the
            # request spec that has lost its cells
            # (nova/conductor/tasks/migrate.py and ImageMetaProps.from_dict);
            # the compute part on the destination repairs it.
            compute_part.require_anywhere(
                context, host_name, 'its NUMA nodes (hw_numa_cpus.N, '
                'hw_numa_mem.N) could be lost on a host that it is moved to')
        unbuilt.require_no_move(instance)
        # It stores an image's ID in system metadata.
        return super().resize(
            context, self._whole(context, instance, keeps_others=True), *args,
            host_name=host_name, **kwargs)

    @_refusing
    def unshelve(
        self, context: Any, instance: Any, *args: Any,
        host: str | None = None, **kwargs: Any,
    ) -> Any:
        """Unshelve a server if its host builds it with its overrides."""
        if ServerRecord.of(instance).shelved_image_is_older:
            compute_part.require_anywhere(
                context, host, 'its overrides were changed since it was '
                'shelved, and could be lost on a host that it is unshelved on')
        held = self._whole(context, instance)
        before = held.before
        try:
            return super().unshelve(context, held, *args, host=host, **kwargs)
        except (errors.Conflict, exception.InstanceUpdateConflict):
            with excutils.save_and_reraise_exception():
                # Nova has stored the request spec that it read before it took
                # the task state.
                store.repair(before)

    @_refusing
    def live_migrate(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Live-migrate a server, whose request spec is scheduled by."""
        return super().live_migrate(
            context, self._whole(context, instance), *args, **kwargs)

    @_refusing
    def evacuate(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Evacuate a server, after any repair; ComputeTaskAPI does the rest."""
        self._repair(context, instance)
        return super().evacuate(context, instance, *args, **kwargs)

    @_refusing
    def rescue(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Rescue a server if its host, and an unrescue, keep its overrides."""
        unbuilt.require_no_rescue(instance)
        if ServerRecord.of(instance).in_force:
            compute_part.require(
                context, instance, 'rescued',
                'or rebuild it with an empty image_props_override')
        return super().rescue(
            context, self._whole(context, instance), *args, **kwargs)

    @_refusing
    def snapshot(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Make an image of a server that is not being updated."""
        return super().snapshot(context, instance, *args, **kwargs)

    @_refusing
    def backup(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Back up a server that is not being updated."""
        return super().backup(context, instance, *args, **kwargs)

    # --- operations that store system metadata --------------------------------

    @interface.overrides
    def lock(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Lock a server; of its system metadata, store the reason alone."""
        return super().lock(
            context, Instance.of(instance, keeps_others=True), *args, **kwargs)

    @interface.overrides
    def unlock(self, context: Any, instance: Any) -> Any:
        """Unlock a server; of its system metadata, drop the reason alone."""
        return super().unlock(
            context, Instance.of(instance, keeps_others=True))

    @_refusing
    def shelve(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Shelve a server; of its system metadata, store the image alone."""
        return super().shelve(
            context, self._whole(context, instance, keeps_others=True), *args,
            **kwargs)

    # --- resize ---------------------------------------------------------------

    @interface.overrides
    def _check_quota_for_upsize(
        self, context: Any, instance: Any, current_flavor: Any,
        new_flavor: Any, is_bfv: bool, is_revert: bool,
    ) -> None:
        """Check overrides with a resize's flavor before anything is changed."""
        # A static method in Nova, which then answers without a word about
        # overrides, or 500.
        super()._check_quota_for_upsize(
            context, instance, current_flavor, new_flavor, is_bfv, is_revert)
        record = ServerRecord.of(instance)
        if not is_revert and record.counts:
            guest_check.check_resize(
                new_flavor, record, instance.get_flavor(),
                functools.partial(self._planner.problems, context))

    @interface.overrides
    def _allow_cross_cell_resize(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> bool:
        """Keep servers in their cell whose NUMA nodes a move would lose."""
        # MigrationContext.new_numa_topology arrives empty. Overrides let
        # tenants create such servers.
        if ServerRecord.of(instance).counts and (
                instance.numa_topology is not None):
            return False
        return bool(super()._allow_cross_cell_resize(
            context, instance, *args, **kwargs))
