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


def version(low, high):
    return str(answers.Discovery.of({
        'min_version': low, 'max_version': high, 'schema': {}}).version)


@pytest.mark.parametrize(('low', 'high', 'shared'), [
    ('3.1', '3.1', '3.1'), ('3.0', '3.1', '3.1'), ('3.1', '3.2', '3.2'),
    ('3.2', '3.2', '3.2'), ('3.3', '3.9', '3.3'), ('1.0', '7.0', '3.3'),
])
def test_the_newest_version_that_both_know_is_chosen(low, high, shared):
    assert version(low, high) == shared


@pytest.mark.parametrize(('low', 'high'), [('1.0', '3.0'), ('3.4', '5.0')])
def test_without_a_version_that_both_know_both_ranges_are_told(low, high):
    with pytest.raises(answers.Error, match=(
            f'takes versions {low} to {high} of image-props-override, this '
            'client knows 3.1 to 3.3')):
        version(low, high)
