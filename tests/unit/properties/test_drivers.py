"""What a virt driver makes of a property, which the API is to report."""

import pytest

from nova_image_override.properties import driver_matrix as matrix
from nova_image_override.properties import drivers


def outcome(driver, field, value, **others):
    return drivers.outcome(driver, field, value, {field: value, **others})


@pytest.mark.parametrize(('field', 'value', 'others', 'kind'), [
    ('hw_disk_bus', 'ide', {}, matrix.ACTS),
    ('hw_disk_bus', 'virtio', {}, matrix.IGNORED),
    ('hw_disk_bus', 'scsi', {}, matrix.IGNORED),
    ('hw_disk_bus', 'scsi', {'hw_scsi_model': 'vmpvscsi'}, matrix.ACTS),
    ('hw_scsi_model', 'vmpvscsi', {}, matrix.IGNORED),
    ('hw_scsi_model', 'vmpvscsi', {'hw_disk_bus': 'ide'}, matrix.IGNORED),
    ('hw_scsi_model', 'vmpvscsi', {'hw_disk_bus': 'scsi'}, matrix.ACTS),
    ('hw_scsi_model', 'virtio-scsi', {'hw_disk_bus': 'scsi'},
     matrix.IGNORED),
    ('hw_vif_model', 'virtio', {}, matrix.ERROR),
    ('hw_vif_model', 'vmxnet3', {}, matrix.ACTS),
    ('hw_video_ram', '32', {}, matrix.ERROR),
    ('hw_disk_type', 'qcow', {}, matrix.ERROR),
    ('hw_boot_menu', 'true', {}, matrix.IGNORED),
    ('img_config_drive', 'mandatory', {}, matrix.ERROR),
    ('img_config_drive', 'optional', {}, matrix.ACTS),
    # The scheduler picks hosts by it.
    ('img_hv_type', 'vmware', {}, matrix.ACTS),
])
def test_vmware_takes_what_it_takes(field, value, others, kind):
    found = outcome('vmwareapi', field, value, **others)
    assert found.kind == kind
    assert bool(found.why) == (kind != matrix.ACTS)


@pytest.mark.parametrize(('driver', 'field', 'kind'), [
    ('ironic', 'traits_required', matrix.ACTS),
    ('ironic', 'hw_disk_bus', matrix.IGNORED),
    ('zvm', 'os_distro', matrix.ACTS),
    ('zvm', 'os_type', matrix.IGNORED),
    ('libvirt', 'hw_vif_model', matrix.ACTS),
    ('libvirt', 'hw_disk_type', matrix.IGNORED),
    ('fake', 'hw_disk_bus', matrix.IGNORED),
])
def test_a_driver_acts_on_what_it_reads(driver, field, kind):
    assert outcome(driver, field, None).kind == kind


def test_a_reason_says_what_the_driver_needs():
    assert outcome('vmwareapi', 'hw_disk_bus', 'scsi').why == (
        'vmwareapi takes ide, scsi, and needs hw_scsi_model for scsi')
    assert outcome('vmwareapi', 'hw_scsi_model', 'lsilogic').why.endswith(
        ', and needs hw_disk_bus=scsi')
    assert outcome('zvm', 'hw_disk_bus', 'scsi').why == (
        'zvm does not read it')


def test_what_no_code_reads_acts_nowhere():
    assert drivers.acting('hw_ipxe_boot') == []
    assert drivers.acting('hw_of_a_later_nova') == []
    assert drivers.acting('traits_required') == ['ironic', 'scheduler']


@pytest.mark.parametrize(('field', 'value', 'can'), [
    ('traits_required', 'required', True), ('hw_vm_mode', 'hvm', True),
    ('hw_disk_bus', 'ide', True), ('hw_disk_bus', 'virtio', False),
    ('hw_disk_bus', None, True), ('hw_boot_menu', None, False),
    ('hw_video_ram', '32', False)])
def test_vmware_can_act_on_what_it_reads_or_the_scheduler_does(
        field, value, can):
    assert drivers.can_act('vmwareapi', field, value) is can
