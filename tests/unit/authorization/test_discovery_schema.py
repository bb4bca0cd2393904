"""Discovery shows in advance what the rules will say."""

import hypothesis
from hypothesis import strategies as st
import jsonschema
import microversion_parse
import pytest

from nova_image_override import policies
from nova_image_override import versions
from nova_image_override.api.change import plan
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.properties import book
from nova_image_override.properties import families
from tests.unit import ecma
from tests.unit import strategies
from tests.unit.authorization.judged import caller
from tests.unit.authorization.judged import MEMBER
from tests.unit.authorization.judged import offered
from tests.unit.authorization.judged import offers
from tests.unit.authorization.judged import refusals


def permitted(rules, overrides, who=MEMBER):
    return not refusals(rules, overrides, who=who)


def on_offer(catalog, who=MEMBER, **lists):
    return offered(enforcer_module.Enforcer(catalog, **lists), who)


# --- what is on offer -------------------------------------------------------

@pytest.mark.parametrize(('who', 'lists'), [
    # Until the deployer says so.
    (MEMBER, {}), (MEMBER, {'denied': ['hw_disk_bus=ide']}),
    # To a caller whom policy refuses.
    (caller(refused=[policies.CREATE]), {'allowed': ['*']}),
    # Of what describes the image.
    *((MEMBER, {'allowed': [name]})
      for name, record in sorted(book.RECORDS.items()) if record.never)])
def test_what_nobody_may_override_is_not_on_offer(catalog, who, lists):
    assert on_offer(catalog, who, **lists) == {}


def test_everything_that_can_be_permitted_is_on_offer_where_all_is(catalog):
    assert set(on_offer(catalog, allowed=['*'])) == {
        prop.family.pattern if prop.family else field
        for field, prop in catalog.items() if not prop.record.never}


def test_families_and_only_they_say_their_names_in_words(catalog):
    spelled = {prop.family.pattern: prop.spelling for prop in catalog.values()
               if prop.family}
    assert {
        name: value['title']
        for name, value in on_offer(catalog, allowed=['*']).items()
        if 'title' in value} == spelled


def test_a_property_that_policy_refuses_is_not_on_offer(catalog):
    who = caller(refused={policies.PROPERTY_RULE.format('hw_numa_mem'),
                          policies.PROPERTY_RULE.format('hw_pmu')})
    assert set(on_offer(
        catalog, who, allowed=['hw_numa_*', 'hw_pmu', 'hw_disk_bus'])) == {
        catalog['hw_numa_cpus'].family.pattern, 'hw_numa_nodes', 'hw_disk_bus'}


def test_only_permitted_values_are_on_offer(catalog):
    found = on_offer(
        catalog, allowed=['hw_disk_bus=scsi|i*|usb', 'hw_boot_menu=Yes',
                          'os_type=linux', 'os_distro=ubuntu*|debian'],
        denied=['hw_disk_bus=usb', 'os_type=LINUX', 'os_distro=*core'])
    assert found['hw_disk_bus']['enum'] == ['ide', 'scsi']
    assert found['hw_boot_menu']['enum'] == ['true']
    assert 'os_type' not in found
    valid = jsonschema.Draft202012Validator(found['os_distro']).is_valid
    assert valid('ubuntu-server')
    assert valid('debian')
    assert not valid('ubuntu-core')
    assert not valid('debian12')
    assert not valid(None)


@pytest.mark.parametrize(('denied', 'allowed', 'name', 'value', 'expected'), [
    ([], ['hw_numa_mem.0'], 'hw_numa_mem.0', '1', True),
    ([], ['hw_numa_mem.0'], 'hw_numa_mem.1', '1', False),
    ([], ['hw_numa_mem.0', '*'], 'hw_numa_mem.1', '1', True),
    ([], ['hw_numa_mem.*'], 'hw_numa_mem.99', '1', True),
    ([], ['*.0'], 'hw_numa_cpus.0', '1', True),
    ([], ['*.0'], 'hw_numa_cpus.10', '1', False),
    ([], ['trait:CUSTOM_*'], 'trait:CUSTOM_A', 'required', True),
    ([], ['trait:CUSTOM_*'], 'trait:HW_A', 'required', False),
    ([], ['*=forbidden'], 'trait:A', 'required', False),
    (['trait:CUSTOM_*'], ['trait:*'], 'trait:CUSTOM_A', 'required', False),
    (['trait:CUSTOM_*'], ['trait:*'], 'trait:HW_A', 'required', True),
    (['hw_numa_mem.0', 'hw_numa_mem.1?'], ['*'], 'hw_numa_mem.12', '1', False),
    (['hw_numa_mem.0', 'hw_numa_mem.1?'], ['*'], 'hw_numa_mem.1', '1', True),
    (['hw_numa_mem'], ['*', 'hw_numa_mem.0'], 'hw_numa_mem.0', '1', False),
    (['hw_numa_mem=1'], ['*'], 'hw_numa_mem.0', '1', False),
    (['hw_numa_mem=1'], ['*'], 'hw_numa_mem.0', '2', True),
    (['hw_numa_mem=1'], ['*'], 'hw_numa_mem.0', None, True),
    (['hw_numa_mem.0=1'], ['*'], 'hw_numa_mem.0', '1', False),
    (['hw_numa_mem.0=1'], ['*'], 'hw_numa_mem.0', '2', True),
])
def test_families_are_offered_by_the_members_that_the_lists_name(
        catalog, denied, allowed, name, value, expected):
    rules = enforcer_module.Enforcer(catalog, denied=denied, allowed=allowed)
    assert offers(rules, {name: value}) == expected
    assert permitted(rules, {name: value}) == expected


def test_the_one_exception_value_limits_of_single_members_are_shown_together(
        catalog):
    rules = enforcer_module.Enforcer(
        catalog, allowed=['hw_numa_mem.0=1', 'hw_numa_mem.1=2'])
    # A create judges each member separately: it is discovery that is wider.
    assert offers(rules, {'hw_numa_mem.0': '2'})
    assert not permitted(rules, {'hw_numa_mem.0': '2'})
    assert not offers(rules, {'hw_numa_mem.0': '3'})


@pytest.mark.parametrize(('allowed', 'null'), [
    (['hw_disk_bus'], True), (['hw_disk_bus=scsi'], False),
    (['hw_disk_bus=*'], False), (['hw_disk_bus=scsi', 'hw_*'], True),
    (['os_distro'], True), (['os_distro=x*'], False), (['*'], True),
])
def test_null_is_on_offer_where_removal_is_permitted(catalog, allowed, null):
    rules = enforcer_module.Enforcer(catalog, allowed=allowed)
    (name,) = {'hw_disk_bus', 'os_distro'} & {
        entry.partition('=')[0] for entry in allowed} or {'os_distro'}
    assert offers(rules, {name: None}) == null
    assert permitted(rules, {name: None}) == null


def test_where_every_value_is_denied_only_removal_is_on_offer(catalog):
    assert on_offer(
        catalog, allowed=['hw_disk_bus'], denied=['hw_disk_bus=*']) == {
        'hw_disk_bus': {
            'type': 'null',
            'description': catalog['hw_disk_bus'].record.description,
            'drivers': ['libvirt', 'vmwareapi']}}


def test_the_schema_says_of_which_version_it_is(catalog):
    version = microversion_parse.Version(7, 3)
    planner = plan.Planner(
        enforcer_module.Enforcer(catalog), None, frozenset())
    assert planner.schema(
        MEMBER, version)['title'] == 'image_props_override 7.3'


@pytest.mark.parametrize('name', [
    'hw_numa_mem.0\n', 'trait:A\n', 'hw_disk_bus\n', '\nhw_disk_bus',
    'hw_numa_mem.128', 'hw_numa_mem.00', 'trait:a', 'trait:', 'hw_numa_mem',
    'traits_required', 'architecture', 'img_owner_id', 'no_such_thing', ''])
@pytest.mark.parametrize('allowed', [['*'], ['hw_numa_mem.*', 'trait:*']])
def test_no_name_that_create_refuses_is_on_offer(catalog, name, allowed):
    rules = enforcer_module.Enforcer(catalog, allowed=allowed)
    for value in ('1', 'required', None):
        assert not offers(rules, {name: value})


@pytest.mark.parametrize('entry', ['trait:*', 'traits_required', '*'])
def test_a_family_that_is_open_as_a_whole_is_named_by_its_own_pattern(
        catalog, entry):
    assert families.TRAITS.pattern in on_offer(catalog, allowed=[entry])


# --- the law ----------------------------------------------------------------

_policy = st.frozensets(st.sampled_from(
    [policies.CREATE, *map(policies.PROPERTY_RULE.format, strategies.OPEN)]),
    max_size=3)


def _judged(fields):
    """A stored name and value of FIELDS, null included."""
    return strategies.pairs(fields, removals=True)


def _agree(catalog, parser, pair, denied, allowed, refused):
    """Assert that discovery and the rules say the same about one property."""
    name, value = pair
    stored = parser.parse({name: value}).values
    rules = enforcer_module.Enforcer(catalog, denied=denied, allowed=allowed)
    who = caller(refused=refused)
    assert offers(rules, stored, who) == permitted(rules, stored, who)


def _near(fields, **kwargs):
    return st.lists(strategies.entries(fields, **kwargs), max_size=3)


@hypothesis.given(st.data(), _policy)
def test_discovery_offers_exactly_what_the_rules_permit(
        catalog, parser, data, refused):
    pair = data.draw(_judged(strategies.SINGLE))
    near = {pair[0], data.draw(st.sampled_from(sorted(strategies.SINGLE)))}
    _agree(catalog, parser, pair, data.draw(_near(near)),
           data.draw(_near(near) | st.just(['*'])), refused)


# Value limits of single members are the exception: see above. So lists name
# either members or values.
@pytest.mark.parametrize('how', [
    {'values': False}, {'values': True, 'whole': True}])
@hypothesis.given(data=st.data(), refused=_policy)
def test_discovery_offers_exactly_the_members_that_the_rules_permit(
        catalog, parser, how, data, refused):
    fields = [data.draw(st.sampled_from(sorted(strategies.FAMILIES)))]
    _agree(catalog, parser, data.draw(_judged(fields)),
           data.draw(_near(fields, **how)),
           data.draw(_near(fields, **how) | st.just(['*'])), refused)


@hypothesis.given(
    _near(tuple(strategies.OPEN)), _near(tuple(strategies.OPEN)))
def test_what_is_offered_is_a_schema_that_any_client_can_read(
        catalog, denied, allowed):
    rules = enforcer_module.Enforcer(catalog, denied=denied, allowed=allowed)
    schema = plan.Planner(rules, None, frozenset()).schema(
        MEMBER, versions.MAX)
    jsonschema.Draft202012Validator.check_schema(schema)
    for pattern in ecma.of(schema):
        ecma.check(pattern)
