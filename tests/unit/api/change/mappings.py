"""Block device mappings of servers."""

from nova import objects

IDE = {'hw_disk_bus': 'ide'}


def disk(name, bus='virtio', boot_index=None, device_type='disk', **more):
    return objects.BlockDeviceMapping(
        device_name=name and f'/dev/{name}', disk_bus=bus,
        boot_index=boot_index, device_type=device_type,
        **{'source_type': 'volume', 'destination_type': 'volume',
           'guest_format': None, **more})


def root(name, bus='virtio'):
    return disk(name, bus, 0)
