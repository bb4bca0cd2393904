"""Which image properties of a server are ours, and what they say."""

from hypothesis import given
from hypothesis import strategies as st
from nova import utils as nova_utils
import pytest

from nova_image_override import override_record as record

SET = 'image_os_glance_override:'
REMOVED = 'image_os_glance_override_removed:'


def stored(properties):
    """Return image properties as Nova stores them."""
    return nova_utils.get_system_metadata_from_image(
        {'properties': properties})


@pytest.mark.parametrize('value', ['scsi', None])
@pytest.mark.parametrize('own', ['ide', '', '=', '=ide', 'x' * 255, None])
def test_an_override_is_read_back_with_the_images_own_value(value, own):
    rows = stored({
        **record.properties({'hw_disk_bus': value}, {'hw_disk_bus': own}),
        **({} if value is None else {'hw_disk_bus': value})})
    assert record.in_force(rows) == {'hw_disk_bus': value}
    assert record.image_values(rows) == {'hw_disk_bus': own}
    assert len({*record.keys('hw_disk_bus')} & {*rows}) == 1


def test_an_operators_later_correction_is_what_is_in_force():
    assert record.in_force({
        'image_hw_disk_bus': 'sata', SET + 'hw_disk_bus': 'ide',
    }) == {'hw_disk_bus': 'sata'}


def test_one_that_was_set_and_has_no_value_is_not_in_force():
    assert record.in_force({SET + 'hw_disk_bus': 'ide'}) == {}


@pytest.mark.parametrize('own', ['pc', ''])
@pytest.mark.parametrize('default', [{}, {'image_hw_machine_type': 'q35'}])
def test_a_removed_property_stays_removed_whatever_default_nova_fills_in(
        own, default):
    assert record.in_force({
        REMOVED + 'hw_machine_type': own, **default,
    }) == {'hw_machine_type': None}


def test_names_with_a_colon_are_read_back():
    assert record.in_force({
        SET + 'trait:A': '', 'image_trait:A': 'required',
        REMOVED + 'trait:B': 'required',
    }) == {'trait:A': 'required', 'trait:B': None}


@pytest.mark.parametrize('key', [
    'image_hw_disk_bus', 'image_os_glance_import_task', 'os_glance_override:x',
    'image_os_glance_overrides:x', 'image_os_glance_override', '',
    'IMAGE_OS_GLANCE_OVERRIDE:x', 'image_os_glance_override_remove:x'])
def test_what_is_no_record_is_told_apart(key):
    assert not record.is_row(key)
    assert not record.has_overrides({key: 'x'})
    assert record.in_force({key: 'x'}) == {}


@pytest.mark.parametrize('row', [
    SET + 'hw_disk_bus', REMOVED + 'os_type',
    'image_os_glance_override_offloaded',
    'image_os_glance_override_unfinished',
    'image_os_glance_override_unfinished:os_type'])
def test_where_there_is_a_record_what_is_stored_counts(row):
    assert record.has_overrides({'image_os_distro': 'x', row: ''})
    assert record.is_property(row.removeprefix('image_'))


@pytest.mark.parametrize('value', [
    'x' * 300, '\u20ac' * 100, 'x' + '\u20ac' * 100, 'xx' + '\u20ac' * 100,
    7, True])
def test_the_images_value_is_cut_as_nova_cuts_it(value):
    properties = record.properties({'os_distro': 'x'}, {'os_distro': value})
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
    metadata = record.with_properties({**others, **stored(before)}, after)
    assert metadata == {**others, **stored(after)}
    assert record.image_properties(metadata) == after


def test_a_new_record_takes_the_place_of_the_former():
    metadata = {'image_hw_disk_bus': 'ide', SET + 'a': '', REMOVED + 'b': 'x'}
    assert record.with_properties(metadata, {
        'hw_disk_bus': 'ide', 'os_glance_override:c': 'y'}) == {
            'image_hw_disk_bus': 'ide', SET + 'c': 'y'}


def test_a_value_that_a_removed_property_has_all_the_same_is_told():
    assert record.set_after_removal({
        REMOVED + 'hw_machine_type': '', 'image_hw_machine_type': 'q35',
        REMOVED + 'hw_disk_bus': 'ide',
        SET + 'os_type': '', 'image_os_type': 'linux',
    }) == {'hw_machine_type': 'q35'}


@given(st.dictionaries(NAMES | st.just(''), st.sampled_from(['', 'virtio'])))
def test_what_is_still_to_be_stored_is_read_back_until_it_is_finished(names):
    rows = {'image_a': 'x', **stored(record.unfinished(names))}
    assert record.still_to_store(rows) == names
    assert record.finished(rows) == {'image_a': 'x'}
    assert record.in_force(rows) == {}


@pytest.mark.parametrize(('row', 'shelved', 'older'), [
    ('i', 'i', True), ('i', 'j', False), ('i', None, False),
    (None, None, False)])
def test_a_shelved_image_is_older_if_the_server_was_changed_since(
        row, shelved, older):
    metadata = {}
    if row:
        metadata['image_' + record.OFFLOADED] = row
    if shelved:
        metadata['shelved_image_id'] = shelved
    assert record.shelved_image_is_older(metadata) is older


def test_the_longest_name_fits_into_a_key():
    name = 'x' * record.NAME_LENGTH_MAX
    for properties in (record.properties({name: None}, {name: None}),
                       record.unfinished({name: ''})):
        assert all(len(key) <= 255 for key in stored(properties))


USED = record.UsedPreset('windows', 'd1')


@pytest.mark.parametrize('used', [None, USED])
def test_the_preset_is_read_back_and_is_no_override(used):
    rows = stored({**record.properties(
        {'hw_disk_bus': 'ide'}, {'hw_disk_bus': None}, used),
        'hw_disk_bus': 'ide'})
    assert record.preset(rows) == used
    assert record.in_force(rows) == {'hw_disk_bus': 'ide'}
    assert len(list(filter(record.is_row, rows))) == 1 + (used is not None)
    for key in record.preset_keys('windows'):
        assert (key in rows) == (used is not None)


@pytest.mark.parametrize(('rows', 'used'), [
    ({}, None), ({'image_os_glance_override_preset': 'x'}, None),
    ({'os_glance_override_preset:a': 'x'}, None),
    ({'image_os_glance_override_preset:a': None}, ('a', '')),
    ({'image_os_glance_override_preset:': 'x'}, ('', 'x')),
    ({'image_os_glance_override_preset:b': 'x',
      'image_os_glance_override_preset:a': 'y'}, ('a', 'y'))])
def test_rows_that_we_would_not_write_do_no_harm(rows, used):
    assert record.preset(rows) == used
