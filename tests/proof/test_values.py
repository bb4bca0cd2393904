"""Every value of every property, on a server that is really built.

Each is asked for as an override and also booted from an image that has it: the
two servers must be the same. What flavor and properties alone decide must be
answered with the request; what only a host can find out may end in ERROR, and
is listed.
"""

import collections.abc

import pytest

from nova_image_override import errors
from nova_image_override.properties import property as property_module
from testing import figures
from testing import release
from testing.cases import scenarios
from testing.cases import values
from tests.proof import built

#: The short form tries all values of one property in so many, and any value at
#: all of one property in so many.
_SHARE = 1 if figures.FULL else 15
_SOME = 1 if figures.FULL else 3

FIELDS = [field for field, prop in values.CATALOG.items()
          if not prop.record.never]
WHOLE = FIELDS[_SHARE // 2::_SHARE]
BUILT = FIELDS[_SHARE // 2 % _SOME::_SOME]

#: The newest supported release, which has every property.
_NEWEST = 34


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[built.Cloud]:
    with built.Cloud.running() as running:
        yield running


def tried(field: str) -> list[str]:
    """Return the values of FIELD that are built; in the short form, one."""
    found = values.taken(values.CATALOG[field])
    if field in WHOLE:
        return found
    return [next((value for value in found if _telling(field, value)),
                 found[0])]


def _telling(field: str, value: str) -> bool:
    """Return whether a guest of a plain image does not have VALUE anyway."""
    return (value not in scenarios.scenario(field, value).instead_of
            and scenarios.outcome(field, value) == 'ACTIVE')


class Case:
    """One value of one property, and the servers that show what it does.

    :ivar plain: of the image as it is
    :ivar bare: of an image that says nothing about the property
    :ivar asked: with the override
    :ivar image: of an image that has the property
    """

    def __init__(self, cloud: built.Cloud, field: str, value: str) -> None:
        prop = values.CATALOG[field]
        (name, *_) = values.names(prop)
        scenario = scenarios.scenario(field, value)
        own = dict(scenario.image)
        if value in scenario.instead_of:
            own[name] = scenario.instead_of[value]
        self.bare = cloud.plain(scenario, scenario.image)
        self.plain = cloud.plain(scenario, own)
        self.asked = cloud.server(
            scenario, own, {**scenario.along, name: value})
        self.image = cloud.server(scenario, {
            **own, **scenario.along, name: prop.canonical(value)})


@pytest.mark.parametrize('field', BUILT)
def test_an_override_does_what_the_image_s_own_property_does(field, cloud):
    for value in tried(field):
        case = Case(cloud, field, value)
        place = f'{field}={value}'
        assert case.asked.outcome == scenarios.outcome(field, value), place
        if case.asked.refused:
            assert case.image.outcome != 'ACTIVE' or (
                case.image.guest == case.plain.guest), place
            continue
        assert case.asked == case.image, place
        if case.asked.outcome != 'ACTIVE':
            continue
        if value in scenarios.scenario(field, value).instead_of:
            assert case.asked.guest == case.bare.guest, place
        shown = case.asked.guest != case.plain.guest
        assert shown != scenarios.unseen(field, value), place


@pytest.mark.skipif(
    release.NUMBER < _NEWEST, reason='older releases lack some properties')
def test_each_entry_of_the_tables_is_of_a_value_that_is_tried():
    tried_of = {field: {*values.taken(values.CATALOG[field])}
                for field in FIELDS}
    for place in scenarios.UNSEEN:
        field, _, value = place.partition('=')
        assert field in tried_of, place
        assert not value or value in tried_of[field], place
        # Otherwise it is not built at all, which needs no excuse.
        assert scenarios.outcome(field, value) == 'ACTIVE', place
    for place, scenario in scenarios.SCENARIOS.items():
        field, _, value = place.partition('=')
        assert {*scenario.instead_of, *filter(None, [value])} <= (
            tried_of[field]), place
    for field, outcomes in scenarios.OUTCOMES.items():
        assert {*outcomes} <= tried_of[field], field


@pytest.mark.parametrize('field', WHOLE)
def test_values_beyond_the_boundaries_are_refused(field, cloud):
    prop: property_module.Property = values.CATALOG[field]
    (name, *_) = values.names(prop)
    for value in values.wrong(prop):
        scenario = scenarios.scenario(field, value)
        outcome = cloud.server(
            scenario, scenario.image, {name: value}).outcome
        assert outcome in (f'400 {errors.INVALID_VALUE}',
                           f'400 {errors.TOO_LONG}'), f'{value}: {outcome}'
