"""The matrix says what Nova's source says, in each supported release."""

import json

import pytest

from nova_image_override.properties import drivers
from tests.unit import nova_reads
from tests.unit.properties import test_schema

#: Mentions that are no reads of the property: why.
NO_READS = {
    ('os_type', 'vmwareapi'): 'VMwareImage\'s own word for os_distro',
    ('os_type', 'ironic'): 'of the volume connector',
    ('hw_firmware_type', 'scheduler'): 'for a message about encrypted memory',
    ('hw_machine_type', 'scheduler'): 'for a message about encrypted memory',
}

CELLS = [(field, part, cell) for field, row in drivers.ROWS.items()
         for part, cell in row.items()]


def test_every_field_of_this_nova_has_its_row():
    assert nova_reads.FIELDS - drivers.ROWS.keys() == set()


def test_no_row_is_of_what_no_supported_release_has(catalog):
    known = set(catalog)
    for path in test_schema.files():
        known |= json.loads(path.read_text())['properties'].keys()
    assert drivers.ROWS.keys() - known == set()


def test_every_function_that_is_named_reads_its_property():
    found = nova_reads.found()
    assert [(field, part, cell.reads) for field, part, cell in CELLS
            if field in found and not found[field][part].intersection(
                (cell.reads, cell.formerly))] == []


def test_no_driver_and_no_scheduler_reads_what_the_matrix_does_not_know():
    parts = {*drivers.DRIVERS, drivers.SCHEDULER}
    assert {
        (field, part): names
        for field, readers in nova_reads.found().items()
        for part, names in readers.items() if names and part in parts
        and part not in drivers.ROWS[field]
        and (field, part) not in NO_READS} == {}


def test_what_is_no_read_is_still_mentioned():
    found = nova_reads.found()
    assert [key for key in NO_READS if not found[key[0]][key[1]]] == []


@pytest.mark.parametrize(
    ('field', 'part', 'cell'), CELLS,
    ids=[f'{field}-{part}' for field, part, _ in CELLS])
def test_a_cell_says_when_and_of_a_column_that_there_is(field, part, cell):
    assert part in drivers.PARTS
    assert cell.at
    assert cell.outcome in (drivers.ACTS, drivers.REQUIRES, drivers.CHECKS,
                            drivers.IGNORED, drivers.ERROR)
    assert cell.outcome not in (drivers.IGNORED, drivers.ERROR) or cell.note


def test_the_values_of_a_cell_are_the_property_s(catalog):
    for field, part, cell in CELLS:
        if cell.values and field in catalog and catalog[field].values:
            assert {*cell.values} < {*catalog[field].values}, (field, part)


def test_what_a_cell_needs_is_a_property():
    for _, _, cell in CELLS:
        for name, _ in cell.needs.values():
            assert name in drivers.ROWS


def outcome(driver, field, value, **others):
    return drivers.outcome(driver, field, value, {field: value, **others})


@pytest.mark.parametrize(('field', 'value', 'others', 'kind'), [
    ('hw_disk_bus', 'ide', {}, drivers.ACTS),
    ('hw_disk_bus', 'virtio', {}, drivers.IGNORED),
    ('hw_disk_bus', 'scsi', {}, drivers.IGNORED),
    ('hw_disk_bus', 'scsi', {'hw_scsi_model': 'vmpvscsi'}, drivers.ACTS),
    ('hw_scsi_model', 'vmpvscsi', {}, drivers.IGNORED),
    ('hw_scsi_model', 'vmpvscsi', {'hw_disk_bus': 'ide'}, drivers.IGNORED),
    ('hw_scsi_model', 'vmpvscsi', {'hw_disk_bus': 'scsi'}, drivers.ACTS),
    ('hw_scsi_model', 'virtio-scsi', {'hw_disk_bus': 'scsi'},
     drivers.IGNORED),
    ('hw_vif_model', 'virtio', {}, drivers.ERROR),
    ('hw_vif_model', 'vmxnet3', {}, drivers.ACTS),
    ('hw_video_ram', '32', {}, drivers.ERROR),
    ('hw_disk_type', 'qcow', {}, drivers.ERROR),
    ('hw_boot_menu', 'true', {}, drivers.IGNORED),
    # The scheduler picks hosts by it.
    ('img_hv_type', 'vmware', {}, drivers.ACTS),
])
def test_vmware_takes_what_it_takes(field, value, others, kind):
    found = outcome('vmwareapi', field, value, **others)
    assert found.kind == kind
    assert bool(found.why) == (kind != drivers.ACTS)


@pytest.mark.parametrize(('driver', 'field', 'kind'), [
    ('ironic', 'traits_required', drivers.ACTS),
    ('ironic', 'hw_disk_bus', drivers.IGNORED),
    ('zvm', 'os_distro', drivers.ACTS),
    ('zvm', 'os_type', drivers.IGNORED),
    ('libvirt', 'hw_vif_model', drivers.ACTS),
    ('libvirt', 'hw_disk_type', drivers.IGNORED),
    ('fake', 'hw_disk_bus', drivers.IGNORED),
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
