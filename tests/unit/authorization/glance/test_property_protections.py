"""Glance's property protections, read and judged as Glance does."""

import configparser
import os
import re
import string
import textwrap
from unittest import mock

import hypothesis
from hypothesis import strategies as st
from oslo_policy import policy
import pytest

from nova_image_override import errors
from nova_image_override.authorization import config_files
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.glance import property_protections
from tests.unit import memory


def who(*roles, **more):
    return Caller(lambda rule: True, credentials={'roles': [*roles], **more})


MEMBER = who('member', 'reader')
ADMIN = who('admin', 'member', 'reader')


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

def test_a_role_that_is_listed_may(load):
    rules = load(section('x_a', update='admin, member'))
    assert rules.permits('x_a', 'update', MEMBER)


def test_a_role_that_is_not_listed_may_not(load):
    rules = load(section('x_a', update='admin'))
    assert not rules.permits('x_a', 'update', MEMBER)
    assert rules.permits('x_a', 'update', ADMIN)


def test_each_operation_is_judged_by_its_own_line(load):
    rules = load(section('x_a', create='member', update='admin', delete='!'))
    assert [rules.permits('x_a', operation, MEMBER)
            for operation in property_protections.OPERATIONS] == [
                True, True, False, False]


def test_roles_of_the_file_are_taken_in_lower_case(load):
    assert load(section('x_a', create='Member')).permits(
        'x_a', 'create', MEMBER)


@pytest.mark.parametrize('nobody', [Caller(lambda rule: True), who()])
def test_who_has_no_roles_may_what_everybody_may(load, nobody):
    rules = load(section('x_a', create='member'))
    assert rules.permits('x_a', 'update', nobody)
    assert not rules.permits('x_a', 'create', nobody)


@pytest.mark.parametrize('value', ['!', 'member, !', '!,admin'])
def test_exclamation_mark_refuses_everybody(load, value):
    rules = load(section('x_a', create=value))
    assert not rules.permits('x_a', 'create', ADMIN)


def test_an_empty_permission_refuses_everybody(load):
    assert not load(section('x_a', create='')).permits(
        'x_a', 'create', ADMIN)


def test_a_trailing_comma_adds_nobody(load):
    rules = load(section('x_a', create='admin,'))
    assert not rules.permits('x_a', 'create', MEMBER)


def test_comments_behind_a_value_are_part_of_it(load):
    rules = load(section('x_a', create='member # only', update='@ ; all'))
    assert not rules.permits('x_a', 'create', MEMBER)
    assert not rules.permits('x_a', 'update', MEMBER)


def test_what_no_section_matches_is_closed_even_to_admin(load):
    assert not load(section('x_a')).permits('x_b', 'create', ADMIN)


def test_a_section_is_searched_for_anywhere_in_the_name(load):
    rules = load(section('vif'))
    assert rules.permits('hw_vif_model', 'create', MEMBER)
    assert not rules.permits('HW_VIF_MODEL', 'create', MEMBER)


def test_the_first_section_that_matches_decides(load):
    rules = load(section('hw_', create='admin') + section('hw_vif_model'))
    assert not rules.permits('hw_vif_model', 'create', MEMBER)


def test_glances_own_namespace_is_open_whatever_the_file_says(load):
    rules = load(section('os_glance_x', create='!') + section('.*', '!'))
    assert rules.permits('x_os_glance_y', 'create', MEMBER)
    assert not rules.permits('x_y', 'create', MEMBER)


def test_default_section_supplies_what_a_section_leaves_out(load):
    rules = load('[DEFAULT]\ncreate=@\nread=@\nupdate=@\ndelete=admin\n[x_a]')
    assert rules.permits('x_a', 'update', MEMBER)
    assert not rules.permits('x_a', 'delete', MEMBER)


def test_values_are_interpolated(load):
    rules = load(section('x_a', create='%(update)s', update='member'))
    assert rules.permits('x_a', 'create', MEMBER)


def test_the_roles_of_a_service_token_do_not_count(load):
    rules = load(section('x_a', create='service'))
    assert not rules.permits(
        'x_a', 'create', who('member', 'reader', service_roles=['service']))


# --- policies ---------------------------------------------------------------

def test_a_policy_of_glances_policy_yaml_decides(load):
    rules = load(section('x_a', create='maker'), 'policies',
                 '"maker": "role:member"')
    assert rules.permits('x_a', 'create', MEMBER)
    assert not rules.permits('x_a', 'create', who('reader'))


@pytest.mark.parametrize(('name', 'permitted'), [
    ('context_is_admin', {'admin'}), ('service_api', {'admin', 'service'}),
    ('default', {'admin', 'service', 'member'})])
def test_a_policy_may_name_the_rules_of_glance_itself(load, name, permitted):
    rules = load(section('x_a', create=name), 'policies', '"other": "!"')
    assert permitted == {
        role for role in ('admin', 'service', 'member')
        if rules.permits('x_a', 'create', who(role))}


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


@pytest.mark.parametrize('name', ['maker and nowhere', 'not nowhere'])
def test_a_policy_that_cannot_be_parsed_refuses_everybody(load, name):
    rules = load(section('x_a', create=name), 'policies',
                 '"maker": "role:member"')
    assert not rules.permits('x_a', 'create', ADMIN)


def test_without_policy_yaml_every_other_policy_is_undefined(load):
    # All rules that Glance has then.
    every = 'context_is_admin or rule:service_api or rule:default'
    rules = load(
        section('x_a', create='maker', update='!', delete=every), 'policies')
    assert rules.policies.undefined == {'maker'}
    assert rules.permits('x_a', 'delete', MEMBER)


@pytest.mark.parametrize(('value', 'permitted'), [
    ('@', True), ('!', False), ('', False), ('maker', True)])
def test_everybody_and_nobody_are_no_policies(load, value, permitted):
    rules = load(section('x_a', create=value), 'policies',
                 '{"maker": "role:member", "!": "@", "@": "!"}')
    assert rules.policies.undefined == frozenset()
    assert rules.permits('x_a', 'create', MEMBER) is permitted


def test_a_policy_is_checked_once_for_each_caller(load):
    rules = load(section('^x_', create='mine'), 'policies',
                 '"mine": "role:member"')
    with mock.patch.object(
            policy.Enforcer, 'enforce', autospec=True,
            side_effect=policy.Enforcer.enforce) as enforce:
        member, reader = who('member'), who('reader')
        assert all(rules.permits(f'x_{n}', 'create', member)
                   and not rules.permits(f'x_{n}', 'create', reader)
                   for n in range(9))
    assert enforce.call_count == 2


def test_of_sections_that_overlap_only_the_first_counts(load):
    """What it leaves out is not looked for in the next one."""
    rules = load(section('^hw_disk', create='!', delete='') + section('^hw_')
                 + section('disk', update='admin'))
    assert [rules.permits(name, operation, MEMBER)
            for name in ('hw_disk_bus', 'hw_pmu', 'os_disk')
            for operation in ('create', 'update', 'delete')] == [
                False, True, False, True, True, True, True, False, True]


def test_policies_see_no_target(load):
    rules = load(section('x_a', create='owner'), 'policies',
                 '"owner": "project_id:%(project_id)s"')
    assert not rules.permits(
        'x_a', 'create', who('member', 'reader', project_id='mine'))


def test_policies_see_who_the_user_is(load):
    rules = load(section('x_a', create='mine'), 'policies',
                 '"mine": "project_id:p1"')
    assert rules.permits('x_a', 'create', who('member', project_id='p1'))
    assert not rules.permits('x_a', 'create', who('member', project_id='p2'))


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
    ('create = @\n', "no section headers. file: '.*/protections.conf'"),
    ('\ufeff' + section('x_a'), 'BOM'),
    (b'[x_\xff]\n', 'is not UTF-8'),
    (section('x_a') + section('x_a'), "section 'x_a' already exists"),
    ('[x_a]\ncreate=@\ncreate=@\n', "option 'create' .* already exists"),
    ('[x_a]\ncreate\n', 'parsing errors'),
    (section('x_a').replace('delete', 'delte'), "No option 'delete'"),
    (section('x_a', create='100%'), "'%' must be followed by"),
    (section('x_a', create='%(nothing)s'), 'Bad value substitution'),
    (section('x_a', create='@,!'), 'exclude each other'),
    (section('x_(a'), 'malformed regular expression'),
    (section('(x+)+$'), 'could take too long'),
])
def test_a_bad_file_refuses_the_start_with_one_line(load, text, why):
    message = refusal(load, text)
    assert re.match(
        r'\[image_override\] property_protection_file: '
        r'/\S*/protections[.]conf: ', message)
    assert re.search(why, message)


@pytest.mark.parametrize(('text', 'where'), [
    (section('x_a') + '\n[x_(b]\ncreate = @\n', 'section "x_(b": '),
    (section('x_a') * 2, '[line 6]: '),
    ('[x_a]\ncreate=@\ncreate=@\n', '[line 3]: '),
    ('create = @\n', 'line: 1 '),
])
def test_the_message_names_the_section_or_the_line(load, text, where):
    assert where in refusal(load, text)


@pytest.mark.parametrize(('make', 'why'), [
    (lambda path: None, 'No such file'),
    (lambda path: path.mkdir(), 'not a regular file'),
    (lambda path: os.mkfifo(path), 'not a regular file'),
])
def test_a_file_that_is_none_refuses_the_start(tmp_path, make, why):
    path = tmp_path / 'file'
    make(path)
    with pytest.raises(errors.StartupError, match=why):
        property_protections.load(str(path))


def test_an_unreadable_file_refuses_the_start(tmp_path, monkeypatch):
    path = tmp_path / 'file'
    path.write_text(section('x_a'))

    def denied(self, **kwargs):
        raise PermissionError(13, 'Permission denied')

    # Not by the file's mode, because tests may run as root.
    monkeypatch.setattr('pathlib.Path.read_text', denied)
    with pytest.raises(errors.StartupError, match='Permission denied'):
        property_protections.load(str(path))


def test_a_relative_path_refuses_the_start():
    with pytest.raises(errors.StartupError, match='absolute path'):
        property_protections.load('property-protections.conf')


def test_a_file_beyond_the_limit_refuses_the_start(tmp_path):
    path = tmp_path / 'file'
    with path.open('wb') as file:
        file.truncate(config_files.BYTES_MAX + 1)
    with pytest.raises(errors.StartupError, match='larger than 16384 KiB'):
        property_protections.load(str(path))


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
    assert rules.permits(name, operation, who(*roles)) == expected


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
