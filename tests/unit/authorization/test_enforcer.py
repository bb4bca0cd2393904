"""Who may override what: NEVER, denied, allowed, policy, in this order."""

import types

import hypothesis
from hypothesis import strategies as st
import pytest

from nova_image_override import errors
from nova_image_override import policies
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.authorization import lists
from nova_image_override.authorization.glance import metadata_injection
from nova_image_override.authorization.glance import property_protections
from nova_image_override.properties import book
from testing import release
from tests.unit import memory
from tests.unit import strategies
from tests.unit.authorization.judged import caller
from tests.unit.authorization.judged import MEMBER
from tests.unit.authorization.judged import refusals
from tests.unit.strategies import overrides_of

NO_ONE = caller_module.Caller(can=lambda rule: False)


def reasons(rules, overrides, who=MEMBER):
    """Return the problems of a refusal: name -> (code, reason)."""
    return {p.name: (p.code, p.reason)
            for p in rules.refusals(who, overrides_of(overrides), [{}])}


def code(rules, name, value, who=MEMBER):
    return refusals(rules, {name: value}, who=who).get(name)


def test_nothing_is_permitted_until_the_deployer_says_so(catalog):
    rules = enforcer_module.Enforcer(catalog)
    for field, prop in catalog.items():
        name = 'trait:A' if field == 'traits_required' else (
            f'{field}.0' if prop.family else field)
        for value in ('1', None):
            assert code(rules, name, value) == (
                errors.NEVER if prop.record.never else errors.NOT_ALLOWED)


@pytest.mark.parametrize('field', sorted(
    name for name, record in book.RECORDS.items() if record.never))
@pytest.mark.parametrize('removed', [False, True])
def test_what_describes_the_image_is_never_permitted(catalog, field, removed):
    release.need(field)
    value = (catalog[field].values or ('x',))[0]
    rules = enforcer_module.Enforcer(
        catalog, allowed=['*', field, f'{field}={value}'])
    assert reasons(rules, {field: None if removed else value}) == {field: (
        errors.NEVER, 'describes the image itself and can never be overridden')}


@pytest.mark.parametrize(('denied', 'allowed', 'name', 'value', 'expected'), [
    ([], ['hw_disk_bus'], 'hw_disk_bus', 'scsi', None),
    ([], ['hw_disk_bus'], 'hw_disk_bus', None, None),
    ([], ['*'], 'hw_disk_bus', 'scsi', None),
    ([], ['hw_disk_bus=scsi|ide'], 'hw_disk_bus', 'ide', None),
    ([], ['hw_disk_bus=scsi', 'hw_*=ide'], 'hw_disk_bus', 'ide', None),
    ([], ['hw_disk_bus=scsi', 'hw_disk_bus'], 'hw_disk_bus', None, None),
    (['hw_disk_bus=ide'], ['*'], 'hw_disk_bus', 'scsi', None),
    (['hw_disk_bus=ide'], ['*'], 'hw_disk_bus', None, None),
    (['hw_numa_mem.1'], ['hw_numa_mem'], 'hw_numa_mem.0', '1', None),
    ([], ['hw_numa_mem'], 'hw_numa_mem.0', '1', None),
    ([], ['traits_required'], 'trait:A', 'required', None),
    ([], ['hw_cdrom_bus'], 'hw_disk_bus', 'scsi', errors.NOT_ALLOWED),
    ([], ['trait:A'], 'trait:B', 'required', errors.NOT_ALLOWED),
    ([], ['hw_disk_bus=ide'], 'hw_disk_bus', 'scsi',
     errors.VALUE_NOT_ALLOWED),
    ([], ['hw_disk_bus=*'], 'hw_disk_bus', None, errors.VALUE_NOT_ALLOWED),
    # What cannot be right is not named as what would be.
    ([], ['*=x'], 'trait:A', 'required', errors.NOT_ALLOWED),
    ([], ['hw_*=virtio'], 'hw_numa_nodes', '2', errors.NOT_ALLOWED),
    (['hw_disk_bus'], ['*'], 'hw_disk_bus', 'scsi', errors.DENIED),
    (['hw_disk_bus'], ['*'], 'hw_disk_bus', None, errors.DENIED),
    (['*'], ['*'], 'hw_disk_bus', 'scsi', errors.DENIED),
    (['hw_disk_bus=s*'], ['hw_disk_bus=scsi'], 'hw_disk_bus', 'scsi',
     errors.DENIED),
    (['hw_disk_bus'], [], 'hw_disk_bus', 'scsi', errors.DENIED),
    (['hw_numa_mem'], ['*', 'hw_numa_mem.0'], 'hw_numa_mem.0', '1',
     errors.DENIED),
    (['trait:CUSTOM_*'], ['trait:*'], 'trait:CUSTOM_A', 'required',
     errors.DENIED),
    (['hw_mem_page_size=1GB'], ['*'], 'hw_mem_page_size', '1048576',
     errors.DENIED),
    (['hw_boot_menu=YES'], ['*'], 'hw_boot_menu', 'true', errors.DENIED),
])
def test_the_lists_decide(catalog, denied, allowed, name, value, expected):
    rules = enforcer_module.Enforcer(catalog, denied=denied, allowed=allowed)
    assert code(rules, name, value) == expected


SEE = '; GET /v2.1/image-props-override shows what is permitted'


@pytest.mark.parametrize(('denied', 'allowed', 'value', 'reason'), [
    (['hw_disk_bus'], [], 'scsi', f'denied by this cloud{SEE}'),
    (['hw_*'], [], None, f'denied by this cloud{SEE}'),
    (['hw_disk_bus=scsi'], ['*'], 'scsi',
     f'denied by this cloud with the value scsi{SEE}'),
    ([], ['hw_disk_bus=ide|sata', '*_bus=sata|usb'], 'scsi',
     'this cloud allows only ide, sata, usb'),
    ([], ['hw_disk_bus=ide|sata'], None,
     'this cloud does not allow removing it, only setting it to ide, sata'),
    (['hw_disk_bus=sata', '*_bus=u*'], ['hw_disk_bus=ide|sata', '*=usb|i*'],
     'virtio', 'this cloud allows only ide, i*'),
    (['hw_disk_bus=sata'], ['hw_disk_bus=sata'], 'ide',
     'this cloud allows only values that it denies'),
    ([], [], 'scsi',
     f'not one of the properties that this cloud allows overriding{SEE}'),
])
def test_a_refusal_says_what_is_permitted_instead(
        catalog, denied, allowed, value, reason):
    rules = enforcer_module.Enforcer(catalog, denied=denied, allowed=allowed)
    ((_, found),) = reasons(rules, {'hw_disk_bus': value}).values()
    assert found == reason


def test_a_long_list_of_values_is_cut_and_says_where_they_are(catalog):
    rules = enforcer_module.Enforcer(catalog, allowed=[
        'hw_machine_type=' + '|'.join(f'pc-q35-{n}' for n in range(45))])
    for value in 'virt', None:
        _, reason = reasons(rules, {'hw_machine_type': value})[
            'hw_machine_type']
        assert len(reason) <= 300
        assert ' pc-q35-0, pc-q35-1, ' in reason
        assert ' ...; GET ' in reason


@pytest.mark.parametrize(('length', 'ends'), [(120, 'x'), (121, SEE)])
def test_a_list_of_values_has_at_most_120_characters(catalog, length, ends):
    rules = enforcer_module.Enforcer(
        catalog, allowed=['os_distro=' + 'x' * length])
    ((_, reason),) = reasons(rules, {'os_distro': 'y'}).values()
    assert reason.endswith(ends)


def test_one_answer_names_every_refused_property_and_no_other(catalog):
    rules = enforcer_module.Enforcer(catalog, denied=['hw_pmu'], allowed=[
        'hw_*', 'os_type=linux', 'img_config_drive'])
    assert refusals(rules, {
        'hw_boot_menu': 'true', 'hw_pmu': 'true', 'os_type': 'windows',
        'os_distro': 'x', 'img_owner_id': 'me', 'img_config_drive': 'optional',
    }, who=caller(refused=[
        policies.PROPERTY_RULE.format('img_config_drive')])) == {
        'hw_pmu': errors.DENIED, 'os_type': errors.VALUE_NOT_ALLOWED,
        'os_distro': errors.NOT_ALLOWED, 'img_owner_id': errors.NEVER,
        'img_config_drive': errors.POLICY}


def test_no_overrides_are_permitted_to_anyone(catalog):
    assert refusals(enforcer_module.Enforcer(catalog), {}, who=NO_ONE) == {}


def test_names_that_were_judged_long_ago_are_forgotten(catalog, monkeypatch):
    monkeypatch.setattr(lists.PropertyList, 'CACHE_SIZE', 8)
    rules = enforcer_module.Enforcer(catalog, allowed=['*'])
    assert memory.held(
        lambda text: code(rules, f'trait:{text}', 'required')) < 100_000


# --- policy -----------------------------------------------------------------

def test_policy_is_asked_beside_the_lists(catalog):
    rules = enforcer_module.Enforcer(catalog, allowed=['*'])
    reason = f'policy {policies.CREATE} does not permit it'
    assert reasons(
        rules, {'hw_pmu': 'true', 'hw_numa_mem.0': '1'}, NO_ONE) == {
        'hw_pmu': (errors.POLICY, reason),
        'hw_numa_mem.0': (errors.POLICY, reason)}


@pytest.mark.parametrize(('field', 'name', 'value'), [
    ('hw_pmu', 'hw_pmu', 'true'), ('hw_pmu', 'hw_pmu', None),
    ('hw_numa_mem', 'hw_numa_mem.3', '1'),
    ('traits_required', 'trait:CUSTOM_A', 'required'),
])
def test_a_property_rule_of_policy_yaml_is_asked_under_the_fields_name(
        catalog, field, name, value):
    rules = enforcer_module.Enforcer(catalog, allowed=['*'])
    rule = policies.PROPERTY_RULE.format(field)
    assert reasons(rules, {name: value, 'hw_boot_menu': 'true'},
                   caller(refused=[rule])) == {
        name: (errors.POLICY, f'policy {rule} does not permit it')}


def test_the_lists_answer_before_policy(catalog):
    rules = enforcer_module.Enforcer(catalog, denied=['hw_pmu'])
    assert code(rules, 'hw_pmu', 'true', NO_ONE) == errors.DENIED
    assert code(rules, 'os_distro', 'x', NO_ONE) == errors.NOT_ALLOWED
    assert code(rules, 'img_owner_id', 'x', NO_ONE) == errors.NEVER


# --- start ------------------------------------------------------------------

@pytest.mark.parametrize('option', ['denied', 'allowed'])
def test_a_name_that_this_nova_does_not_have_is_a_warning(
        catalog, option, monkeypatch):
    said = []
    monkeypatch.setattr(
        enforcer_module.LOG, 'warning', lambda *a: said.append(a))
    enforcer_module.Enforcer(
        catalog, **{option: ['hw_pmu', 'hw_later', 'hw_x=1']})
    (args,) = said
    assert args[0] % args[1:] == (
        f'[image_override] {option}_properties: this Nova has no such image '
        'property, the entry has no effect: hw_later, hw_x')


def test_lists_of_known_names_and_globs_are_no_warning(catalog, monkeypatch):
    monkeypatch.setattr(
        enforcer_module.LOG, 'warning', lambda *a: pytest.fail(str(a)))
    enforcer_module.Enforcer(
        catalog, denied=['hw_numa_mem.0'], allowed=['*', 'no_such_*'])


# --- laws -------------------------------------------------------------------

@st.composite
def _denied(draw):
    """A name, a stored value, and an entry that denies it."""
    name, raw = draw(strategies.pairs(removals=True))
    prop = strategies.CATALOG.resolve(name)
    value = None if raw is None else prop.canonical(raw)
    entry = draw(strategies.globs_of(draw(st.sampled_from(
        [name, prop.field]))))
    if value is not None and draw(st.booleans()):
        choices = [strategies.globs_of(value)] if not set(
            '|[]') & set(value) and value == value.strip() else []
        if strategies.can_stand_in_a_list(raw):
            choices.append(st.just(raw))
        if choices:
            entry += '=' + draw(st.one_of(choices))
    return name, value, entry


@hypothesis.given(_denied(), st.lists(strategies.entries()))
def test_a_denied_value_is_never_permitted_whatever_is_allowed(
        catalog, drawn, allowed):
    name, value, entry = drawn
    rules = enforcer_module.Enforcer(
        catalog, denied=['no_such_*', entry],
        allowed=['*', name, catalog.field_of(name), *allowed])
    assert code(rules, name, value) == errors.DENIED


@hypothesis.given(
    strategies.requests(), st.lists(strategies.entries(), max_size=4),
    st.lists(strategies.entries(), max_size=4))
def test_properties_are_judged_each_for_itself(
        catalog, parser, raw, denied, allowed):
    rules = enforcer_module.Enforcer(catalog, denied=denied, allowed=allowed)
    overrides = parser.parse(raw).values
    together = refusals(rules, overrides)
    alone = {}
    for name, value in overrides.items():
        alone.update(refusals(rules, {name: value}))
    assert together == alone


@hypothesis.given(
    strategies.requests(), st.lists(strategies.entries(), max_size=4),
    st.lists(strategies.entries(), max_size=4), strategies.entries())
def test_denying_more_never_permits_more_nor_allowing_more_less(
        catalog, parser, raw, denied, allowed, more):
    overrides = parser.parse(raw).values

    def permitted(denied, allowed):
        rules = enforcer_module.Enforcer(
            catalog, denied=denied, allowed=allowed)
        return overrides.keys() - refusals(rules, overrides)

    now = permitted(denied, allowed)
    assert permitted([*denied, more], allowed) <= now
    assert permitted(denied, [*allowed, more]) >= now


PROTECTIONS = '[.*]\ncreate = maker\nread = @\nupdate = !\ndelete = !\n'
IMPORT = ('[image_import_opts]\n'
          'image_import_plugins = [inject_image_metadata]\n'
          '[inject_metadata_properties]\ninject = os_type:linux\n')


def test_the_rules_are_those_that_the_options_name(catalog, tmp_path):
    for name, text in (('protections', PROTECTIONS), ('import', IMPORT),
                       ('policy', '"maker": "role:member"\n')):
        (tmp_path / name).write_text(text)
    options = types.SimpleNamespace(
        denied_properties=['hw_pmu'], allowed_properties=['hw_*', 'os_*'],
        glance_image_import_files=[str(tmp_path / 'import')],
        property_protection_file=str(tmp_path / 'protections'),
        property_protection_rule_format='policies',
        property_protection_policy_file=str(tmp_path / 'policy'),
        presets_file=None)
    rules = enforcer_module.Enforcer.from_options(catalog, options)
    other = caller('reader')
    assert code(rules, 'hw_pmu', 'true') == errors.DENIED
    assert code(rules, 'img_hv_type', 'kvm') == errors.NOT_ALLOWED
    assert code(rules, 'os_type', 'linux') == errors.INJECTED
    assert code(rules, 'hw_boot_menu', 'true') is None
    assert code(rules, 'hw_boot_menu', 'true', other) == errors.PROTECTED
    options.property_protection_file = None
    rules = enforcer_module.Enforcer.from_options(catalog, options)
    assert code(rules, 'hw_boot_menu', 'true', other) is None


@pytest.mark.parametrize(('options', 'told'), [
    ({}, 'not given'),
    ({'injection': metadata_injection.Injection(configured=True)},
     'the files that nova.conf'),
    ({'protections': property_protections.Protections([])},
     'the files that nova.conf')])
def test_the_log_says_whether_glances_files_are_known(catalog, options, told):
    assert enforcer_module.Enforcer(
        catalog, **options).glances_files.startswith(told)


def test_every_list_and_file_that_is_wrong_is_told_at_once(catalog):
    options = types.SimpleNamespace(
        denied_properties=['vm_mode'], allowed_properties=['hw_disk_bus='],
        glance_image_import_files=['/nowhere/import'],
        property_protection_file='/nowhere/protections',
        property_protection_rule_format='roles',
        property_protection_policy_file=None,
        presets_file='/nowhere/presets')
    with pytest.raises(errors.StartupError) as caught:
        enforcer_module.Enforcer.from_options(catalog, options)
    assert [':'.join(line.split(':')[:2])
            for line in str(caught.value).split('\n')] == [
        "[image_override] denied_properties: entry 'vm_mode'",
        "[image_override] allowed_properties: entry 'hw_disk_bus='",
        '[image_override] glance_image_import_files: /nowhere/import',
        '[image_override] property_protection_file: /nowhere/protections',
        '[image_override] presets_file: /nowhere/presets']
