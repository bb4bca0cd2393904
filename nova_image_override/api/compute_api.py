"""The compute API that boots and rebuilds servers with their overrides."""

import collections.abc
import functools
import inspect
import typing

from nova import conductor
from nova.compute import api
from nova.compute import instance_actions
from nova.compute import utils as compute_utils

from nova_image_override import record
from nova_image_override.api import audit
from nova_image_override.api import check
from nova_image_override.api import compute_capability
from nova_image_override.api import faults
from nova_image_override.api import host_scheduling
from nova_image_override.api import pipeline as pipeline_module
from nova_image_override.api import rebuild
from nova_image_override.api import request as request_module
from nova_image_override.api import server_filter
from nova_image_override.api import update
from nova_image_override.api.flavor import validation
from nova_image_override.nova_interfaces import interface
from nova_image_override.properties import families

_BASE_OPTIONS = inspect.signature(api.API._validate_and_build_base_options)


class ComputeTaskAPI(conductor.ComputeTaskAPI):
    """Nova's conductor API, for rebuilds that are scheduled already."""

    def rebuild_instance(
        self, context: typing.Any, instance: typing.Any, *args: typing.Any,
        host: str | None = None, bdms: typing.Any = None,
        **kwargs: typing.Any,
    ) -> typing.Any:
        """Rebuild a server on its host, with its disks on their bus.

        Without a host the conductor would ask the scheduler again, and look
        for the traits of the image without its overrides
        (ComputeTaskManager._validate_image_traits_for_rebuild).
        """
        pending = request_module.rebuild_of(context)
        if pending is not None:
            pending.checked_spec()
            host = instance.host
            pending.moves.apply(bdms)
        return super().rebuild_instance(
            context, instance, *args, host=host, bdms=bdms, **kwargs)


class API(api.API):
    """Nova's compute API with overrides merged into the boot metadata.

    For servers without overrides every method is Nova's own.

    :param pipeline: merges overrides into image properties
    """

    def __init__(self, pipeline: pipeline_module.Pipeline) -> None:
        super().__init__()
        self._pipeline = pipeline
        self._scheduler = host_scheduling.HostScheduler()
        self.compute_task_api = ComputeTaskAPI()

    def get(
        self, context: typing.Any, instance_id: str,
        expected_attrs: list[str] | None = None, **kwargs: typing.Any,
    ) -> typing.Any:
        """Get one instance, with what our responses show of it."""
        return super().get(
            context, instance_id,
            expected_attrs=_with_record(context, expected_attrs), **kwargs)

    def get_all(
        self, context: typing.Any,
        search_opts: dict[str, typing.Any] | None = None,
        limit: int | None = None, marker: str | None = None,
        expected_attrs: list[str] | None = None, **kwargs: typing.Any,
    ) -> typing.Any:
        """Get the instances asked for, with what our responses show of them.

        From compute 2.73 on, Nova loads system metadata anyway; below that,
        asking for it costs one query for each list, not for each server.
        """
        get_all = functools.partial(
            super().get_all, context,
            expected_attrs=_with_record(context, expected_attrs))
        request = request_module.naming(context)
        if request is None or not request.found:
            return get_all(search_opts=search_opts, limit=limit,
                           marker=marker, **kwargs)
        # Nothing is known about the servers of a cell that is down, so they
        # are left out, as they are for each of Nova's own filters
        # (ServersController._is_cell_down_supported).
        return server_filter.servers(
            functools.partial(
                get_all, **{**kwargs, 'cell_down_support': False}),
            context, request.found, search_opts or {}, limit, marker)

    # --- create -------------------------------------------------------------

    def create(
        self, context: typing.Any, *args: typing.Any,
        auto_disk_config: bool | None = None, **kwargs: typing.Any,
    ) -> typing.Any:
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

    def _validate_and_build_base_options(
        self, context: typing.Any, flavor: typing.Any,
        boot_meta: dict[str, typing.Any], *args: typing.Any,
        **kwargs: typing.Any,
    ) -> typing.Any:
        # Nova's _create_instance calls this for image and volume boots alike,
        # before anything is created and before anything but auto_disk_config
        # reads the boot metadata.
        request = request_module.naming(context)
        if request is None or not request.overrides:
            return super()._validate_and_build_base_options(
                context, flavor, boot_meta, *args, **kwargs)
        with faults.translated():
            merged = self._pipeline.run(
                context, pipeline_module.Change(
                    request.overrides, request.overrides), flavor, boot_meta)
        boot_meta.update(merged.image)
        request.record = merged.record
        if request.auto_disk_config is not None:
            bound = _BASE_OPTIONS.bind(
                self, context, flavor, boot_meta, *args, **kwargs)
            bound.arguments['auto_disk_config'] = request.auto_disk_config
            args, kwargs = bound.args[4:], bound.kwargs
        return super()._validate_and_build_base_options(
            context, flavor, boot_meta, *args, **kwargs)

    def _populate_instance_for_create(
        self, context: typing.Any, instance: typing.Any,
        image: dict[str, typing.Any], *args: typing.Any, **kwargs: typing.Any,
    ) -> typing.Any:
        # Nova calls this for each server before any of it is saved.
        request = request_module.naming(context)
        if request is not None and request.overrides and not request.record:
            raise interface.unsupported(
                'creates servers past _validate_and_build_base_options, '
                'which merges their overrides')
        instance = super()._populate_instance_for_create(
            context, instance, image, *args, **kwargs)
        if request is not None:
            instance.system_metadata.update(request.record)
            if request.is_check:
                raise check.Checked(check.answer(
                    self._pipeline.catalog, image, instance,
                    record.image_values(request.record),
                    self._pipeline.virt_drivers))
            if request.overrides:
                audit.changed(
                    context, audit.AT_BOOT, request.overrides, instance)
        return instance

    # --- rebuild ------------------------------------------------------------

    def rebuild(
        self, context: typing.Any, instance: typing.Any, image_href: str,
        *args: typing.Any, **kwargs: typing.Any,
    ) -> typing.Any:
        """Rebuild with the overrides in force, or with those asked for."""
        request = request_module.of(context) or request_module.attach(
            context, request_module.OverrideRequest())
        pending = rebuild.Rebuild.begin(instance, request.overrides)
        if pending is None:
            return super().rebuild(
                context, instance, image_href, *args, **kwargs)
        if pending.overrides:
            with faults.translated():
                compute_capability.require(
                    context, instance, 'rebuilt', pending.remedy)
        with request.rebuilding(pending):
            return super().rebuild(
                context, instance, image_href, *args, **kwargs)

    def _get_image(
        self, context: typing.Any, image_href: str,
    ) -> tuple[str | None, dict[str, typing.Any]]:
        # Nova's rebuild fetches the image here, before anything reads it and
        # before anything is saved. The overrides of a create are merged later,
        # at a point that boots from volume pass too.
        image_id, image = super()._get_image(context, image_href)
        pending = request_module.rebuild_of(context)
        if pending is not None:
            with faults.translated():
                pending.merge(
                    self._pipeline, context, image,
                    self._validate_numa_rebuild)
        return image_id, image

    def _handle_kernel_and_ramdisk(
        self, context: typing.Any, kernel_id: typing.Any,
        ramdisk_id: typing.Any, image: dict[str, typing.Any],
    ) -> typing.Any:
        # Nova's rebuild calls this when all its own checks have passed, and
        # saves the instance next.
        pending = request_module.rebuild_of(context)
        if pending is not None:
            with faults.translated():
                pending.schedule(
                    context, self._scheduler, functools.partial(
                        self._image_changes, context, pending.instance,
                        image))
        return super()._handle_kernel_and_ramdisk(
            context, kernel_id, ramdisk_id, image)

    def _image_changes(
        self, context: typing.Any, instance: typing.Any,
        image: dict[str, typing.Any],
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

    def _record_action_start(
        self, context: typing.Any, instance: typing.Any, action: str,
        *args: typing.Any, **kwargs: typing.Any,
    ) -> typing.Any:
        # Nova's rebuild calls this after system metadata is saved and before
        # anything is sent. It updates the request spec only for a new image.
        pending = request_module.rebuild_of(context)
        if pending is not None and action == instance_actions.REBUILD:
            pending.save(context)
        return super()._record_action_start(
            context, instance, action, *args, **kwargs)

    # --- update -------------------------------------------------------------

    def update_instance(
        self, context: typing.Any, instance: typing.Any,
        updates: dict[str, typing.Any],
    ) -> typing.Any:
        """Update a server, and replace its overrides if asked to."""
        save = functools.partial(
            super().update_instance, context, instance, updates)
        request = request_module.naming(context)
        if request is None or request.overrides is None:
            return save()
        with faults.carried():
            pending = update.Update.begin(
                context, instance, request.overrides)
            pending.check(
                self._pipeline, context, self._scheduler,
                self._validate_numa_rebuild)
            return pending.store(context, functools.partial(
                self._record_update, context, instance, save))

    def _record_update(
        self, context: typing.Any, instance: typing.Any,
        save: collections.abc.Callable[[], typing.Any],
    ) -> typing.Any:
        self._record_action_start(context, instance, update.ACTION)
        with compute_utils.EventReporter(
                context, f'api_{update.ACTION}', self.host, instance.uuid):
            return save()

    # --- what needs the compute part on the host ----------------------------

    def rescue(
        self, context: typing.Any, instance: typing.Any, *args: typing.Any,
        **kwargs: typing.Any,
    ) -> typing.Any:
        """Rescue a server if its host keeps its overrides."""
        if record.in_force(instance.system_metadata):
            with faults.translated():
                compute_capability.require(
                    context, instance, 'rescued',
                    'or rebuild it with an empty image_props_override')
        return super().rescue(context, instance, *args, **kwargs)

    def resize(
        self, context: typing.Any, instance: typing.Any, *args: typing.Any,
        host_name: str | None = None, **kwargs: typing.Any,
    ) -> typing.Any:
        """Resize or cold-migrate a server if its NUMA nodes are kept."""
        overrides = record.in_force(instance.system_metadata)
        if any(families.NUMA_CPUS.has(name) or families.NUMA_MEM.has(name)
               for name in overrides):
            with faults.translated():
                # Nova takes the NUMA nodes of a cold migration from a form of
                # the request spec that has lost its cells
                # (nova/conductor/tasks/migrate.py and
                # ImageMetaProps.from_dict); the compute part on the
                # destination repairs it.
                compute_capability.require_anywhere(
                    context, host_name, 'its NUMA nodes (hw_numa_cpus.N, '
                    'hw_numa_mem.N) could be lost on a host that it is moved '
                    'to')
        return super().resize(
            context, instance, *args, host_name=host_name, **kwargs)

    def _check_quota_for_upsize(
        self, context: typing.Any, instance: typing.Any,
        current_flavor: typing.Any, new_flavor: typing.Any, is_bfv: bool,
        is_revert: bool,
    ) -> None:
        # Nova's resize calls this (a static method) once the server may be
        # resized and before anything is changed. What Nova then says about
        # flavor and image does not mention overrides, and is a 500 for some.
        super()._check_quota_for_upsize(
            context, instance, current_flavor, new_flavor, is_bfv, is_revert)
        if not is_revert and record.has_overrides(instance.system_metadata):
            with faults.translated():
                validation.check_resize(
                    self._pipeline.catalog, new_flavor, instance)

    def _allow_cross_cell_resize(
        self, context: typing.Any, instance: typing.Any, *args: typing.Any,
        **kwargs: typing.Any,
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
        context: typing.Any, expected_attrs: list[str] | None,
) -> list[str] | None:
    if request_module.naming(context) is None or expected_attrs is None:
        return expected_attrs
    return sorted({*expected_attrs, 'system_metadata'})
