"""Which keys of system metadata are ours, and what they say."""

from hypothesis import given
from hypothesis.strategies import dictionaries
from hypothesis.strategies import sampled_from
from nova import utils as nova_utils
import pytest

from nova_image_override import record


@pytest.mark.parametrize('value', ['scsi', None])
def test_the_row_of_an_override_has_one_of_two_keys(value):
    keys = record.keys('hw_disk_bus')
    rows = record.rows({'hw_disk_bus': value}, {'hw_disk_bus': 'ide'})
    assert rows.keys() < {*keys}
    assert all(record.in_force({key: None}).keys() == {'hw_disk_bus'}
               for key in keys)


def test_an_operators_later_correction_is_what_is_in_force():
    assert record.in_force({
        'image_hw_disk_bus': 'sata', 'os_glance_override:hw_disk_bus': 'ide',
    }) == {'hw_disk_bus': 'sata'}


@pytest.mark.parametrize('own', ['pc', None])
@pytest.mark.parametrize('default', [{}, {'image_hw_machine_type': 'q35'}])
def test_a_removed_property_stays_removed_whatever_default_nova_fills_in(
        own, default):
    assert record.in_force({
        'os_glance_override_removed:hw_machine_type': own, **default,
    }) == {'hw_machine_type': None}


def test_names_with_a_colon_are_read_back():
    assert record.in_force({
        'os_glance_override:trait:A': None, 'image_trait:A': 'required',
        'os_glance_override_removed:trait:B': 'required',
    }) == {'trait:A': 'required', 'trait:B': None}


@pytest.mark.parametrize('key', [
    'image_hw_disk_bus', 'os_glance_import_task', 'os_glance_overrides:x',
    'os_glance_override', 'image_os_glance_override:x', ''])
def test_what_is_no_record_is_told_apart(key):
    assert not record.is_row(key)


@pytest.mark.parametrize('rows', [
    {}, {'image_hw_disk_bus': 'ide'}, {'os_glance_overrides': 'x'},
    {'image_os_glance_override:hw_disk_bus': 'ide'},
    {'OS_GLANCE_OVERRIDE:hw_disk_bus': 'ide'}, {'os_glance_override': 'x'},
    {'os_glance_override_remove:hw_disk_bus': 'ide'},
])
def test_a_server_without_a_record_has_nothing_in_force(rows):
    assert record.in_force(rows) == {}
    assert not record.has_overrides(rows)


@pytest.mark.parametrize('row', [
    'os_glance_override:hw_disk_bus', 'os_glance_override_removed:os_type'])
def test_a_server_with_a_record_has_overrides(row):
    assert record.has_overrides({'image_os_distro': 'x', row: None})


@pytest.mark.parametrize('value', [
    'x' * 300, '\u20ac' * 100, 'x' + '\u20ac' * 100, 'xx' + '\u20ac' * 100, '',
    7, True])
def test_the_images_value_is_cut_as_nova_cuts_it(value):
    rows = record.rows({'os_distro': 'x'}, {'os_distro': value})
    assert rows == {'os_glance_override:os_distro': nova_utils.safe_truncate(
        str(value), 255)}


def test_a_server_whose_overrides_were_dropped_has_none_but_what_is_stored():
    rows = {'image_os_distro': 'x', record.DROPPED: None}
    assert record.is_row(record.DROPPED)
    assert record.has_overrides(rows)
    assert record.in_force(rows) == {}
    assert record.image_values(rows) == {}
    record.replace(rows, {})
    assert rows == {'image_os_distro': 'x'}


@given(*[dictionaries(sampled_from('abcd'), sampled_from('xyz'))] * 2)
def test_new_image_properties_take_the_place_of_the_stored_ones(stored, new):
    metadata = {'image_' + name: value for name, value in stored.items()}
    others = {'image_min_ram': '1', 'owner': 'y', 'os_glance_override:a': 'x'}
    metadata.update(others)
    record.replace_properties(metadata, stored, new)
    assert metadata == {
        **{'image_' + name: value for name, value in new.items()}, **others}


def test_new_rows_take_the_place_of_the_recorded_ones_and_no_other():
    metadata = {'image_hw_disk_bus': 'ide', 'os_glance_override:a': None,
                'os_glance_override_removed:b': 'x'}
    record.replace(metadata, {'os_glance_override:c': 'y'})
    assert metadata == {
        'image_hw_disk_bus': 'ide', 'os_glance_override:c': 'y'}


def test_a_value_that_a_removed_property_has_all_the_same_is_told():
    assert record.set_after_removal({
        'os_glance_override_removed:hw_machine_type': None,
        'image_hw_machine_type': 'q35',
        'os_glance_override_removed:hw_disk_bus': 'ide',
        'os_glance_override:os_type': None, 'image_os_type': 'linux',
    }) == {'hw_machine_type': 'q35'}
