"""The table of what may be overridden, made from discovery's schema."""

import pytest

from nova_image_override import property_table
from tools import schemas


def published_rows(catalog):
    return property_table.rows(schemas.published(catalog))


def row(value, name='hw_disk_bus'):
    """Return the row of one property."""
    (found,) = property_table.rows({'properties': {name: value}})
    return found


def shown(value, name='hw_disk_bus'):
    """Return the values of one property, as people read them."""
    return row(value, name).values.human_readable()


def test_every_property_that_can_be_overridden_has_its_row(catalog):
    rows = published_rows(catalog)
    assert [row.name for row in rows] == sorted(
        prop.spelling for prop in catalog.values() if not prop.record.never)
    assert {row.kind for row in rows} == {
        'boolean', 'enum', 'integer', 'string'}


def test_every_property_says_what_a_refusal_says_that_it_expects(catalog):
    props = {prop.spelling: prop for prop in catalog.values()}
    for row in published_rows(catalog):
        prop = props[row.name]
        if prop.values:
            assert row.values.machine_readable() == list(prop.values)
        else:
            assert row.values.machine_readable() == [prop.expects]


def test_cells_are_text_but_for_the_values(catalog):
    for row in published_rows(catalog):
        assert all(isinstance(cell, str) for cell in (
            row.name, row.pattern, row.kind, row.removable, row.description,
            row.values.human_readable()))


def test_values_are_a_list_to_programs():
    assert row({'type': 'string', 'enum': ['ide', 'scsi']}
               ).values.machine_readable() == ['ide', 'scsi']


def test_families_have_their_names_in_words_and_as_a_pattern():
    (found,) = property_table.rows({'patternProperties': {'^hw_x[.][0-9]$': {
        'type': 'string', 'title': 'hw_x.N'}}})
    assert (found.name, found.kind, found.removable, found.pattern,
            found.description) == (
        'hw_x.N', 'string', 'no', '^hw_x[.][0-9]$', '')


def test_a_pattern_without_a_title_stands_for_itself():
    (found,) = property_table.rows(
        {'patternProperties': {'^x$': {'type': 'string'}}})
    assert (found.name, found.kind) == ('^x$', 'string')


@pytest.mark.parametrize(('schema', 'values', 'removable'), [
    ({'type': ['string', 'null'], 'enum': ['ide', 'scsi', None]}, 'ide, scsi',
     'yes'),
    ({'type': 'string', 'enum': ['ide']}, 'ide', 'no'),
    ({'type': 'null'}, '(only removal)', 'yes')])
def test_removal_is_a_column_and_not_one_of_the_values(
        schema, values, removable):
    found = row(schema)
    assert (found.values.human_readable(), found.removable) == (
        values, removable)


@pytest.mark.parametrize(('name', 'value', 'expected'), [
    ('hw_numa_nodes', {'contentSchema': {
        'type': 'integer', 'minimum': 1, 'maximum': 128}},
     'an integer from 1 to 128'),
    # What a newer cloud may have.
    ('hw_later', {'pattern': '^[a-f]+$'}, 'like ^[a-f]+$'),
    ('hw_later', {}, 'text'),
    # What the deployer's lists leave.
    ('hw_disk_bus', {'allOf': [
        {'pattern': '^(?:a.*)$'},
        {'not': {'type': 'string', 'pattern': '^(?:ab)$'}}]},
     'text; like ^(?:a.*)$; not ^(?:ab)$')])
def test_what_a_schema_says_is_said_in_words(name, value, expected):
    assert shown({'type': 'string', **value}, name) == expected


@pytest.mark.parametrize('empty', [
    {}, {'properties': {}}, {'properties': {}, 'patternProperties': {}}])
def test_a_cloud_that_allows_nothing_has_an_empty_table(empty):
    assert property_table.rows(empty) == []


def test_the_parts_that_act_are_told(catalog):
    of = {row.name: row.drivers for row in published_rows(catalog)}
    assert of['hw_disk_bus'] == 'libvirt, vmwareapi'
    assert of['trait:NAME'] == 'ironic, scheduler'
    assert of['hw_ipxe_boot'] == ''


def called(catalog, name):
    return [row.name for row in published_rows(catalog) if row.is_called(name)]


@pytest.mark.parametrize(('name', 'rows'), [
    ('hw_numa_nodes', ['hw_numa_nodes']), ('hw_numa_mem.7', ['hw_numa_mem.N']),
    ('trait:CUSTOM_GOLD', ['trait:NAME']), ('trait:NAME', ['trait:NAME']),
    ('hw_numa*', ['hw_numa_cpus.N', 'hw_numa_mem.N', 'hw_numa_nodes']),
    ('uefi', ['hw_firmware_type']), ('virtio-s*', ['hw_scsi_model']),
    ('ibm', []), ('hw_numa', []), ('HW_NUMA_NODES', []),
    ('hw_numa_mem.777', []), ('', [])])
def test_a_row_is_found_by_its_name_that_of_a_member_a_value_and_by_globs(
        catalog, name, rows):
    assert called(catalog, name) == rows


@pytest.mark.parametrize(('word', 'rows'), [
    ('huge', ['hw_mem_page_size']), ('hugepages', ['hw_mem_page_size']),
    ('Huge Pages', ['hw_mem_page_size']), ('pinning', ['hw_cpu_policy']),
    # Called so: nothing that only mentions it.
    ('uefi', ['hw_firmware_type']), ('hw_boot_menu', ['hw_boot_menu']),
    ('hw_disk_buss', []), ('no such words', []), ('', [])])
def test_a_word_finds_what_is_called_so_or_else_what_mentions_it(
        catalog, word, rows):
    found = property_table.found(published_rows(catalog), word)
    assert [row.name for row in found] == rows


def test_a_property_that_is_not_offered_is_not_found_where_others_mention_it(
        catalog):
    offered = [row for row in published_rows(catalog)
               if row.name != 'hw_machine_type']
    assert any(row.mentions('hw_machine_type') for row in offered)
    assert property_table.found(offered, 'hw_machine_type') == []
