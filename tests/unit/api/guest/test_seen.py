"""What was seen to act on a real cloud is not refused: the recorded runs."""

import json
import pathlib

import pytest

from nova_image_override.api.guest import no_effect
from testing import release
from testing.cases import scenarios
from testing.cases import values
from tests.unit.api.guest import guests
from tests.unit.strategies import overrides_of

FIGURES = pathlib.Path(__file__).parents[4] / 'docs/source/contributor/figures'

#: Each value with which a server was ACTIVE, and its property.
SEEN = sorted({
    (row['property'], value)
    for path in FIGURES.glob('properties-*.jsonl')
    for row in map(json.loads, path.read_text().splitlines()[1:])
    if row['outcome'].startswith('ACTIVE') for value in row['values']})


@pytest.mark.parametrize('field, value', SEEN)
def test_no_single_value_that_was_seen_is_refused(field, value):
    """With the image, flavor and other overrides that it was seen with."""
    release.need(field)
    scenario = scenarios.scenario(field, value)
    name, *_ = values.names(values.CATALOG[field])
    image = dict(scenario.image)
    if value in scenario.instead_of:
        image[name] = scenario.instead_of[value]
    if scenario.has_kernel:
        image['kernel_id'] = 'kernel'
    overrides = {**scenario.along, name: value}
    if not guests.known({**scenario.image, **overrides}):
        pytest.skip('this release of Nova lacks the value')
    assert guests.problems(overrides, base=image, of=guests.flavor(
        vcpus=scenario.vcpus, memory_mb=scenarios.MEMORY,
        **scenario.specs)) == {}
    asked = overrides_of(overrides)
    assert [*no_effect.on_hosts(
        {'libvirt'}, image, asked.merge(image), asked)] == []
