"""The table that clients make of discovery's schema."""

import pytest

from nova_image_override import schema
from nova_image_override import versions
from nova_image_override.client import listing


def row(value, name='hw_disk_bus'):
    """Return the row of one property, by column."""
    (found,) = listing.rows({'properties': {name: value}}, long=True)
    return dict(zip(listing.HEAD_LONG, found, strict=True))


def test_every_property_that_can_be_overridden_has_its_row(catalog):
    rows = listing.rows(schema.published(versions.MAX, catalog), long=False)
    assert [name for name, *_ in rows] == sorted(
        prop.spelling for prop in catalog.values() if not prop.never)
    assert {kind for _, kind, _ in rows} == {
        'boolean', 'enum', 'integer', 'string'}


def test_rows_are_as_long_as_their_head(catalog):
    published = schema.published(versions.MAX, catalog)
    for long, head in ((False, listing.HEAD), (True, listing.HEAD_LONG)):
        for found in listing.rows(published, long=long):
            assert len(found) == len(head)
            assert all(isinstance(cell, str) for cell in found)


def test_families_have_their_names_in_words_and_as_a_pattern():
    (found,) = listing.rows({'patternProperties': {'^hw_x[.][0-9]$': {
        'type': 'string', 'title': 'hw_x.N'}}}, long=True)
    assert found == ('hw_x.N', 'string', '', 'no', '^hw_x[.][0-9]$', '')


def test_a_pattern_without_a_title_stands_for_itself():
    (found,) = listing.rows(
        {'patternProperties': {'^x$': {'type': 'string'}}}, long=False)
    assert found == ('^x$', 'string', '')


def test_removal_is_a_column_and_not_one_of_the_values():
    shown = row({'type': ['string', 'null'], 'enum': ['ide', 'scsi', None]})
    assert (shown['Values'], shown['Removable']) == ('ide, scsi', 'yes')
    shown = row({'type': 'string', 'enum': ['ide']})
    assert (shown['Values'], shown['Removable']) == ('ide', 'no')


def test_a_property_that_may_only_be_removed_says_so():
    shown = row({'type': 'null'})
    assert (shown['Values'], shown['Removable']) == ('(only removal)', 'yes')


def test_what_the_deployer_s_lists_leave_is_shown():
    assert row({'type': 'string', 'allOf': [
        {'pattern': '^(?:a.*)$'},
        {'not': {'type': 'string', 'pattern': '^(?:ab)$'}}],
    })['Values'] == 'like ^(?:a.*)$; not ^(?:ab)$'


@pytest.mark.parametrize('empty', [
    {}, {'properties': {}}, {'properties': {}, 'patternProperties': {}}])
def test_a_cloud_that_allows_nothing_has_an_empty_table(empty):
    assert listing.rows(empty, long=True) == []
