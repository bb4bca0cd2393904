"""Who makes a request, as policies see it."""

import types

from nova import context
import nova.conf

from nova_image_override import policies
from nova_image_override.authorization import rules
from nova_image_override.authorization.caller import Callers
from tests.unit.strategies import overrides_of


def test_a_server_that_exists_is_compared_with_its_owner(files, monkeypatch):
    monkeypatch.setattr(nova.conf, 'CONF', files.conf)
    files.write({policies.CREATE:
                 'project_id:%(project_id)s and user_id:%(user_id)s'})
    made = context.RequestContext('u', 'p', is_admin=False)
    callers = Callers()
    assert callers.caller(made).can(policies.CREATE)
    assert [owner for owner in ('pu', 'pv', 'qu') if callers.caller(
        made, types.SimpleNamespace(project_id=owner[0], user_id=owner[1])
    ).can(policies.CREATE)] == ['pu']


def test_glances_policies_are_told_who_the_user_is_and_nothing_else(
        files, monkeypatch):
    """Neither what Nova adds nor the roles of a service token."""
    monkeypatch.setattr(nova.conf, 'CONF', files.conf)
    who = {'user_id': 'u', 'user_domain_id': 'd', 'project_id': 'p',
           'project_domain_id': 'e', 'is_admin_project': False}
    caller = Callers().caller(context.RequestContext(
        **who, is_admin=True, roles=['Member'], service_roles=['service']))
    assert caller.credentials == {
        **who, 'domain_id': None, 'system_scope': None, 'roles': ['member']}


def test_oslo_policy_is_asked_once_in_a_request(files, monkeypatch):
    monkeypatch.setattr(nova.conf, 'CONF', files.conf)
    asked = []
    callers = Callers()
    monkeypatch.setattr(
        callers.policy.content(), 'enforce',
        lambda rule, *_: asked.append(rule) or True)
    for _ in range(2):
        caller = callers.caller(context.RequestContext(
            'u', 'p', is_admin=False))
        assert all(decision.permits for decision in rules.Policy().decide(
            rules.Request(caller, overrides_of({
                'hw_pmu': 'true', 'hw_boot_menu': 'true'}))))
    assert asked == [policies.CREATE] * 2
