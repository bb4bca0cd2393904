"""Which image properties of a server are ours, and what is read of them."""

import functools
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st
from nova import utils as nova_utils
from nova.objects import image_meta
from nova.objects import instance as instance_object
from nova.virt.libvirt import blockinfo
from nova.virt.libvirt import driver
import pytest

from nova_image_override import metadata_keys
from nova_image_override.api.change import store
from nova_image_override.override import UsedPreset
from nova_image_override.server_record import DEFAULTS
from nova_image_override.server_record import ServerRecord
from tests.unit.strategies import overrides_of

SET = 'image_os_glance_override:'
REMOVED = 'image_os_glance_override_removed:'


def stored(properties):
    """Return image properties as Nova stores them."""
    return nova_utils.get_system_metadata_from_image(
        {'properties': properties})


def in_force(rows):
    return ServerRecord.read(rows).in_force


def is_row(key):
    """Return whether a key of system metadata is one of ours."""
    return key.startswith('image_') and bool(
        metadata_keys.is_property(key.removeprefix('image_')))


@pytest.mark.parametrize('value', ['scsi', None])
@pytest.mark.parametrize('own', ['ide', '', '=', '=ide', 'x' * 255, None])
def test_an_override_is_read_back_with_the_images_own_value(value, own):
    rows = stored({
        **overrides_of({'hw_disk_bus': value}).recorded({'hw_disk_bus': own}),
        **({} if value is None else {'hw_disk_bus': value})})
    record = ServerRecord.read(rows)
    assert record.in_force == {'hw_disk_bus': value}
    assert record.overrides == overrides_of(
        {'hw_disk_bus': value}, is_kept=True)
    assert record.image_values == {'hw_disk_bus': own}
    assert len({*metadata_keys.override_keys('hw_disk_bus')} & {*rows}) == 1


@pytest.mark.parametrize(('rows', 'overrides'), [
    # An operator's later correction.
    ({SET + 'hw_disk_bus': 'ide', 'image_hw_disk_bus': 'sata'},
     {'hw_disk_bus': 'sata'}),
    # One that was set and has no value is not in force.
    ({SET + 'hw_disk_bus': 'ide'}, {}),
    # What is removed stays so, even if Nova fills in a default.
    *(({REMOVED + 'hw_machine_type': own, **default},
       {'hw_machine_type': None}) for own in ('pc', '')
      for default in ({}, {'image_hw_machine_type': 'q35'})),
    ({SET + 'trait:A': '', 'image_trait:A': 'required',
      REMOVED + 'trait:B': 'required'},
     {'trait:A': 'required', 'trait:B': None})])
def test_what_is_stored_says_which_overrides_are_in_force(rows, overrides):
    assert in_force(rows) == overrides


@pytest.mark.parametrize('key', [
    'image_hw_disk_bus', 'image_os_glance_import_task', 'os_glance_override:x',
    'image_os_glance_overrides:x', 'image_os_glance_override', '',
    'IMAGE_OS_GLANCE_OVERRIDE:x', 'image_os_glance_override_remove:x'])
def test_what_is_no_record_is_told_apart(key):
    assert not is_row(key)
    assert not ServerRecord.read({key: 'x'}).counts
    assert in_force({key: 'x'}) == {}


@pytest.mark.parametrize('row', [
    SET + 'hw_disk_bus', REMOVED + 'os_type',
    'image_os_glance_override_offloaded',
    'image_os_glance_override_unfinished',
    'image_os_glance_override_unfinished:os_type'])
def test_where_there_is_a_record_what_is_stored_counts(row):
    assert ServerRecord.read({'image_os_distro': 'x', row: ''}).counts
    assert metadata_keys.is_property(row.removeprefix('image_'))


@pytest.mark.parametrize('value', [
    'x' * 300, '\u20ac' * 100, 'x' + '\u20ac' * 100, 'xx' + '\u20ac' * 100,
    7, True])
def test_the_images_value_is_cut_as_nova_cuts_it(value):
    properties = overrides_of({'os_distro': 'x'}).recorded(
        {'os_distro': value})
    assert properties == {
        'os_glance_override:os_distro': nova_utils.safe_truncate(
            str(value), 255)}
    assert stored(properties) == {
        'image_' + name: cut for name, cut in properties.items()}


NAMES = st.sampled_from(['a', 'b', 'hw_numa_mem.0', 'trait:X'])


@given(before=st.dictionaries(NAMES, st.text('xyz')),
       after=st.dictionaries(NAMES, st.text('xyz')))
def test_new_image_properties_take_the_place_of_the_stored_ones(
        before, after):
    others = {'image_min_ram': '1', 'image_base_image_ref': 'i', 'owner': 'y',
              'a': 'not an image property', 'os_glance_override:a': 'x'}
    metadata = ServerRecord.read(
        {**others, **stored(before)}).with_properties(after)
    assert metadata == {**others, **stored(after)}
    assert ServerRecord.read(metadata).stored == after


def test_a_new_record_takes_the_place_of_the_former():
    metadata = {'image_hw_disk_bus': 'ide', SET + 'a': '', REMOVED + 'b': 'x'}
    assert ServerRecord.read(metadata).with_properties({
        'hw_disk_bus': 'ide', 'os_glance_override:c': 'y'}) == {
            'image_hw_disk_bus': 'ide', SET + 'c': 'y'}


def test_a_value_that_a_removed_property_has_all_the_same_is_told():
    record = ServerRecord.read({
        REMOVED + 'hw_machine_type': '', 'image_hw_machine_type': 'q35',
        REMOVED + 'hw_disk_bus': 'ide',
        SET + 'os_type': '', 'image_os_type': 'linux',
    })
    assert record.set_after_removal(record.rows) == {'hw_machine_type': 'q35'}
    assert record.set_after_removal({'hw_disk_bus', 'os_type'}) == {}


BUSES = st.sampled_from(['virtio', 'scsi'])


#: Names of properties -> the fields of Nova that they set.
FIELDS = {'': '', 'hw_disk_bus': 'hw_disk_bus', 'hw_numa_mem.0': 'hw_numa_mem',
          'trait:X': 'traits_required', 'trait:Y': 'traits_required',
          'traits_required': 'traits_required'}


@given(st.sets(st.sampled_from(sorted(FIELDS))), BUSES)
def test_what_is_still_to_be_stored_is_read_back_until_it_is_finished(
        names, source):
    rows = {'image_a': 'x', **stored(store.unfinished(names, source))}
    record = ServerRecord.read(rows)
    assert record.unfinished == {
        field: source if field == 'hw_disk_bus' else ''
        for field in map(FIELDS.get, names)}
    assert record.finished() == {'image_a': 'x'}
    assert record.in_force == {}


@pytest.mark.parametrize(('row', 'shelved', 'older'), [
    ('i', 'i', True), ('i', 'j', False), ('i', None, False),
    (None, None, False)])
def test_a_shelved_image_is_older_if_the_server_was_changed_since(
        row, shelved, older):
    metadata = {}
    if row:
        metadata['image_' + metadata_keys.OFFLOADED] = row
    if shelved:
        metadata['shelved_image_id'] = shelved
    record = ServerRecord.read(metadata)
    assert record.shelved_image_is_older is older


def test_the_longest_name_fits_into_a_key():
    name = 'trait:'.ljust(metadata_keys.NAME_LENGTH_MAX, 'X')
    for properties in (overrides_of({name: None}).recorded({}),
                       overrides_of({name: 'required'}).recorded({})):
        assert all(len(key) <= 255 for key in stored(properties))


USED = UsedPreset('windows', 'd1')


@pytest.mark.parametrize('used', [None, USED])
def test_the_preset_is_read_back_and_is_no_override(used):
    rows = stored({
        **overrides_of({'hw_disk_bus': 'ide'}, used).recorded({}),
        'hw_disk_bus': 'ide'})
    record = ServerRecord.read(rows)
    assert record.preset == record.overrides.preset == used
    assert record.in_force == {'hw_disk_bus': 'ide'}
    assert len(list(filter(is_row, rows))) == 1 + (used is not None)
    for key in metadata_keys.preset_keys('windows'):
        assert (key in rows) == (used is not None)


@pytest.mark.parametrize(('rows', 'used'), [
    ({}, None), ({'image_os_glance_override_preset': 'x'}, None),
    ({'os_glance_override_preset:a': 'x'}, None),
    ({'image_os_glance_override_preset:a': None}, ('a', '')),
    ({'image_os_glance_override_preset:': 'x'}, ('', 'x')),
    ({'image_os_glance_override_preset:b': 'x',
      'image_os_glance_override_preset:a': 'y'}, ('a', 'y'))])
def test_rows_that_we_would_not_write_do_no_harm(rows, used):
    assert ServerRecord.read(rows).preset == used


# --- a server's image properties, as nova-api stored them --------------------

def server(**rows):
    return ServerRecord.of(instance_object.Instance(
        uuid='5a3c8f0e-1d2b-4c6a-9e7f-0b1d2c3a4e5f', system_metadata=rows))


def overridden(**rows):
    return server(**{
        'image_hw_firmware_type': 'uefi',
        'image_os_glance_override:hw_firmware_type': ''}, **rows)


def snapshot(**properties):
    return {'id': 'a-snapshot', 'properties': properties}


@pytest.mark.parametrize('stored', [
    {}, {'image_hw_disk_type': 'thin'}, {'image_vmware_disktype': 'sparse'}])
def test_a_snapshot_s_disk_has_the_type_that_vmware_s_driver_wrote(stored):
    image = overridden(**stored).over_snapshot(
        snapshot(vmware_disktype='streamOptimized'))
    read = image_meta.ImageMeta.from_dict(image).properties
    assert read.hw_disk_type == 'streamOptimized'
    assert read.hw_firmware_type == 'uefi'


def test_no_type_is_made_up_for_other_drivers_snapshots():
    image = overridden().over_snapshot(snapshot(hw_disk_type='preallocated'))
    assert image == {
        'id': 'a-snapshot', 'properties': {'hw_firmware_type': 'uefi'}}


def test_the_snapshot_of_a_server_without_overrides_is_nova_s_own():
    def image():
        return snapshot(vmware_disktype='streamOptimized', hw_disk_type='thin')
    given = image()
    assert server(image_hw_disk_type='thin').over_snapshot(given) is given
    assert given == image()


def test_of_the_stored_image_the_record_is_no_part():
    record = overridden(image_min_ram='64', image_base_image_ref='an-image',
                        shelved_image_id='x')
    assert record.image == {
        'min_ram': '64', 'properties': {
            'base_image_ref': 'an-image', 'hw_firmware_type': 'uefi'}}
    assert record.stored == {
        'hw_firmware_type': 'uefi', 'os_glance_override:hw_firmware_type': ''}


@pytest.mark.parametrize(('overrides', 'image'), [
    ({'hw_disk_bus': 'ide'}, {}),
    ({'hw_disk_bus': 'ide'}, {'hw_disk_bus': 'scsi', 'os_distro': 'x'}),
    ({'hw_disk_bus': None}, {'hw_disk_bus': 'scsi'}),
    # Nova reads it under another name, too.
    ({'hw_vm_mode': 'hvm'}, {}),
    ({'hw_vm_mode': 'hvm'}, {'hw_vm_mode': 'xen'}),
    ({'hw_vm_mode': None}, {'hw_vm_mode': 'xen'}),
    ({'trait:A': None, 'hw_numa_mem.0': '1'}, {'trait:A': 'required'}),
])
def test_the_image_s_own_properties_are_known_without_the_image(
        overrides, image):
    asked = overrides_of(overrides)
    record = ServerRecord.read(stored(
        {**asked.merge(image), **asked.recorded(image)}))
    assert record.own_properties == image
    assert record.properties == asked.merge(image)


def test_what_is_asked_of_a_record_changes_neither_it_nor_a_snapshot():
    record, image = overridden(), snapshot(vmware_disktype='x')
    record.properties.clear()
    record.over_snapshot(image)
    assert record.properties == {'hw_firmware_type': 'uefi'}
    assert image == snapshot(vmware_disktype='x')


def test_what_nova_stores_of_an_image_besides_its_properties_is_none_of_them():
    assert ServerRecord.read({
        f'image_{key}': '1' for key in (
            *nova_utils.SM_INHERITABLE_KEYS, 'base_image_ref')}).stored == {}


@pytest.mark.parametrize(('cause', 'values'), [
    ('hw_machine_type', ('pc', 'q35')),
    ('hw_architecture', ('x86_64', 'aarch64'))])
def test_a_default_follows_from_what_nova_compute_chooses_it_by(cause, values):
    buses = {
        blockinfo.get_disk_bus_for_device_type(
            instance_object.Instance(), 'kvm', image_meta.ImageMeta.from_dict({
                'properties': {cause: value}}), 'cdrom') for value in values}
    assert len(buses) == 2
    assert cause in DEFAULTS['hw_cdrom_bus']


def test_the_video_model_follows_from_the_architecture_that_is_emulated():
    cause, host = 'hw_emulation_architecture', mock.Mock()
    host._check_emulation_arch = functools.partial(
        driver.LibvirtDriver._check_emulation_arch, host)
    models = {
        driver.LibvirtDriver._get_video_type(
            host, image_meta.ImageMeta.from_dict({
                'properties': {cause: value}})) for value in (
            'x86_64', 'ppc64le')}
    assert len(models) == 2
    assert cause in DEFAULTS['hw_video_model']


def test_what_nova_compute_stores_a_default_of_is_known():
    """Another one would be taken for a change that was taken back."""
    assert {*driver.REGISTER_IMAGE_PROPERTY_DEFAULTS} == DEFAULTS.keys()
