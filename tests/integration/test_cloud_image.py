"""Disks that the kernel of Debian's cloud images finds, and those it does not.

It has fewer drivers than the guest of all other tests.
"""

import pytest

from testing.deployment import guest
from testing.deployment import places
from testing.deployment import tenants
from tests.integration import firmware


@pytest.fixture(scope='module')
def image(deployment):
    """An image with that kernel."""
    images = deployment.operator.image
    made = []

    def create(*what, **properties):
        made.append(tenants.upload(images, 'test-cloud', *what, **properties))
        return made[-1]

    files = guest.Guest(deployment.state, 'guest-cloud', guest.CLOUD_KERNEL)
    files.make()
    yield create(
        files.disk, kernel_id=create(files.kernel, 'aki', 'aki'),
        ramdisk_id=create(files.initrd, 'ari', 'ari'))
    for each in made:
        images.delete_image(each)


@pytest.mark.parametrize(('overrides', 'disks'), [
    ({}, ['vda']), (places.SCSI, ['sda']), ({'hw_disk_bus': 'ide'}, ['sda']),
    # An LSI controller, and AHCI: the guest runs, and has no disk.
    ({'hw_disk_bus': 'scsi'}, []), ({'hw_disk_bus': 'sata'}, []),
    ({**firmware.UEFI, **places.SCSI}, ['sda'])])
def test_some_buses_have_a_driver(boot, image, overrides, disks):
    server = boot(overrides, image=image, flavor='uefi')
    assert server.told.disks == disks
    bus = server.domain.find("devices/disk[@device='disk']/target").get('bus')
    assert bus == overrides.get('hw_disk_bus', 'virtio')
