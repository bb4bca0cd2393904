"""Every property of every supported release is described, once."""

import re

import pytest

from nova_image_override.properties import descriptions
from nova_image_override.properties import property as property_module
from tests.unit.properties import test_schema


def test_every_field_of_this_nova_has_a_row(catalog):
    assert sorted(catalog.keys() - descriptions.ROWS.keys()) == []


@pytest.mark.parametrize('field', sorted(descriptions.ROWS))
def test_every_row_says_what_the_property_does(field):
    text = descriptions.ROWS[field].text
    assert text.endswith('.')
    assert text[0].isupper() or text.startswith('vCPUs')
    assert text == ' '.join(text.split())


def test_every_row_is_of_one_purpose():
    for field in descriptions.ROWS:
        assert [title for title, pattern in descriptions.PURPOSES.items()
                if re.fullmatch(pattern, field)][1:] == [], field
        assert any(re.fullmatch(pattern, field)
                   for pattern in descriptions.PURPOSES.values()), field


def test_no_row_describes_what_no_supported_release_has(catalog):
    known = catalog.keys() | test_schema.copy()['properties'].keys()
    assert sorted(descriptions.ROWS.keys() - known) == []


def test_every_integer_has_a_range_and_nothing_else_has_one(catalog):
    for field, prop in catalog.items():
        row = descriptions.ROWS[field]
        limits = (row.minimum, row.maximum)
        if prop.kind == property_module.INTEGER:
            assert 0 <= limits[0] < limits[1], field
        else:
            assert limits == (None, None), field


def test_every_grammar_is_said_in_words_too(catalog):
    for field, prop in catalog.items():
        row = descriptions.ROWS[field]
        if row.pattern:
            assert prop.kind == property_module.STRING, field
            assert row.expects, field
