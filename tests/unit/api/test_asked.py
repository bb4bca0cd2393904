"""How overrides are read from scheduler hints and metadata."""

import copy
import json

from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_image_override import errors
from nova_image_override.api.asked import HINTS
from nova_image_override.api.asked import PREFIX
from nova_image_override.api.asked import require_none
from nova_image_override.api.asked import take_free_keys
from nova_image_override.api.asked import with_free_keys
from tests.unit import refusals
from tests.unit import strategies

OURS = errors.PARAMETER

#: Hints that are not ours: only the name decides that.
foreign = st.dictionaries(
    st.text(max_size=30).filter(
        lambda name: name != OURS and not name.startswith(PREFIX))
    | st.sampled_from([
        'group', 'image_props_overrides', f'x-{OURS}', OURS.upper(),
        f' {OURS}', f'{OURS}.hw_pmu', '']),
    st.text(max_size=5) | st.integers(), max_size=4)

places = st.sampled_from(HINTS)

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda each: st.lists(each, max_size=3)
    | st.dictionaries(st.text(max_size=40), each, max_size=3), max_leaves=8)


def only_form(name, places):
    asked, wrong = with_free_keys({name: places}, {})
    if wrong:
        raise errors.Invalid(wrong)
    return asked[name]


@given(places, foreign, strategies.requests())
def test_every_form_says_the_same(place, others, asked):
    forms = [{OURS: asked}, {OURS: json.dumps(asked)}]
    if asked:
        forms.append({PREFIX + name: value
                      for name, value in asked.items()})
    for form in forms:
        found, rest = take_free_keys(
            {'server': {}, place: {**others, **form}})
        assert only_form(OURS, found[OURS]) == asked
        assert rest == {'server': {}, place: others}


@given(anything | st.fixed_dictionaries({}, optional={
    **dict.fromkeys(HINTS, foreign | anything), 'server': anything}))
def test_a_body_without_ours_is_passed_on_as_it_is(body):
    found, rest = take_free_keys(body)
    assert not found
    assert rest is body


@given(places, foreign, anything)
def test_a_body_with_ours_is_left_unchanged(place, others, value):
    body = {'server': {'name': 'x'}, place: {**others, OURS: value}}
    before = copy.deepcopy(body)
    take_free_keys(body)
    assert body == before


@given(st.dictionaries(places, st.fixed_dictionaries({}, optional={
    OURS: anything, f'{PREFIX}hw_pmu': anything,
    PREFIX: anything, 'mine': st.just('x')}), min_size=1))
def test_nothing_of_ours_is_left(body):
    _, rest = take_free_keys(body)
    for key, held in body.items():
        assert rest[key] == {
            name: value for name, value in held.items() if name == 'mine'}


@given(st.dictionaries(st.text(max_size=9), anything, min_size=2, max_size=5))
def test_more_than_one_form_is_refused_naming_each(found):
    ((name, (code, reason)),) = refusals.of(only_form, OURS, found).items()
    assert (name, code) == (OURS, 'duplicate')
    assert all(where in reason for where in found)


@given(st.text(max_size=60))
def test_text_is_json_or_refused(text):
    try:
        value = json.loads(text)
    except ValueError:
        assert refusals.codes(only_form, OURS, {'x': text}) == {
            OURS: 'invalid_value'}
    else:
        read = only_form(OURS, {'x': text})
        assert read == value or value != value  # NaN


@pytest.mark.parametrize('text', [
    '', ' ', '{', '{"a": "b",}', "{'a': 'b'}", '{"a": "b"} x', '\ufeff{}',
    'hw_disk_bus=scsi', '[' * 100000, '{"a":' * 100000, '9' * 5000])
def test_text_that_is_not_json_is_refused(text):
    assert refusals.codes(only_form, OURS, {'x': text}) == {
        OURS: 'invalid_value'}


def test_what_is_refused_is_not_repeated_at_length():
    with pytest.raises(errors.Invalid) as caught:
        only_form(OURS, {'x': 'hw_disk_bus\n' * 5000})
    assert len(str(caught.value)) < 300
    assert '\n' not in str(caught.value)


@given(st.lists(st.tuples(st.sampled_from('abcd'), st.text(max_size=3)),
                max_size=8))
def test_exactly_the_names_that_come_twice_are_refused(pairs):
    text = '{' + ', '.join(
        f'{json.dumps(name)}: {json.dumps(value)}'
        for name, value in pairs) + '}'
    names = [name for name, _ in pairs]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        assert refusals.codes(only_form, OURS, {'x': text}) == dict.fromkeys(
            twice, 'duplicate')
    else:
        assert only_form(OURS, {'x': text}) == dict(pairs)


@pytest.mark.parametrize('text', [
    '{"hw_pmu": "1", "hw_p\\u006du": "1"}', '{"": 1, "": 1}'])
def test_a_name_twice_in_other_spellings_is_refused(text):
    found = refusals.codes(only_form, OURS, {'x': text})
    assert {*found.values()} == {'duplicate'}


def test_a_name_twice_deeper_down_is_not_what_is_wrong():
    # The parser says what is wrong: the value is not a string.
    assert only_form(OURS, {'x': '{"a": {"b": 1, "b": 2}}'}) == {
        'a': {'b': 2}}
    assert only_form(OURS, {'x': '[{"b": 1, "b": 2}]'}) == [{'b': 2}]


def test_what_is_no_text_is_the_parameters_own_value():
    for value in ({'a': 'b'}, None, [], 2, True):
        assert only_form(OURS, {'x': value}) is value


metadata = st.dictionaries(
    st.sampled_from([OURS, errors.PRESET, f'{PREFIX}hw_pmu',
                     'mine', 'image_props']),
    st.text(max_size=300) | st.none() | st.integers(), max_size=5)


@given(metadata)
def test_of_metadata_only_what_nova_would_take_is_taken(held):
    found, rest = take_free_keys({'server': {'metadata': held}})
    left = rest['server']['metadata']
    taken = held.keys() - left.keys()
    assert {name: held[name] for name in left} == left
    assert taken == {
        name for name, value in held.items()
        if name not in ('mine', 'image_props')
        and isinstance(value, str) and len(value) <= 255}
    assert len([place for places in found.values() for place in places]) == (
        len(taken))
    assert all(place.startswith('server.metadata.')
               for places in found.values() for place in places)


@given(anything)
def test_metadata_that_is_none_is_left_to_nova(held):
    body = {'server': {'metadata': [held] if isinstance(held, dict) else held}}
    assert take_free_keys(body) == ({}, body)


def test_a_preset_is_no_json():
    for value in ('{', '{}', 'vga', None, 1):
        assert only_form(errors.PRESET, {'x': value}) == value


@given(metadata)
def test_metadata_of_a_server_that_exists_may_have_none(held):
    wrong = [name for name in held if name not in ('mine', 'image_props')]
    if not wrong:
        require_none(held)
    else:
        assert refusals.codes(require_none, held) == dict.fromkeys(
            {name.partition(':')[0] for name in wrong}, 'not_here')


def test_without_metadata_there_is_nothing_to_refuse():
    require_none(None)
    require_none({})
