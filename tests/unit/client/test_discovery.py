"""Which version client and cloud speak with each other."""

import microversion_parse
import pytest

from nova_image_override import versions
from nova_image_override.client import answers

#: Versions that a client could know.
HISTORY = tuple(microversion_parse.Version(3, minor) for minor in (1, 2, 3))


@pytest.fixture(autouse=True)
def history(monkeypatch):
    monkeypatch.setattr(versions, 'VERSIONS', HISTORY)


def offer(low='3.1', high='3.1', **presets):
    return answers.Discovery.of({
        'min_version': low, 'max_version': high, 'schema': {}, **presets})


def test_a_preset_is_found_by_its_name():
    assert offer(presets={'a': {'description': 'x'}}).preset('a') == {
        'description': 'x'}


@pytest.mark.parametrize(('presets', 'reason'), [
    ({'b': {}, 'a': {}}, 'no preset A, but a, b.'),
    ({}, 'no preset A, but no other either.')])
def test_an_unknown_preset_is_refused_with_those_that_there_are(
        presets, reason):
    with pytest.raises(answers.Error, match=f'^This cloud offers you {reason}'):
        offer(presets=presets).preset('A')


def test_a_name_cannot_write_on_the_terminal():
    with pytest.raises(answers.Error, match=r'no preset "\\u001b\[2J", but a'):
        offer(presets={'a': {}}).preset('\x1b[2J')


@pytest.mark.parametrize('presets', [None, 1, ['a']])
def test_what_are_no_presets_cannot_be_read(presets):
    with pytest.raises((TypeError, ValueError)):
        offer(presets=presets)


def test_a_nova_api_from_before_presets_offers_none():
    assert offer().presets == {}


@pytest.mark.parametrize(('low', 'high', 'shared'), [
    ('3.1', '3.1', '3.1'), ('3.0', '3.1', '3.1'), ('3.1', '3.2', '3.2'),
    ('3.2', '3.2', '3.2'), ('3.3', '3.9', '3.3'), ('1.0', '7.0', '3.3'),
])
def test_the_newest_version_that_both_know_is_chosen(low, high, shared):
    assert str(offer(low, high).version) == shared


@pytest.mark.parametrize(('low', 'high'), [('1.0', '3.0'), ('3.4', '5.0')])
def test_without_a_version_that_both_know_both_ranges_are_told(low, high):
    with pytest.raises(answers.Error, match=(
            f'takes versions {low} to {high} of image-props-override, this '
            'client knows 3.1 to 3.3')):
        offer(low, high)
