"""The compute manager that builds guests from the stored properties.

Unmodified nova-compute re-reads the image from Glance (or takes a lossy form
of the request spec) for rebuild, rescue, cold migration, resize and unshelve.
nova-api has stored the merged properties in the instance's system metadata;
for servers with overrides these replace the re-read ones. Servers without
overrides pass through unchanged.
"""
from __future__ import annotations

import copy
from typing import Any

from nova.compute import manager
from nova.compute import resource_tracker
from nova.virt.ironic import driver as ironic

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.compute import rescue_images
from nova_image_override.nova_interfaces import interface
from nova_image_override.server_record import ServerRecord


class ResourceTracker(resource_tracker.ResourceTracker):
    """Nova's resource tracker, with one more entry in the compute node's stats.

    Stats are rewritten whenever nova-compute starts, so the entry goes away
    with the compute part.
    """

    @interface.overrides
    def _copy_resources(
        self, compute_node: Any, resources: dict[str, Any],
        *args: Any, **kwargs: Any,
    ) -> Any:
        """Add to the stats that this host keeps overrides."""
        stats = {**(resources.get('stats') or {}),
                 errors.PARAMETER: str(versions.COMPUTE_PART)}
        return super()._copy_resources(
            compute_node, {**resources, 'stats': stats}, *args, **kwargs)


def forget_traits(metal: ironic.IronicDriver, instance: Any) -> None:
    """Remove from a server's node the traits that it has required so far.

    ``IronicDriver.rebuild`` adds those that the server requires now, before
    Ironic deploys, and removes none: the deploy templates of overrides that
    were dropped would run again.

    :raises openstack.exceptions.SDKException: Ironic refuses, or is away
    """
    connection = metal.ironic_connection
    found = connection.get_node(instance.node, fields=['instance_info'])
    if 'traits' in found.instance_info:
        connection.patch_node(instance.node, [
            {'op': 'remove', 'path': '/instance_info/traits'}])


class ComputeManager(manager.ComputeManager):
    """Nova's compute manager, which keeps overrides.

    :raises nova_image_override.errors.UnsupportedNova: Nova's own lacks an
        attribute
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        interface.require(self, 'driver', 'host', 'reportclient', 'rt')
        self.rt = ResourceTracker(
            self.host, self.driver, reportclient=self.reportclient)
        rescue_images.keep_stored_properties(self.driver)

    @interface.overrides
    def _do_rebuild_instance_with_claim(
        self, context: Any, instance: Any, orig_image_ref: Any,
        image_meta: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Rebuild with the stored properties, not with those from Glance."""
        # The instance came with the message, as nova-api's rebuild saved it.
        if ServerRecord.of(instance).counts:
            image_meta.properties = instance.image_meta.properties
        if isinstance(self.driver, ironic.IronicDriver):
            forget_traits(self.driver, instance)
        return super()._do_rebuild_instance_with_claim(
            context, instance, orig_image_ref, image_meta, *args, **kwargs)

    @interface.overrides
    def _get_rescue_image(
        self, context: Any, instance: Any, rescue_image_ref: str | None = None,
    ) -> Any:
        """Get the image of a rescue, with the stored properties."""
        image_meta = super()._get_rescue_image(
            context, instance, rescue_image_ref)
        if ServerRecord.of(instance).counts:
            own = instance.image_meta.properties
            if not rescue_image_ref:
                image_meta.properties = own
            elif 'hw_machine_type' not in image_meta.properties and (
                    'hw_machine_type' in own):
                # Otherwise LibvirtDriver._configure_guest_by_virt_type would
                # store the host's default over the server's machine type, for
                # good.
                image_meta.properties.hw_machine_type = own.hw_machine_type
        return image_meta

    @interface.overrides
    def rescue_instance(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Rescue an instance; a stable rescue keeps its overrides."""
        if ServerRecord.of(instance).counts:
            context = copy.copy(context)
            rescue_images.mark(context, instance)
        return super().rescue_instance(context, instance, *args, **kwargs)

    @interface.overrides
    def _prep_resize(
        self, context: Any, image: dict[str, Any],
        instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Restore NUMA nodes, which this form of the request spec has lost."""
        # The claim is made here, and the image goes on to resize_instance
        # and finish_resize, which builds the guest.
        return super()._prep_resize(
            context, ServerRecord.of(instance).over(image),
            instance, *args, **kwargs)

    @interface.overrides
    def _finish_snapshot_based_resize_at_dest_spawn(
        self, ctxt: Any, instance: Any, migration: Any,
        image_meta: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Build the guest with the stored properties, not its snapshot's."""
        if ServerRecord.of(instance).counts:
            snapshot = image_meta.properties
            image_meta.properties = instance.image_meta.properties
            if 'hw_disk_type' in snapshot:
                image_meta.properties.hw_disk_type = snapshot.hw_disk_type
        return super()._finish_snapshot_based_resize_at_dest_spawn(
            ctxt, instance, migration, image_meta, *args, **kwargs)

    @interface.overrides
    def _unshelve_instance(
        self, context: Any, instance: Any, image: dict[str, Any] | None,
        *args: Any, **kwargs: Any,
    ) -> Any:
        """Restore what snapshots do not inherit, and so the shelved image."""
        return super()._unshelve_instance(
            context, instance,
            image and ServerRecord.of(instance).over_snapshot(image),
            *args, **kwargs)
