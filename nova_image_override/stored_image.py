"""A server's image properties, as nova-api stored them."""

from __future__ import annotations

from typing import Any

from nova import objects
from nova import utils as nova_utils

from nova_image_override import override_record as record
from nova_image_override.properties import book


def image(instance: objects.Instance) -> dict[str, Any]:
    """Return metadata of a server's image, as its hard reboot reads it."""
    return nova_utils.get_image_from_system_metadata({
        key: value for key, value
        in nova_utils.instance_sys_meta(instance).items()
        if key.startswith(record.IMAGE_PREFIX) and not record.is_row(key)})


def properties(instance: objects.Instance) -> dict[str, Any]:
    """Return a server's image properties, as its hard reboot reads them."""
    return image(instance)['properties']


def properties_without_overrides(instance: objects.Instance) -> dict[str, Any]:
    """Return a server's image properties as its image has them."""
    result = properties(instance)
    for name, value in record.image_values(instance.system_metadata).items():
        result.pop(name, None)
        alias = name in book.RECORDS and book.RECORDS[name].read_as
        if alias:
            result.pop(alias, None)
        if value is not None:
            result[name] = value
    return result


def with_stored_properties(
        boot_image: dict[str, Any], instance: objects.Instance,
) -> dict[str, Any]:
    """Return BOOT_IMAGE as a server with overrides was built from it."""
    if not record.has_overrides(instance.system_metadata):
        return boot_image
    return {**boot_image, 'properties': properties(instance)}


def with_snapshots_disk(
        snapshot: dict[str, Any], instance: objects.Instance,
) -> dict[str, Any]:
    """Return SNAPSHOT as a server with overrides is built from it.

    The disk in it has the type that the driver gave it, whatever the type of
    the disk that the server was booted from.
    """
    result = with_stored_properties(snapshot, instance)
    # nova/virt/vmwareapi/images.py upload_image_stream_optimized, under the
    # legacy name. Nova reads the current one if there are both.
    written = snapshot['properties'].get('vmware_disktype')
    if written and result is not snapshot:
        result['properties']['hw_disk_type'] = written
    return result
