"""The book says what Nova's source says, in each supported release."""

import contextlib
import pathlib
import runpy

from nova import exception
from nova import objects
from nova.objects import image_meta
from nova.virt import hardware
import pytest

from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.properties import book
from nova_image_override.properties import property as property_module
from nova_image_override.properties.book import vocabulary
from testing import release
from tests.unit import nova_reads
from tests.unit.api.guest import guests
from tests.unit.properties import published

#: Mentions that do not read the property -> why.
NO_READS = {
    ('os_type', 'vmwareapi'): 'VMwareImage\'s own word for os_distro',
    ('os_type', 'ironic'): 'of the volume connector',
    ('hw_firmware_type', 'scheduler'): 'for a message about encrypted memory',
    ('hw_machine_type', 'scheduler'): 'for a message about encrypted memory',
}

READERS = [(name, reader) for name, record in book.RECORDS.items()
           for reader in record.readers]
#: The documentation's rows: property, row.
ROWS = [(name, row) for name, rows in runpy.run_path(str(
    pathlib.Path(__file__).parents[3] / 'docs/source/_ext/readers.py'))[
        'READERS'].items() for row in rows]


def test_every_field_of_this_nova_has_its_record(catalog):
    assert nova_reads.FIELDS - book.RECORDS.keys() == set()
    assert catalog.unknown == []


def test_no_record_is_of_what_no_supported_release_has(catalog):
    # Not in the schema, because it can never be overridden.
    release.need('hw_ephemeral_encryption_secret_uuid')
    known = catalog.keys() | published.copy()['properties'].keys()
    assert book.RECORDS.keys() - known == set()


def test_a_property_is_in_one_file_under_its_own_name():
    assert sum(map(len, book.PURPOSES.values())) == len(book.RECORDS)
    assert all(name == record.name for name, record in book.RECORDS.items())


# --- who reads it -----------------------------------------------------------

def test_every_function_that_is_named_reads_its_property():
    # Nova 26 and 27 read it elsewhere.
    release.need('hw_ephemeral_encryption_secret_uuid')
    found = nova_reads.found()
    assert [(name, row) for name, row in ROWS
            if name in found and not found[name][row.part].intersection(
                (row.function, row.formerly))] == []


def test_no_driver_and_no_scheduler_reads_what_no_row_names():
    parts = {*vocabulary.DRIVERS, vocabulary.SCHEDULER}
    assert {
        (field, part): names
        for field, readers in nova_reads.found().items()
        for part, names in readers.items() if names and part in parts
        and (field, part) not in {(name, row.part) for name, row in ROWS}
        and (field, part) not in NO_READS} == {}


def test_what_is_no_read_is_still_mentioned():
    found = nova_reads.found()
    assert [key for key in NO_READS if not found[key[0]][key[1]]] == []


@pytest.mark.parametrize(('name', 'reader'), READERS, ids=[
    f'{name}-{reader.part}' for name, reader in READERS])
def test_a_reader_is_a_part_with_an_outcome_and_a_reason(name, reader):
    assert reader.part in vocabulary.PARTS
    assert reader.outcome in (
        vocabulary.ACTS, vocabulary.IGNORED, vocabulary.ERROR)
    assert (reader.outcome != vocabulary.ACTS) == bool(reader.note)


@pytest.mark.parametrize(('name', 'row'), ROWS, ids=[
    f'{name}-{row.part}' for name, row in ROWS])
def test_a_function_has_operations_and_an_outcome_in_one_place(name, row):
    assert row.at
    # The book has the outcome of what decides; the rest is only documented.
    assert bool(row.outcome) != bool(book.RECORDS[name].reader(row.part))


def test_a_part_that_decides_has_one_function_of_nova():
    parts = [(name, row.part) for name, row in ROWS]
    assert len({*parts}) == len(parts)
    assert {(name, reader.part) for name, reader in READERS} <= {*parts}


def test_the_values_of_a_reader_are_the_property_s(catalog):
    for name, reader in READERS:
        if reader.values and name in catalog and catalog[name].values:
            # Up to Nova 27, hw_vif_model has no igb.
            assert {*reader.values} - {'igb'} < {*catalog[name].values}, name


def test_what_a_reader_needs_is_a_property():
    for _, reader in READERS:
        for name, _ in reader.needs.values():
            assert name in book.RECORDS


# --- who checks it ----------------------------------------------------------

class _Watched(image_meta.ImageMetaProps):
    """Image properties that remember which of them were read."""

    read: set[str] = set()

    @classmethod
    def obj_name(cls):
        return objects.ImageMetaProps.obj_name()

    def obj_attr_is_set(self, attrname):
        _Watched.read.add(attrname)
        return super().obj_attr_is_set(attrname)

    def __getattribute__(self, name):
        if name in image_meta.ImageMetaProps.fields:
            _Watched.read.add(name)
        return super().__getattribute__(name)


#: Guests with which Nova's functions come to read all that they ever read.
GUESTS = (
    {}, {'hw_locked_memory': False}, {'hw_mem_encryption': 'true'},
    {'hw_tpm_version': '2.0'}, {'hw_numa_nodes': '1'})
REALTIME = guests.flavor(hw__cpu_realtime='yes', hw__cpu_policy='dedicated',
                         hw__cpu_realtime_mask='^0')


@pytest.mark.parametrize(
    'function', [each for each in api_interfaces.CONSTRAINTS if each.needed],
    ids=str)
def test_the_book_knows_which_properties_a_function_of_nova_checks(function):
    _Watched.read.clear()
    for properties in GUESTS:
        image = guests.image(**properties)
        image.properties.__class__ = _Watched
        with contextlib.suppress(exception.NovaException):
            getattr(hardware, function.name)(REALTIME, image)
    known = {each for each in api_interfaces.CHECKED[function.name]
             if each in image_meta.ImageMetaProps.fields}
    # Up to 33, Nova knows one way to encrypt memory.
    assert known <= _Watched.read | {'hw_mem_encryption_model'}
    # What encrypted memory needs is not what these functions are about.
    assert _Watched.read - known <= {
        'hw_firmware_type', 'hw_machine_type', 'hw_firmware_stateless',
        'hw_video_model', 'hw_mem_encryption', 'hw_mem_encryption_model'}


# --- what it says -----------------------------------------------------------

@pytest.mark.parametrize('name', sorted(book.RECORDS))
def test_every_record_says_what_the_property_does(name):
    text = book.RECORDS[name].description
    assert text.endswith('.')
    assert text[0].isupper() or text.startswith('vCPUs')
    assert text == ' '.join(text.split())


def test_every_integer_has_a_range_and_nothing_else_has_one(catalog):
    for field, prop in catalog.items():
        limits = prop.record.limits
        if isinstance(prop, property_module.Integer):
            assert 0 <= limits.minimum < limits.maximum, field
        else:
            assert (limits.minimum, limits.maximum) == (0, 0), field


def test_every_grammar_is_said_in_words_too(catalog):
    for field, prop in catalog.items():
        if prop.record.limits.pattern:
            assert isinstance(prop, property_module.Text), field
            assert prop.record.limits.expects, field


def test_what_nova_can_ignore_says_what_it_needs_or_which_flavor_wins():
    for name, record in book.RECORDS.items():
        assert not record.gets or (
            record.needs or record.idle or record.flavor), name


# --- what comes of it with a driver -----------------------------------------

def outcome(driver, field, value, **others):
    return book.RECORDS[field].outcome(driver, value, {field: value, **others})


@pytest.mark.parametrize(('field', 'value', 'others', 'kind'), [
    ('hw_disk_bus', 'ide', {}, vocabulary.ACTS),
    ('hw_disk_bus', 'virtio', {}, vocabulary.IGNORED),
    ('hw_disk_bus', 'scsi', {}, vocabulary.IGNORED),
    ('hw_disk_bus', 'scsi', {'hw_scsi_model': 'vmpvscsi'}, vocabulary.ACTS),
    ('hw_scsi_model', 'vmpvscsi', {}, vocabulary.IGNORED),
    ('hw_scsi_model', 'vmpvscsi', {'hw_disk_bus': 'ide'},
     vocabulary.IGNORED),
    ('hw_scsi_model', 'vmpvscsi', {'hw_disk_bus': 'scsi'}, vocabulary.ACTS),
    ('hw_scsi_model', 'virtio-scsi', {'hw_disk_bus': 'scsi'},
     vocabulary.IGNORED),
    ('hw_vif_model', 'virtio', {}, vocabulary.ERROR),
    ('hw_vif_model', 'vmxnet3', {}, vocabulary.ACTS),
    ('hw_video_ram', '32', {}, vocabulary.ERROR),
    ('hw_disk_type', 'qcow', {}, vocabulary.ERROR),
    ('hw_boot_menu', 'true', {}, vocabulary.IGNORED),
    ('img_config_drive', 'mandatory', {}, vocabulary.ERROR),
    ('img_config_drive', 'optional', {}, vocabulary.ACTS),
    # The scheduler picks hosts by it.
    ('img_hv_type', 'vmware', {}, vocabulary.ACTS),
])
def test_vmware_takes_what_it_takes(field, value, others, kind):
    found, why = outcome('vmwareapi', field, value, **others)
    assert found == kind
    assert bool(why) == (kind != vocabulary.ACTS)


@pytest.mark.parametrize(('driver', 'field', 'kind'), [
    ('ironic', 'traits_required', vocabulary.ACTS),
    ('ironic', 'hw_disk_bus', vocabulary.IGNORED),
    ('zvm', 'os_distro', vocabulary.ACTS),
    ('zvm', 'os_type', vocabulary.IGNORED),
    ('libvirt', 'hw_vif_model', vocabulary.ACTS),
    ('libvirt', 'hw_disk_type', vocabulary.IGNORED),
    ('fake', 'hw_disk_bus', vocabulary.IGNORED),
])
def test_a_driver_acts_on_what_it_reads(driver, field, kind):
    assert outcome(driver, field, 'virtio')[0] == kind


def test_a_reason_says_what_the_driver_needs():
    assert outcome('vmwareapi', 'hw_disk_bus', 'scsi')[1] == (
        'vmwareapi takes ide, scsi, and needs hw_scsi_model for scsi')
    assert outcome('vmwareapi', 'hw_scsi_model', 'lsilogic')[1].endswith(
        ', and needs hw_disk_bus=scsi')
    assert outcome('zvm', 'hw_disk_bus', 'scsi')[1] == (
        'zvm does not read it')


@pytest.mark.parametrize(('field', 'can'), [
    ('traits_required', True), ('hw_vm_mode', True), ('hw_disk_bus', True),
    ('hw_boot_menu', False), ('hw_video_ram', False)])
def test_vmware_can_act_on_what_it_reads_or_the_scheduler_does(field, can):
    record = book.RECORDS[field]
    assert (record.acts_everywhere or 'vmwareapi' in record.acting) is can
