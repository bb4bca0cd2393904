"""A server's image properties, as nova-api stored them."""

from nova import objects
import pytest

from nova_image_override import stored_image


def server(**rows):
    return objects.Instance(
        uuid='5a3c8f0e-1d2b-4c6a-9e7f-0b1d2c3a4e5f', system_metadata=rows)


def overridden(**rows):
    return server(**{
        'image_hw_firmware_type': 'uefi',
        'image_os_glance_override:hw_firmware_type': ''}, **rows)


def snapshot(**properties):
    return {'id': 'a-snapshot', 'properties': properties}


@pytest.mark.parametrize('stored', [
    {}, {'image_hw_disk_type': 'thin'}, {'image_vmware_disktype': 'sparse'}])
def test_a_snapshot_s_disk_has_the_type_that_vmware_s_driver_wrote(stored):
    image = stored_image.with_snapshots_disk(
        snapshot(vmware_disktype='streamOptimized'), overridden(**stored))
    read = objects.ImageMeta.from_dict(image).properties
    assert read.hw_disk_type == 'streamOptimized'
    assert read.hw_firmware_type == 'uefi'


def test_no_type_is_made_up_for_other_drivers_snapshots():
    image = stored_image.with_snapshots_disk(
        snapshot(hw_disk_type='preallocated'), overridden())
    assert image == {
        'id': 'a-snapshot', 'properties': {'hw_firmware_type': 'uefi'}}


def test_the_snapshot_of_a_server_without_overrides_is_nova_s_own():
    image = snapshot(vmware_disktype='streamOptimized', hw_disk_type='thin')
    assert stored_image.with_snapshots_disk(
        image, server(image_hw_disk_type='thin')) is image


def test_the_snapshot_itself_is_left_alone():
    image = snapshot(vmware_disktype='streamOptimized')
    stored_image.with_snapshots_disk(image, overridden())
    assert image == snapshot(vmware_disktype='streamOptimized')
