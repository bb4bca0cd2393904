"""oslo.policy: which callers may override, in Nova's own enforcer."""

import json
import os

from nova.objects import fields
from oslo_config import cfg
from oslo_policy import policy as oslo_policy
import pytest

from nova_image_override import policies
from nova_image_override.rules import policy
from tests.unit import test_catalog

MEMBER = {'roles': ['member'], 'project_id': 'p'}
READER = {'roles': ['reader'], 'project_id': 'p'}
TARGET = {'project_id': 'p'}


@pytest.fixture
def enforcer(catalog, tmp_path):
    """Return a maker of Nova-like enforcers, given what policy.yaml says."""
    def make(**rules):
        path = tmp_path / 'policy.yaml'
        path.write_text(json.dumps(rules))
        conf = cfg.ConfigOpts()
        conf([])
        made = oslo_policy.Enforcer(conf, policy_file=str(path))
        made.register_default(oslo_policy.RuleDefault(
            'project_member_or_admin',
            'role:admin or (role:member and project_id:%(project_id)s)'))
        policy.register(made, catalog)
        made.load_rules()
        return made
    return make


def can(enforcer, credentials):
    return lambda rule: enforcer.authorize(rule, TARGET, credentials)


def test_a_project_member_may_override_by_default(enforcer):
    made = enforcer()
    assert can(made, MEMBER)(policies.CREATE)
    assert can(made, {'roles': ['admin'], 'project_id': 'q'})(policies.CREATE)


@pytest.mark.parametrize('credentials', [
    READER, {'roles': [], 'project_id': 'p'},
    {'roles': ['member'], 'project_id': 'q'}])
def test_nobody_else_may_override_by_default(enforcer, credentials):
    assert not can(enforcer(), credentials)(policies.CREATE)


def test_registering_twice_changes_nothing(enforcer, catalog):
    made = enforcer()
    before = dict(made.registered_rules)
    policy.register(made, catalog)
    assert made.registered_rules == before


def test_the_rules_are_those_of_the_novas_properties(enforcer):
    made = oslo_policy.Enforcer(cfg.ConfigOpts())
    policy.register(made, test_catalog.later_nova(
        hw_later_flag=fields.FlexibleBooleanField()))
    assert set(made.registered_rules) == {
        policies.CREATE, policies.property_rule('hw_later_flag')}


def test_there_is_a_rule_for_each_property_that_can_be_permitted(catalog):
    names = [rule.name for rule in policies.list_rules(catalog)]
    assert len(names) == len(set(names))
    assert set(names) == {policies.CREATE} | {
        f'os_compute_api:servers:create:image_props_override:{field}'
        for field, prop in catalog.items() if not prop.never}


def test_the_sample_policy_file_is_made_for_the_running_nova(catalog):
    assert [r.name for r in policies.list_rules()] == [
        r.name for r in policies.list_rules(catalog)]


def test_every_rule_is_documented_for_the_sample_file(catalog):
    for rule in policies.list_rules(catalog):
        assert rule.description
        assert [op['path'] for op in rule.operations] == [
            '/servers', '/servers/{server_id}/action (rebuild)']
        assert rule.scope_types == ['project']


def refused(enforcer, credentials, *fields):
    return policy.refused_by(
        can(enforcer, credentials), enforcer.file_rules, fields)


def test_nothing_is_refused_where_policy_yaml_says_nothing(enforcer):
    assert refused(enforcer(), MEMBER, 'hw_pmu', 'hw_numa_mem') == {}


def test_who_may_not_override_at_all_is_refused_every_property(enforcer):
    assert refused(enforcer(), READER, 'hw_pmu', 'hw_numa_mem') == {
        'hw_pmu': policies.CREATE, 'hw_numa_mem': policies.CREATE}


def test_policy_yaml_can_close_the_extension(enforcer):
    made = enforcer(**{policies.CREATE: '!'})
    assert refused(made, MEMBER, 'hw_pmu') == {'hw_pmu': policies.CREATE}


def test_policy_yaml_can_close_one_property(enforcer):
    rule = policies.property_rule('hw_pmu')
    made = enforcer(**{rule: 'role:admin'})
    assert refused(made, MEMBER, 'hw_pmu', 'hw_boot_menu') == {'hw_pmu': rule}


def test_a_property_rule_does_not_open_what_the_main_rule_closes(enforcer):
    made = enforcer(**{policies.property_rule('hw_pmu'): '@'})
    assert refused(made, READER, 'hw_pmu') == {'hw_pmu': policies.CREATE}


def test_rules_that_policy_yaml_does_not_define_are_not_asked(enforcer):
    asked = []
    made = enforcer(**{policies.property_rule('hw_pmu'): '@'})
    policy.refused_by(
        lambda rule: not asked.append(rule), made.file_rules,
        ['hw_pmu', 'hw_boot_menu', 'hw_disk_bus'])
    assert asked == [policies.CREATE, policies.property_rule('hw_pmu')]


def test_a_rule_that_is_written_later_counts_from_the_next_decision(
        enforcer, tmp_path):
    made = enforcer()
    defined = policy.FileRules(made)
    assert policies.property_rule('hw_pmu') not in defined
    path = tmp_path / 'policy.yaml'
    path.write_text(json.dumps({policies.property_rule('hw_pmu'): '!'}))
    os.utime(path, (1, 2 ** 31))
    assert policy.refused_by(can(made, MEMBER), defined, ['hw_pmu']) == {
        'hw_pmu': policies.property_rule('hw_pmu')}
