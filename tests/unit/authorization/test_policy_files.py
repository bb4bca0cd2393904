"""oslo.policy: which callers may override, according to Nova's policy files."""

import json
import os
import threading
import time
from unittest import mock

import nova.conf
from oslo_config import cfg
from oslo_policy import policy as oslo_policy
import pytest

from nova_image_override import errors
from nova_image_override import policies
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import presets
from nova_image_override.authorization import rules
from nova_image_override.authorization import watched_files
from nova_image_override.authorization.caller import Caller, Callers
from nova_image_override.override import Override, Overrides
from nova_image_override.properties.catalog import running
from tests.unit.authorization import policy_folder

MEMBER = {'roles': ['member'], 'project_id': 'p'}
READER = {'roles': ['reader'], 'project_id': 'p'}
HW_PMU = policies.PROPERTY_RULE.format('hw_pmu')


@pytest.fixture
def enforcer(files):
    """Return a function that makes an enforcer from what policy.yaml says."""
    def make(**rules):
        files.write(rules)
        return files.read().content()
    return make


@pytest.mark.parametrize(('credentials', 'may'), [
    (MEMBER, True), ({'roles': ['admin'], 'project_id': 'q'}, True),
    (READER, False), ({'roles': [], 'project_id': 'p'}, False),
    ({'roles': ['member'], 'project_id': 'q'}, False)])
def test_members_of_the_project_and_admins_may_override_by_default(
        enforcer, credentials, may):
    can = policy_folder.can(enforcer(), credentials)
    assert can(policies.CREATE) is may


def test_nova_alone_warns_of_deprecated_rules(files, recwarn):
    files.write({'old': '!'})
    caller_module.watched_policy(files.conf, [
        oslo_policy.RuleDefault(
            new, '@', deprecated_rule=oslo_policy.DeprecatedRule(
                old, check, deprecated_reason='x', deprecated_since='1'))
        for new, old, check in (('new', 'old', '@'), ('same', 'same', '!'))])
    assert list(recwarn) == []


def test_the_rule_for_all_overrides_says_that_there_may_be_others():
    rule, hosts = policies.list_rules()
    assert hosts.name == policies.HOSTS
    assert rule.name == policies.CREATE
    assert policies.PROPERTY_RULE.format('<property>') in rule.description
    assert policies.PRESET_RULE.format('<name>') in rule.description
    assert [op['path'] for op in rule.operations] == [
        '/servers', '/servers/{server_id}/action (rebuild)',
        '/servers/{server_id}']
    assert rule.scope_types == ['project']


@pytest.mark.parametrize(
    'rule', [HW_PMU, policies.PRESET_RULE.format('one')])
def test_oslo_policy_does_not_warn_of_rules_that_have_no_default(
        enforcer, rule, monkeypatch, recwarn):
    logged = []
    monkeypatch.setattr(oslo_policy.LOG, 'warning', lambda *args:
                        logged.append(args))
    made = enforcer(**{rule: 'rule:project_member_or_admin'})
    assert made.enforce(rule, policy_folder.TARGET, MEMBER)
    assert made.check_rules()
    assert not [*logged, *recwarn.list]


def refused(enforcer, credentials, *fields):
    """Return which policy rule refuses which property."""
    can = policy_folder.can(enforcer, credentials)
    return refused_to(Caller(can, enforcer.file_rules), fields)


def refused_to(caller, fields):
    return {
        field: decision.detail for field in fields
        for decision in rules.Policy().decide(rules.Request(
            caller, Overrides((Override(running()[field], field, None),))))
        if not decision.permits}


@pytest.mark.parametrize(('defined', 'credentials', 'expected'), [
    ({}, MEMBER, [None, None]),
    ({}, READER, [policies.CREATE, policies.CREATE]),
    ({policies.CREATE: '!'}, MEMBER, [policies.CREATE, policies.CREATE]),
    ({HW_PMU: 'role:admin'}, MEMBER, [HW_PMU, None]),
    # It does not open what the rule for all overrides closes.
    ({HW_PMU: '@'}, READER, [policies.CREATE, policies.CREATE])])
def test_policy_yaml_can_close_the_extension_or_one_property(
        enforcer, defined, credentials, expected):
    found = refused(enforcer(**defined), credentials, 'hw_pmu', 'hw_numa_mem')
    assert [found.get(name) for name in ('hw_pmu', 'hw_numa_mem')] == expected


def test_rules_that_policy_yaml_does_not_define_are_not_asked(enforcer):
    asked = []
    made = enforcer(**{HW_PMU: '@'})
    caller = Caller(lambda rule: not asked.append(rule), made.file_rules)
    assert refused_to(caller, ['hw_pmu', 'hw_boot_menu']) == {}
    assert asked == [policies.CREATE, HW_PMU, policies.CREATE]


def test_a_rule_that_nothing_checks_is_told_at_start_and_at_each_change(
        files, catalog, monkeypatch):
    monkeypatch.setattr(nova.conf, 'CONF', files.conf)
    told = []
    monkeypatch.setattr(caller_module.LOG, 'warning', lambda message, *args:
                        told.append(message % args))
    offered = ': {description: x, properties: {hw_pmu: yes}}'
    path = files.write('windows' + offered, 'presets.yaml')
    files.write({policies.PRESET_RULE.format('Windows'): '!'})
    read, callers = presets.Presets(catalog, str(path)), Callers()
    callers.warn_of_unknown(catalog, read)
    (line,) = told
    assert line.endswith(
        f': {policies.PRESET_RULE.format("Windows")} '
        f'(did you mean {policies.PRESET_RULE.format("windows")}?)')
    for rules_now, offers, unknown in (
            ({HW_PMU: '!'}, 'windows', None),
            ({policies.PROPERTY_RULE.format('hw_pum'): '!'}, 'windows',
             f'{policies.PROPERTY_RULE.format("hw_pum")} '
             f'(did you mean {HW_PMU}?)'),
            ({policies.PRESET_RULE.format('windows'): '!'}, 'windows', None),
            ({policies.PRESET_RULE.format('windows'): '!'}, 'other',
             policies.PRESET_RULE.format('windows'))):
        told.clear()
        files.write(rules_now)
        files.write(offers + offered, 'presets.yaml')
        # Nothing has changed when they are asked again.
        for expected in unknown, None:
            callers.policy.content()
            read.now()
            assert bool(told) == bool(expected)
            assert all(line.endswith(f': {expected}') for line in told)
            told.clear()


def test_files_that_change_faster_than_they_are_read_fail_no_request(
        files, catalog, monkeypatch):
    monkeypatch.setattr(nova.conf, 'CONF', files.conf)
    rules, offers = files.write({HW_PMU: '!'}), files.write(
        'windows: {description: x, properties: {hw_pmu: yes}}', 'presets.yaml')
    read, callers = presets.Presets(catalog, str(offers)), Callers()
    callers.warn_of_unknown(catalog, read)
    for watched, path in (callers.policy, rules), (read._watched, offers):
        monkeypatch.setattr(watched, '_paths', lambda path=path: [
            path.write_text(path.read_text() + ' ') and str(path)])
    assert HW_PMU in callers.policy.content().file_rules
    assert set(read.now()) == {'windows'}


def test_a_name_that_is_no_text_closes_nothing(files, catalog, monkeypatch):
    monkeypatch.setattr(nova.conf, 'CONF', files.conf)
    path = files.write('{}', 'presets.yaml')
    files.write(f'yes: "!"\n1: "!"\n"{HW_PMU}": "!"\n')
    callers = Callers()
    callers.warn_of_unknown(catalog, presets.Presets(catalog, str(path)))
    assert refused(callers.policy.content(), MEMBER, 'hw_pmu',
                   'hw_boot_menu') == {
        'hw_pmu': HW_PMU}


@pytest.mark.parametrize('circle', [
    {HW_PMU: f'rule:{HW_PMU}'},
    {HW_PMU: 'not rule:one', 'one': 'rule:gone or rule:two',
     'two': 'role:x and rule:one'},
    {'project_member_or_admin': 'rule:project_member_or_admin'}])
def test_rules_that_refer_to_themselves_are_not_read(files, circle, said):
    files.write(circle)
    with pytest.raises(errors.StartupError, match='refers to itself'):
        files.read()
    files.write({HW_PMU: '!', 'one': 'rule:one'})
    read = files.read()
    files.write(circle)
    assert refused_now(read) == {'hw_pmu': HW_PMU}
    assert 'refers to itself (in ' in said[0]
    assert 'What was read before stays' in said[0]


# --- files that change ------------------------------------------------------

def refused_now(read):
    """Return what a project member is refused now."""
    return refused(read.content(), MEMBER, 'hw_pmu')


@pytest.mark.skipif(
    not hasattr(oslo_policy, 'pick_default_policy_file'),
    reason='this oslo.policy reads no policy.json')
def test_a_policy_json_that_is_read_counts_when_it_changes(files):
    files.conf = cfg.ConfigOpts()
    files.conf(['--config-dir', str(files.folder)])
    files.write(json.dumps({HW_PMU: 'role:member'}), 'policy.json')
    read = files.read()
    assert refused_now(read) == {}
    files.write(json.dumps({HW_PMU: '!'}), 'policy.json')
    assert refused_now(read) == {'hw_pmu': HW_PMU}


def test_what_could_not_be_read_is_read_again_every_ten_seconds(
        files, said, monkeypatch):
    clock = mock.Mock()
    monkeypatch.setattr(watched_files, 'time', clock)
    files.write({HW_PMU: 'role:member'})
    read = files.read()
    files.write({HW_PMU: '!'})
    with monkeypatch.context() as patch:
        fails = mock.Mock(side_effect=OSError('EMFILE'))
        patch.setattr(read, '_read', fails)
        for now, times in (0, 1), (9.9, 1), (10, 2), (19.9, 2):
            clock.monotonic.return_value = now
            assert refused_now(read) == {}
            assert fails.call_count == times
    told = mock.Mock()
    read.then = told
    assert refused_now(read) == {}
    clock.monotonic.return_value = 20
    assert refused_now(read) == {'hw_pmu': HW_PMU}
    assert len(said) == 1
    told.assert_called_once_with()
    assert refused_now(read) == {'hw_pmu': HW_PMU}
    told.assert_called_once_with()


@pytest.mark.parametrize('name', ['policy.yaml', 'policy.d/more.yaml'])
def test_a_policy_file_made_later_counts_and_so_does_the_end_of_its_rule(
        files, name, said):
    read = files.read()
    assert refused_now(read) == {}
    files.write({HW_PMU: '!'}, name)
    assert refused_now(read) == {'hw_pmu': HW_PMU}
    files.write({}, name)
    assert refused_now(read) == {}
    assert said == []


@pytest.mark.parametrize('name', ['policy.yaml', 'policy.d/more.yaml'])
@pytest.mark.parametrize('left', [None, '', ' \n\n'])
def test_a_file_that_goes_or_is_emptied_takes_no_rule_with_it(
        files, name, left, said):
    path = files.write({HW_PMU: '!'}, name)
    read = files.read()
    if left is None:
        path.unlink()
    else:
        files.write(left, name)
    for _ in range(2):
        assert refused_now(read) == {'hw_pmu': HW_PMU}
    (line,) = said
    assert f'missing or empty: {path}. What was read before stays ' \
        'in force.' in line
    files.write({HW_PMU: 'role:member'}, name)
    assert refused_now(read) == {}
    assert len(said) == 1


def test_while_a_file_is_missing_no_other_file_changes_a_rule(files, said):
    files.write({'any': '@'})
    read = files.read()
    # Made after the start.
    path = files.write({HW_PMU: '!'}, 'policy.d/more.yaml')
    assert refused_now(read) == {'hw_pmu': HW_PMU}
    path.unlink()
    assert refused_now(read) == {'hw_pmu': HW_PMU}
    files.write({HW_PMU: '@'})
    assert refused_now(read) == {'hw_pmu': HW_PMU}
    assert len(said) == 2
    files.write({'any': '@'}, 'policy.d/more.yaml')
    assert refused_now(read) == {}


@pytest.mark.parametrize('text', ['', '\n'])
@pytest.mark.parametrize('name', ['policy.yaml', 'policy.d/more.yaml'])
def test_a_file_that_never_had_a_rule_is_not_missed(files, name, text, said):
    path = files.write(text, name)
    read = files.read()
    assert refused_now(read) == {}
    files.write({HW_PMU: '!'}, 'policy.d/other.yaml')
    assert refused_now(read) == {'hw_pmu': HW_PMU}
    path.unlink()
    files.write({HW_PMU: '@'}, 'policy.d/other.yaml')
    assert refused_now(read) == {}
    assert said == []


@pytest.mark.parametrize('left', ['.more.yaml.swp', 'empty'])
def test_what_holds_no_rules_for_nova_is_not_missed(files, left, said):
    files.write({})
    path = files.folder / 'policy.d' / left
    if left == 'empty':
        path.mkdir(parents=True)
        remove = path.rmdir
    else:
        remove = files.write('x', f'policy.d/{left}').unlink
    read = files.read()
    remove()
    files.write({HW_PMU: '!'})
    assert refused_now(read) == {'hw_pmu': HW_PMU}
    assert said == []


def test_files_that_stay_are_not_read_again(files, monkeypatch):
    files.write({HW_PMU: '!'})
    read = files.read()
    monkeypatch.setattr(
        oslo_policy, 'parse_file_contents', lambda data: pytest.fail('read'))
    assert refused_now(read) == {'hw_pmu': HW_PMU}


def test_a_file_that_goes_while_it_is_looked_at_changes_nothing(files):
    files.write({HW_PMU: '!'}, 'policy.d/more.yaml')
    read = files.read()
    link = files.folder / 'policy.d' / 'gone.yaml'
    link.symlink_to('nowhere')
    assert refused_now(read) == {'hw_pmu': HW_PMU}
    link.unlink()
    files.write({}, 'policy.d/more.yaml')
    assert refused_now(read) == {}


@pytest.mark.parametrize('text', [
    '{', '- a list', 'rule: 1', '\0', 'a: !!bool maybe', 'a: !!int ""',
    'a: !!timestamp x', '"\\UFFFFFFFF": "!"', '[' * 1000])
@pytest.mark.parametrize('name', ['policy.yaml', 'policy.d/more.yaml'])
def test_an_unreadable_file_stops_the_start_and_later_changes_nothing(
        files, name, text, said):
    files.write({HW_PMU: '!'})
    read = files.read()
    path = files.write(text, name)
    for _ in range(2):
        assert refused_now(read) == {'hw_pmu': HW_PMU}
    (line,) = said
    assert 'stays in force' in line
    with pytest.raises(errors.StartupError) as caught:
        files.read()
    assert '\n' not in str(caught.value)
    assert str(path) in str(caught.value)
    path.unlink()
    files.write({HW_PMU: 'role:member'})
    assert refused_now(read) == {}


@pytest.mark.parametrize('name', ['policy.yaml', 'policy.d/more.yaml'])
@pytest.mark.parametrize('closed', [True, False])
def test_whoever_asks_while_a_file_is_read_is_judged_by_all_of_it(
        files, name, closed, monkeypatch):
    """Whichever thread reads, and wherever in oslo.policy it is at the time."""
    rules = {HW_PMU: '!'} if closed else {}
    files.write({}, 'policy.yaml')
    files.write(rules, name)
    read = files.read()
    # Nova's enforcer, which other threads ask all the while.
    novas = oslo_policy.Enforcer(files.conf)
    novas.register_defaults([policy_folder.NOVAS])
    novas.load_rules()
    files.write({**rules, 'more': '@'}, name)
    answers = []
    original = oslo_policy.parse_file_contents

    def parse(data):
        # In the thread that reads: what answer would another one get now?
        if not answers or answers[-1] is not None:
            answers.append(None)
            asking = threading.Thread(
                target=lambda: answers.__setitem__(-1, refused_now(read)))
            asking.start()
            asking.join()
        return original(data)

    monkeypatch.setattr(oslo_policy, 'parse_file_contents', parse)
    novas.load_rules()
    assert len(answers) > 1
    assert answers == [{'hw_pmu': HW_PMU} if closed else {}] * len(answers)


def test_whoever_asks_while_ours_are_read_waits_for_all_of_them(
        files, monkeypatch):
    files.write({HW_PMU: '!'})
    read = files.read()
    files.write({HW_PMU: '!', 'more': '@'})
    reading, asked = threading.Event(), threading.Event()
    original = oslo_policy.parse_file_contents
    answers = []

    def parse(data):
        reading.set()
        assert asked.wait(60)
        return original(data)

    monkeypatch.setattr(oslo_policy, 'parse_file_contents', parse)
    threads = [
        threading.Thread(target=lambda: answers.append(refused_now(read)))
        for _ in range(2)]
    threads[0].start()
    assert reading.wait(60)
    threads[1].start()
    asked.set()
    for thread in threads:
        thread.join()
    assert answers == [{'hw_pmu': HW_PMU}] * 2


def test_no_request_finds_open_what_every_state_of_a_file_closes(
        files, said):
    """Replaced, emptied, cut and moved away, while others ask."""
    path = files.write({HW_PMU: '!'})
    read = files.read()
    answers, done = set(), threading.Event()

    def ask():
        while not done.is_set():
            answers.add(tuple(refused_now(read).items()))
            # Threads of Nova before 34 change only where one sleeps.
            time.sleep(0)

    asking = [threading.Thread(target=ask) for _ in range(3)]
    for thread in asking:
        thread.start()
    try:
        for number in range(40):
            text = json.dumps({HW_PMU: '!', f'more{number}': '@'})
            new = path.with_name('new')
            new.write_text(text)
            os.replace(new, path)
            path.write_text('')
            path.write_text(text[:-5])
            path.write_text(text)
            os.replace(path, new)
            time.sleep(0)
            os.replace(new, path)
            time.sleep(0)
    finally:
        done.set()
        for thread in asking:
            thread.join()
    assert answers == {(('hw_pmu', HW_PMU),)}
    files.write({HW_PMU: '@'})
    assert refused_now(read) == {}
