"""Properties of the parser that hold for every request."""

import json
import re

import hypothesis
from hypothesis import strategies as st
from nova.objects import flavor as flavor_object
from nova.objects import image_meta
from nova.virt import hardware
import pytest

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.properties import property as property_module
from tests.unit import refusals
from tests.unit import strategies


@hypothesis.given(strategies.requests())
def test_parsing_what_was_parsed_changes_nothing(parser, raw):
    once = parser.parse(raw)
    assert once.names == raw.keys()
    assert parser.parse(once.values) == once


@hypothesis.given(strategies.requests())
def test_parsing_leaves_the_request_as_it_is(parser, raw):
    before = dict(raw)
    parser.parse(raw)
    assert raw == before


# Nova reads the text of hw_mem_page_size later: see the next test.
@hypothesis.given(strategies.pairs(set(strategies.OPEN) - {'hw_mem_page_size'}))
def test_nova_reads_the_stored_spelling_as_it_reads_the_sent_one(
        parser, pair):
    name, value = pair
    name = re.sub('[.][0-9]+$', '.0', name)  # Nova reads from 0 on.
    stored = parser.parse({name: value}).values
    field = strategies.CATALOG.field_of(name)
    read = strategies.read(stored)
    assert list(read) == [field]
    assert read == strategies.read({name: value})


@hypothesis.given(strategies.values_of('hw_mem_page_size'))
def test_nova_reads_the_stored_page_size_as_it_reads_the_sent_one(
        parser, value):
    def pages(size):
        return hardware._get_numa_pagesize_constraint(
            flavor_object.Flavor(extra_specs={'hw:mem_page_size': 'any'}),
            image_meta.ImageMeta.from_dict(
                {'properties': {'hw_mem_page_size': size}}))
    stored = parser.parse({'hw_mem_page_size': value})
    assert pages(stored['hw_mem_page_size'].value) == pages(value)


@hypothesis.given(strategies.pairs())
def test_nova_reads_the_value_that_the_stored_text_spells(parser, pair):
    name, value = pair
    name = re.sub('[.][0-9]+$', '.0', name)
    ((_, stored),) = parser.parse({name: value}).values.items()
    prop = strategies.CATALOG.resolve(name)
    (read,) = strategies.read({name: stored}).values()
    if prop.field == 'hw_numa_cpus':
        expected = [hardware.parse_cpu_spec(stored)]
    elif prop.field == 'traits_required':
        expected = [name.removeprefix('trait:')]
    elif isinstance(
            prop, (property_module.Boolean, property_module.Integer)):
        expected = json.loads(stored)
        if prop.family:
            expected = [expected]
    else:
        expected = stored
    assert read == expected


@hypothesis.given(strategies.requests())
def test_nothing_longer_than_nova_stores_is_taken(parser, raw):
    for name, value in parser.parse(raw).values.items():
        assert all(
            len(key) <= 255 for key in metadata_keys.override_keys(name))
        assert value is None or 0 < len(value.encode()) <= 255


@hypothesis.given(strategies.any_json)
def test_any_json_is_taken_or_refused_as_a_whole(parser, raw):
    try:
        taken = parser.parse(raw)
    except errors.Invalid as exc:
        names = {p.name for p in exc.problems}
        assert names
        assert names <= {errors.PARAMETER, *(
            raw if isinstance(raw, dict) else ())}
    else:
        assert taken.names == raw.keys()


@hypothesis.given(
    strategies.requests(),
    st.dictionaries(strategies.misnamed(), strategies.any_json, max_size=5),
    st.dictionaries(
        strategies.pairs().map(lambda pair: pair[0]),
        strategies.any_json.filter(
            lambda v: v is not None and not isinstance(v, str)), max_size=5))
def test_a_refusal_names_exactly_the_wrong_ones(
        parser, good, misnamed, mistyped):
    misnamed = {name: value for name, value in misnamed.items()
                if strategies.CATALOG.field_of(name) is None}
    raw = {**good, **misnamed, **mistyped}
    wrong = {*misnamed, *mistyped}
    if wrong:
        assert set(refusals.of(parser.parse, raw)) == wrong
    else:
        assert parser.parse(raw).names == raw.keys()


@hypothesis.given(
    st.sampled_from(sorted(strategies.OPEN)).flatmap(strategies.names_of),
    strategies.any_text | st.text('0123456789^-,<>=. \nKMGi', max_size=40))
def test_any_text_for_a_property_is_refused_or_read_by_nova(
        parser, name, value):
    try:
        taken = parser.parse({name: value})
    except errors.Invalid as exc:
        assert [p.name for p in exc.problems] == [name]
        return
    field = strategies.CATALOG.field_of(name)
    name = re.sub('[.][0-9]+$', '.0', name)
    (stored,) = taken.values.values()
    assert list(strategies.read({name: stored})) == [field]


@hypothesis.given(strategies.misnamed())
def test_a_refusal_can_be_written_to_any_log_and_any_answer(parser, name):
    hypothesis.assume(strategies.CATALOG.field_of(name) is None)
    with pytest.raises(errors.Invalid) as caught:
        parser.parse({name: 'x'})
    message = str(caught.value)
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 1000
    json.dumps(caught.value.details()).encode('ascii')
