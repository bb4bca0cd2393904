"""What a check answers, and which server it asks about."""

import hypothesis
from hypothesis import strategies as st
from oslo_serialization import jsonutils
import pytest

from nova_image_override import errors
from nova_image_override.api.change import dry_run

SIZES = st.builds(
    lambda number, size: [size] * number, st.integers(0, 400),
    st.integers(0, 255))


def answer(properties, overridden):
    """Return an answer with values of these sizes."""
    return {
        'properties': {f'p{n}': 'x' * size
                       for n, size in enumerate(properties)},
        'overridden': {f'o{n}': {'value': 'x' * size, 'image_value': None}
                       for n, size in enumerate(overridden)},
        'numa_topology': 'x' * 2000}


@hypothesis.given(SIZES, SIZES)
@hypothesis.example([250] * 400, [250] * 100)
@hypothesis.example([], [250] * 400)
def test_an_answer_is_bounded_and_counts_what_it_leaves_out(
        properties, overridden):
    whole = answer(properties, overridden)
    size = len(jsonutils.dumps(whole))
    told = dry_run._bounded(answer(properties, overridden))
    if size <= errors.ANSWER_MAX - 1024:
        assert told == whole
        return
    assert errors.ANSWER_MAX - 2048 < len(
        jsonutils.dumps(told)) <= errors.ANSWER_MAX
    left_out = told.pop(errors.LEFT_OUT)
    assert left_out == sum(
        len(whole[part]) - len(told[part])
        for part in ('properties', 'overridden')) > 0
    for part, kept in whole.items():
        assert told[part] == kept or told[part].items() <= kept.items()
    # Properties that are not overridden go first.
    if told['properties']:
        assert told['overridden'] == whole['overridden']


@pytest.mark.parametrize(('body', 'existing'), [
    ({'rebuild': {'id': 'a', 'imageRef': 'b'}, 'x': 1},
     ('rebuild', 'a', {'rebuild': {'imageRef': 'b'}, 'x': 1})),
    ({'server': {'id': 'a'}}, ('server', 'a', {'server': {}})),
    ({'server': {'name': 'a'}}, None),
    ({'server': {'id': 1}}, None), ({'server': 'id'}, None),
    ({'resize': {'id': 'a'}}, None), ({}, None), ([], None), (None, None)])
def test_a_body_with_an_id_asks_about_a_server_that_exists(body, existing):
    assert dry_run.of_existing(body) == existing
