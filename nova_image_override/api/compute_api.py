"""The compute API: what Nova does to servers, with their overrides."""
from __future__ import annotations

import functools
import inspect
from typing import Any

from nova import exception
from nova.compute import api
from nova.compute import utils as compute_utils
from oslo_utils import excutils

from nova_image_override import errors
from nova_image_override import free_keys
from nova_image_override import override_record as record
from nova_image_override.api import audit
from nova_image_override.api import faults
from nova_image_override.api import request as request_module
from nova_image_override.api.change import create
from nova_image_override.api.change import dry_run
from nova_image_override.api.change import rebuild
from nova_image_override.api.change import store as store_module
from nova_image_override.api.change import update
from nova_image_override.api.change.plan import Planner
from nova_image_override.api.change.scheduling import HostScheduler
from nova_image_override.api.change.task_state import Operation
from nova_image_override.api.compute_task_api import ComputeTaskAPI
from nova_image_override.api.guest import check as guest_check
from nova_image_override.api.hosts import compute_part
from nova_image_override.api.list_filter import RecordFilter
from nova_image_override.nova_interfaces import interface
from nova_image_override.properties import families

_BASE_OPTIONS = inspect.signature(api.API._validate_and_build_base_options)


class API(api.API):
    """Nova's compute API with overrides merged into the boot metadata.

    For servers without overrides every method is Nova's own.

    :param planner: makes plans by the deployer's rules
    """

    def __init__(self, planner: Planner) -> None:
        super().__init__()
        interface.require(self, 'compute_task_api', 'host', 'volume_api')
        self._planner = planner
        self._scheduler = HostScheduler()
        self._store = store_module.Store(planner.catalog)
        self.compute_task_api = ComputeTaskAPI(self._store)

    @interface.overrides
    def get(
        self, context: Any, instance_id: str,
        expected_attrs: list[str] | None = None, **kwargs: Any,
    ) -> Any:
        """Get one instance, with what our responses show of it."""
        instance = super().get(
            context, instance_id,
            expected_attrs=_with_record(context, expected_attrs), **kwargs)
        # Servers in a cell that is down have no system metadata.
        if 'system_metadata' in instance:
            self._store.recover(instance)
        return instance

    @interface.overrides
    def get_all(
        self, context: Any, search_opts: dict[str, Any] | None = None,
        limit: int | None = None, marker: str | None = None,
        expected_attrs: list[str] | None = None, **kwargs: Any,
    ) -> Any:
        """Get the instances asked for, with what our responses show of them.

        From compute 2.73 on, Nova loads system metadata anyway; below that,
        asking for it costs one query for each list, not for each server.
        """
        request = request_module.naming(context)
        if request is not None and (request.found or request.found_preset):
            search_opts = {**(search_opts or {}), 'system_metadata':
                           RecordFilter(request.found, request.found_preset)}
            # Nothing is known about the servers of a cell that is down, so
            # they are left out, as they are for each of Nova's own filters
            # (ServersController._is_cell_down_supported).
            kwargs['cell_down_support'] = False
        return super().get_all(
            context, search_opts=search_opts, limit=limit, marker=marker,
            expected_attrs=_with_record(context, expected_attrs), **kwargs)

    # --- create -------------------------------------------------------------

    @interface.overrides
    @faults.carried()
    def create(
        self, context: Any, *args: Any,
        auto_disk_config: bool | None = None, **kwargs: Any,
    ) -> Any:
        """Create servers with the overrides that the request asks for."""
        request = request_module.naming(context)
        if request is not None and 'hw_auto_disk_config' in (
                request.overrides or ()):
            # Nova's _check_auto_disk_config runs before the merge, and again
            # after it, in _inherit_properties_from_image.
            request.auto_disk_config = auto_disk_config
            auto_disk_config = None
        return super().create(
            context, *args, auto_disk_config=auto_disk_config, **kwargs)

    @interface.overrides
    def _validate_and_build_base_options(
        self, context: Any, flavor: Any, boot_meta: dict[str, Any], *args: Any,
        **kwargs: Any,
    ) -> Any:
        # Nova's _create_instance calls this for image and volume boots alike,
        # before anything is created and before anything but auto_disk_config
        # reads the boot metadata.
        create.forget_forged_record(boot_meta)
        request = request_module.naming(context)
        if request is None or not (request.overrides or request.is_check):
            return super()._validate_and_build_base_options(
                context, flavor, boot_meta, *args, **kwargs)
        request.plan = create.plan(
            self._planner, context, flavor, boot_meta,
            request.overrides or {}, request.preset)
        if request.overrides:
            boot_meta.update(request.plan.image)
        if request.auto_disk_config is not None:
            bound = _BASE_OPTIONS.bind(
                self, context, flavor, boot_meta, *args, **kwargs)
            bound.arguments['auto_disk_config'] = request.auto_disk_config
            args, kwargs = bound.args[4:], bound.kwargs
        return super()._validate_and_build_base_options(
            context, flavor, boot_meta, *args, **kwargs)

    @interface.overrides
    def _populate_instance_for_create(
        self, context: Any, instance: Any,
        image: dict[str, Any], *args: Any, **kwargs: Any,
    ) -> Any:
        # Nova calls this for each server before any of it is saved.
        instance = super()._populate_instance_for_create(
            context, instance, image, *args, **kwargs)
        request = request_module.naming(context)
        if request is None or not (request.overrides or request.is_check):
            return instance
        if request.plan is None:
            raise interface.unsupported(
                'creates servers past _validate_and_build_base_options, '
                'which merges their overrides')
        # Not with the boot metadata, which Nova copies many times.
        instance.system_metadata.update(
            record.with_properties({}, request.plan.recorded))
        if request.is_check:
            raise dry_run.Checked(dry_run.answer(
                self._planner, request.plan, instance))
        audit.changed(
            context, audit.AT_BOOT, request.plan.change, instance)
        return instance

    # --- rebuild ------------------------------------------------------------

    @interface.overrides
    @faults.carried()
    @store_module.giving_way()
    def rebuild(
        self, context: Any, instance: Any, image_href: str,
        *args: Any, **kwargs: Any,
    ) -> Any:
        """Rebuild with the overrides in force, or with those asked for."""
        free_keys.require_none(kwargs.get('metadata'))
        request = request_module.of(context)
        operation = Operation(
            instance, *(request.overrides, request.preset) if request else ())
        if operation.change.after:
            compute_part.require(
                context, instance, 'rebuilt',
                'or send an empty image_props_override, which drops them'
                if operation.change.before
                else 'or leave image_props_override out')
        with request_module.doing(context, operation):
            try:
                result = super().rebuild(
                    context, operation.instance, image_href, *args, **kwargs)
            except Exception:
                with excutils.save_and_reraise_exception():
                    if not operation.is_sent:
                        rebuild.undo(self._store, operation)
        if operation.rebuild is not None:
            audit.changed(context, audit.BY_REBUILD,
                          operation.rebuild.plan.change, instance)
        return result

    @interface.overrides
    def _get_image(
        self, context: Any, image_href: str,
    ) -> tuple[str | None, dict[str, Any]]:
        # Nova's rebuild fetches the image here, before anything reads it and
        # before anything is saved. The overrides of a create are merged later,
        # at a point that boots from volume pass too.
        image_id, image = super()._get_image(context, image_href)
        operation = request_module.operation_of(context)
        if operation is not None and operation.change.names:
            operation.rebuild = rebuild.plan(
                self._planner, self._scheduler, context, operation.instance,
                operation.change, operation.asked is not None, image,
                self._validate_numa_rebuild, functools.partial(
                    self._image_changes, context, operation.instance, image))
            image['properties'] = operation.rebuild.stored
        return image_id, image

    def _image_changes(
        self, context: Any, instance: Any, image: dict[str, Any],
    ) -> bool:
        """Return whether Nova schedules a rebuild from IMAGE.

        Decides as Nova's rebuild does, which takes the image of a
        volume-backed server from its volume.
        """
        if instance.image_ref:
            return bool(instance.image_ref != image['id'])
        root = compute_utils.get_root_bdm(context, instance)
        volume = self.volume_api.get(context, root.volume_id)
        return bool(image['id'] != volume.get(
            'volume_image_metadata', {}).get('image_id'))

    # --- update -------------------------------------------------------------

    @interface.overrides
    @faults.carried()
    def update_instance_metadata(
        self, context: Any, instance: Any, metadata: dict[str, str],
        *args: Any, **kwargs: Any,
    ) -> Any:
        """Update a server's metadata, which must not ask for overrides."""
        free_keys.require_none(metadata)
        return super().update_instance_metadata(
            context, instance, metadata, *args, **kwargs)

    @interface.overrides
    @faults.carried()
    def update_instance(
        self, context: Any, instance: Any, updates: dict[str, Any],
    ) -> Any:
        """Update a server, and replace its overrides if asked to."""
        request = request_module.naming(context)
        if request is None or request.overrides is None:
            return super().update_instance(context, instance, updates)
        planned = update.plan(
            self._planner, self._scheduler, context, instance,
            request.overrides, request.preset, self._validate_numa_rebuild)
        self._record_action_start(context, instance, store_module.ACTION)
        with compute_utils.EventReporter(
                context, f'api_{store_module.ACTION}', self.host,
                instance.uuid):
            # Nova's method would save the rest whatever the task state.
            self._store.replace(
                instance, planned.changed, planned.stored,
                {**update.fields(planned), **updates}, planned.had)
        audit.changed(
            context, audit.BY_UPDATE, planned.plan.change, instance)
        return instance

    @interface.overrides
    @faults.carried()
    @store_module.giving_way()
    def start(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Start a server, after any change of it that was cut off.

        Nova's controller of start and stop does not call :meth:`get`.
        """
        self._store.recover(instance)
        return super().start(
            context, Operation(instance).instance, *args, **kwargs)

    @interface.overrides
    @faults.carried()
    @store_module.giving_way()
    def reboot(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Reboot a server, which may be stopped and is started then."""
        return super().reboot(
            context, Operation(instance).instance, *args, **kwargs)

    # --- what reads the request spec, and starts with the overrides ---------

    @interface.overrides
    @faults.carried()
    @store_module.giving_way()
    def resize(
        self, context: Any, instance: Any, *args: Any,
        host_name: str | None = None, **kwargs: Any,
    ) -> Any:
        """Resize or cold-migrate a server if its NUMA nodes are kept."""
        overrides = record.in_force(instance.system_metadata)
        if any(families.NUMA_CPUS.has(name) or families.NUMA_MEM.has(name)
               for name in overrides):
            # Nova takes the NUMA nodes of a cold migration from a form of the
            # request spec that has lost its cells
            # (nova/conductor/tasks/migrate.py and ImageMetaProps.from_dict);
            # the compute part on the destination repairs it.
            compute_part.require_anywhere(
                context, host_name, 'its NUMA nodes (hw_numa_cpus.N, '
                'hw_numa_mem.N) could be lost on a host that it is moved to')
        return super().resize(
            context, Operation(instance).instance, *args, host_name=host_name,
            **kwargs)

    @interface.overrides
    @faults.carried()
    @store_module.giving_way()
    def unshelve(
        self, context: Any, instance: Any, *args: Any,
        host: str | None = None, **kwargs: Any,
    ) -> Any:
        """Unshelve a server if its host builds it with its overrides."""
        if record.shelved_image_is_older(instance.system_metadata):
            compute_part.require_anywhere(
                context, host, 'its overrides were changed since it was '
                'shelved, and could be lost on a host that it is unshelved on')
        operation = Operation(instance)
        try:
            return super().unshelve(
                context, operation.instance, *args, host=host, **kwargs)
        except (errors.Conflict, exception.InstanceUpdateConflict):
            with excutils.save_and_reraise_exception():
                # Nova has stored the request spec that it read before it took
                # the task state.
                self._store.repair(operation.before)

    @interface.overrides
    @faults.carried()
    @store_module.giving_way()
    def rescue(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Rescue a server if its host keeps its overrides."""
        if record.in_force(instance.system_metadata):
            compute_part.require(
                context, instance, 'rescued',
                'or rebuild it with an empty image_props_override')
        return super().rescue(
            context, Operation(instance).instance, *args, **kwargs)

    @interface.overrides
    def lock(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Lock a server without taking back what was stored meanwhile.

        Nova stores the reason with all of the system metadata that it has
        read.
        """
        if record.has_overrides(instance.system_metadata) and (
                args or kwargs.get('reason')):
            instance.refresh()
        return super().lock(context, instance, *args, **kwargs)

    @interface.overrides
    def _check_quota_for_upsize(
        self, context: Any, instance: Any, current_flavor: Any,
        new_flavor: Any, is_bfv: bool, is_revert: bool,
    ) -> None:
        # Nova's resize calls this (a static method) once the server may be
        # resized and before anything is changed. What Nova then says about
        # flavor and image does not mention overrides, and is a 500 for some.
        super()._check_quota_for_upsize(
            context, instance, current_flavor, new_flavor, is_bfv, is_revert)
        if not is_revert and record.has_overrides(instance.system_metadata):
            guest_check.check_resize(
                self._planner.catalog, new_flavor, instance)

    @interface.overrides
    def _allow_cross_cell_resize(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> bool:
        # A move to another cell loses the NUMA topology of any server
        # (MigrationContext.new_numa_topology arrives empty). Overrides let
        # tenants create such servers, so these stay in their cell.
        if record.has_overrides(instance.system_metadata) and (
                instance.numa_topology is not None):
            return False
        return bool(super()._allow_cross_cell_resize(
            context, instance, *args, **kwargs))


def _with_record(
        context: Any, expected_attrs: list[str] | None,
) -> list[str] | None:
    if request_module.naming(context) is None or expected_attrs is None:
        return expected_attrs
    return sorted({*expected_attrs, 'system_metadata'})
