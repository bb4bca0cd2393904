"""Glance's property protections, read and judged as Glance does."""

import configparser
import re
import string
import textwrap
from unittest import mock

import hypothesis
from hypothesis import strategies as st
from oslo_policy import policy
import pytest

from nova_image_override import errors
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.glance import property_protections
from tests.unit import memory
from tests.unit.authorization.judged import caller

MEMBER = caller('member', 'reader')
ADMIN = caller('admin', 'member', 'reader')
NO_ROLES = Caller(lambda rule: True)


def section(name, create='@', read='@', update='@', delete='@'):
    return (f'[{name}]\ncreate = {create}\nread = {read}\n'
            f'update = {update}\ndelete = {delete}\n')


@pytest.fixture
def load(tmp_path):
    """Read a protections file with this text, and policy.yaml with POLICIES."""
    def load(text, rule_format='roles', policies=None):
        path = tmp_path / 'protections.conf'
        path.write_bytes(
            text if isinstance(text, bytes) else text.encode())
        policy_path = None
        if policies is not None:
            policy_path = str(tmp_path / 'policy.yaml')
            (tmp_path / 'policy.yaml').write_text(textwrap.dedent(policies))
        return property_protections.load(str(path), rule_format, policy_path)
    return load


def refusal(load, *args, **kwargs):
    """Return the one-line message with which the start is refused."""
    with pytest.raises(errors.StartupError) as caught:
        load(*args, **kwargs)
    assert '\n' not in str(caught.value)
    return str(caught.value)


# --- roles ------------------------------------------------------------------

@pytest.mark.parametrize(('line', 'who', 'may'), [
    ('admin, member', MEMBER, True), ('Member', MEMBER, True),
    ('admin', MEMBER, False), ('admin', ADMIN, True),
    # Who has no roles may what everybody may.
    ('@', caller(), True), ('member', caller(), False),
    ('@', NO_ROLES, True), ('member', NO_ROLES, False),
    # Nobody: an exclamation mark, and nothing.
    ('!', ADMIN, False), ('member, !', ADMIN, False), ('!,admin', ADMIN, False),
    ('', ADMIN, False), ('admin,', MEMBER, False),
    # A comment behind a value is part of it.
    ('member # only', MEMBER, False), ('@ ; all', MEMBER, False),
    ('service', caller('member', service_roles=['service']), False),
])
def test_who_may_is_whose_own_roles_a_line_has(load, line, who, may):
    rules = load(section('x_a', create=line))
    assert rules.permits('x_a', 'create', who) is may


def test_each_operation_is_judged_by_its_own_line(load):
    rules = load(section('x_a', create='member', update='admin', delete='!'))
    assert [rules.permits('x_a', operation, MEMBER)
            for operation in property_protections.OPERATIONS] == [
                True, True, False, False]


@pytest.mark.parametrize(('text', 'name', 'may'), [
    # What no section matches is closed.
    (section('x_a'), 'x_b', False),
    # A section is searched for anywhere in the name.
    (section('vif'), 'hw_vif_model', True),
    (section('vif'), 'HW_VIF_MODEL', False),
    (section('hw_', '!') + section('hw_vif_model'), 'hw_vif_model', False),
    # Glance's own namespace is open whatever the file says.
    (section('os_glance_x', '!') + section('.*', '!'), 'x_os_glance_y', True),
    (section('os_glance_x', '!') + section('.*', '!'), 'x_y', False),
    # Values are interpolated.
    (section('x_a', create='%(update)s', update='admin'), 'x_a', True),
])
def test_the_first_section_that_matches_decides(load, text, name, may):
    assert load(text).permits(name, 'create', ADMIN) is may


def test_default_section_supplies_what_a_section_leaves_out(load):
    rules = load('[DEFAULT]\ncreate=@\nread=@\nupdate=@\ndelete=admin\n[x_a]')
    assert rules.permits('x_a', 'update', MEMBER)
    assert not rules.permits('x_a', 'delete', MEMBER)


# --- policies ---------------------------------------------------------------

@pytest.mark.parametrize(('name', 'who', 'may'), [
    ('maker', MEMBER, True), ('maker', caller('reader'), False),
    ('mine', caller(project_id='p1'), True),
    ('mine', caller(project_id='p2'), False),
    # There is no target to compare with.
    ('owner', caller(project_id='p1'), False),
    # What cannot be parsed.
    ('maker and nowhere', ADMIN, False), ('not nowhere', ADMIN, False),
    # What everybody and nobody may are no policies.
    ('@', MEMBER, True), ('!', MEMBER, False), ('', MEMBER, False),
])
def test_a_policy_of_glances_policy_yaml_decides(load, name, who, may):
    rules = load(section('x_a', create=name), 'policies', '''
        "maker": "role:member"
        "mine": "project_id:p1"
        "owner": "project_id:%(project_id)s"
        "!": "@"
        "@": "!"
    ''')
    assert rules.permits('x_a', 'create', who) is may


@pytest.mark.parametrize(('name', 'permitted'), [
    ('context_is_admin', {'admin'}), ('service_api', {'admin', 'service'}),
    ('default', {'admin', 'service', 'member'})])
def test_a_policy_may_name_the_rules_of_glance_itself(load, name, permitted):
    rules = load(section('x_a', create=name), 'policies', '"other": "!"')
    assert permitted == {
        role for role in ('admin', 'service', 'member')
        if rules.permits('x_a', 'create', caller(role))}


@pytest.mark.parametrize('name', [
    'nowhere', 'role:admin', '"maker"', 'broken', 'maker or rule:nowhere'])
def test_an_undefined_policy_refuses_everybody(load, name):
    rules = load(section('x_a', create=name), 'policies', '''
        "maker": "role:member"
        "broken": "rule:nowhere or role:member"
        "default": ""
    ''')
    assert rules.policies.undefined == {name}
    assert not rules.permits('x_a', 'create', ADMIN)


def test_undefined_policies_are_named_at_start(load, monkeypatch):
    told = []
    monkeypatch.setattr(
        property_protections.LOG, 'warning', lambda *args: told.append(args))
    load(section('x_a', create='nowhere', update='never'), 'policies',
         '"default": ""')
    ((message, *args),) = told
    assert message % tuple(args) == (
        '[image_override] property_protection_file: these policies are not '
        'defined and deny everybody (in Glance they permit everybody): '
        'never, nowhere')


def test_without_policy_yaml_every_other_policy_is_undefined(load):
    # All rules that Glance has then.
    every = 'context_is_admin or rule:service_api or rule:default'
    rules = load(
        section('x_a', create='maker', update='!', delete=every), 'policies')
    assert rules.policies.undefined == {'maker'}
    assert rules.permits('x_a', 'delete', MEMBER)


def test_everybody_and_nobody_are_no_undefined_policies(load):
    rules = load(section('x_a', '@', '!', '', '@'), 'policies', '{"a": "@"}')
    assert rules.policies.undefined == frozenset()


def test_a_policy_is_checked_once_for_each_caller(load):
    rules = load(section('^x_', create='mine'), 'policies',
                 '"mine": "role:member"')
    with mock.patch.object(
            policy.Enforcer, 'enforce', autospec=True,
            side_effect=policy.Enforcer.enforce) as enforce:
        member, reader = caller('member'), caller('reader')
        assert all(rules.permits(f'x_{n}', 'create', member)
                   and not rules.permits(f'x_{n}', 'create', reader)
                   for n in range(9))
    assert enforce.call_count == 2


def test_more_than_one_policy_refuses_the_start(load):
    assert 'one policy only' in refusal(
        load, section('x_a', create='a,b'), 'policies', 'a: "@"')


def test_policies_in_a_circle_refuse_the_start(load):
    message = refusal(load, section('x_a', create='a'), 'policies',
                      '{"a": "rule:b", "b": "not rule:a"}')
    assert 'refers to itself' in message
    assert 'policy.yaml' in message


@pytest.mark.parametrize('text', ['- a\n- b\n', '"a": [', 'a', '# nothing',
                                  'a: !!bool maybe', 'a: !!int ""',
                                  'a: "\\UFFFFFFFF"', '[' * 1000])
def test_a_malformed_policy_yaml_refuses_the_start(load, text):
    assert 'property_protection_policy_file' in refusal(
        load, section('x_a', create='a'), 'policies', text)


# --- bad files --------------------------------------------------------------

@pytest.mark.parametrize(('text', 'why'), [
    ('', 'is empty'),
    ('# only\n; comments\n', 'is empty'),
    ('[DEFAULT]\ncreate=@\n', ': is empty: no section that counts$'),
    (section('os_glance_x'), ': is empty: no section that counts$'),
    ('create = @\n',
     "no section headers. file: '.*/protections.conf', line: 1 "),
    ('\ufeff' + section('x_a'), 'BOM'),
    (b'[x_\xff]\n', 'is not UTF-8'),
    (section('x_a') * 2, r"\[line 6\]: section 'x_a' already exists"),
    ('[x_a]\ncreate=@\ncreate=@\n',
     r"\[line 3\]: option 'create' .* already exists"),
    ('[x_a]\ncreate\n', 'parsing errors'),
    (section('x_a').replace('delete', 'delte'), "No option 'delete'"),
    (section('x_a', create='100%'), "'%' must be followed by"),
    (section('x_a', create='%(nothing)s'), 'Bad value substitution'),
    (section('x_a', create='@,!'), 'exclude each other'),
    (section('x_a') + section('x_(b'),
     r'section "x_\(b": malformed regular expression'),
    (section('(x+)+$'), 'could take too long'),
])
def test_a_bad_file_refuses_the_start_with_one_line(load, text, why):
    message = refusal(load, text)
    assert re.match(
        r'\[image_override\] property_protection_file: '
        r'/\S*/protections[.]conf: ', message)
    assert re.search(why, message)


# --- many sections ----------------------------------------------------------

def test_ten_thousand_sections_are_searched_once_for_each_name(load):
    rules = load(''.join(section(f'^x_{n}$', update='admin')
                         for n in range(10_000)) + section('.*'))
    for _ in range(100):
        assert not rules.permits('x_9999', 'update', MEMBER)
        assert rules.permits('x_9999', 'create', MEMBER)
        assert rules.permits('hw_disk_bus', 'update', ADMIN)
    assert rules.section.cache_info().misses == 2


def test_names_that_were_judged_long_ago_are_forgotten(load):
    class Forgetful(property_protections.Protections):
        CACHE_SIZE = 8
    rules = Forgetful(load(section('.*')).sections)
    assert memory.held(
        lambda text: rules.permits(text, 'create', MEMBER)) < 100_000


def test_nothing_is_read_once_it_is_loaded(load, tmp_path):
    rules = load(section('x_a', create='maker'), 'policies',
                 '"maker": "role:member"')
    for path in tmp_path.iterdir():
        path.unlink()
    assert rules.permits('x_a', 'create', MEMBER)


def test_no_other_policy_file_of_the_host_opens_anything(
        load, tmp_path, monkeypatch):
    monkeypatch.setenv('HOME', str(tmp_path))
    rules = load(section('x_a', create='maker'), 'policies',
                 '"maker": "role:admin"')
    (tmp_path / 'policy.yaml').write_text('"maker": "@"')
    assert not rules.permits('x_a', 'create', MEMBER)


# --- against Glance's algorithm, written in the other order -----------------

_NAMES = st.text('ab_x', min_size=1, max_size=4)
_VALUES = st.sampled_from(
    ['', '@', '!', 'admin', 'member', 'Member,x', 'x, admin', 'x,'])


@hypothesis.given(
    st.dictionaries(_NAMES, st.tuples(*[_VALUES] * 4), min_size=1,
                    max_size=6),
    _NAMES, st.sampled_from(property_protections.OPERATIONS),
    st.lists(st.sampled_from(['admin', 'member', 'x'])))
@hypothesis.settings(
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_the_first_section_in_the_name_gives_the_roles(
        load, sections, name, operation, roles):
    rules = load(''.join(
        section(each, *values) for each, values in sections.items()))
    deciding = next((each for each in sections if each in name), None)
    if deciding is None:
        expected = False
    else:
        value = sections[deciding][
            property_protections.OPERATIONS.index(operation)
        ]
        listed = [part.strip().lower() for part in value.split(',')]
        expected = '@' in listed or any(role in listed for role in roles)
    assert rules.permits(name, operation, caller(*roles)) == expected


@hypothesis.given(st.text(string.printable + '[]=:%#;éß\u2028\x00'))
@hypothesis.settings(
    deadline=None, max_examples=300,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_no_text_raises_anything_but_the_one_line(load, text):
    try:
        rules = load(section('x_a') + text)
    except errors.StartupError as exc:
        assert '\n' not in str(exc)
    else:
        parser = configparser.ConfigParser()
        parser.read_string((section('x_a') + text).replace('\r\n', '\n')
                           .replace('\r', '\n'))
        assert [each.pattern.pattern for each in rules.sections[1:]] == [
            name for name in parser.sections()
            if not name.startswith('os_glance')]
