"""Tokens of other scopes than a project, and tokens that services add."""

import fixtures
from nova import context as nova_context
import pytest

from nova_image_override import errors
from nova_image_override import versions
from testing.harness import base
from tests.functional import update_case

RULE = 'os_compute_api:servers:create:image_props_override'
#: What keystonemiddleware makes of a token, besides its project.
ALL = 'admin,manager,member,reader'
DOMAIN = {'X-Domain-Id': 'default'}
SYSTEM = {'OpenStack-System-Scope': 'all'}
SERVICE = {'X-Service-Token': 'secret', 'X-Service-Roles': f'service,{ALL}',
           'X-Service-User-Id': 'nova', 'X-Service-Project-Id': 'service'}


class Cloud(update_case.Cloud):
    POLICY = {f'{RULE}:hw_pmu': 'role:service'}

    def setUp(self):
        super().setUp()
        # Off in Nova 26 by default; newer releases of oslo.policy have no
        # option.
        if 'enforce_scope' in base.CONF.oslo_policy:
            self.flags(enforce_scope=True, group='oslo_policy')
        # As nova-api makes it of what keystonemiddleware says, which Nova's
        # harness replaces with less.
        self.useFixture(fixtures.MonkeyPatch(
            'nova.api.auth.NovaKeystoneContext._create_context',
            staticmethod(self.context_of)))

    def context_of(self, environ, **kwargs):
        if not environ.keys() & {
                'HTTP_X_DOMAIN_ID', 'HTTP_OPENSTACK_SYSTEM_SCOPE'}:
            environ['HTTP_X_PROJECT_ID'] = environ['HTTP_X_AUTH_PROJECT_ID']
        return nova_context.RequestContext.from_environ(environ, **kwargs)

    def answers(self, stopped, active, overrides, **token):
        """Return the answers of discovery, check, create, update and rebuild.
        """
        body = self.server_body(overrides)
        changed = {base.PARAMETER: overrides}
        return [self.http(method, path, sent, **token)
                for method, path, sent in (
                    ('GET', versions.PATH, None),
                    ('POST', versions.CHECK_PATH, body),
                    ('POST', '/servers', body),
                    ('PUT', f'/servers/{stopped}', {'server': changed}),
                    ('POST', f'/servers/{active}/action', {
                        'rebuild': {'imageRef': base.IMAGE, **changed}}))]


class TestScopes:
    @pytest.mark.parametrize('scope', [DOMAIN, SYSTEM])
    def test_without_a_project_nothing_may_be_overridden(self, cloud, scope):
        servers = cloud.stopped(), cloud.boot()
        before = [*map(cloud.state, servers)]
        discovered, *refused = cloud.answers(
            *servers, {'hw_video_model': 'vga'}, roles=ALL, headers=scope)
        assert discovered.status == 200
        assert discovered.body[errors.PARAMETER]['schema']['properties'] == {}
        assert [each.status for each in refused] == [403] * 4
        assert [*map(cloud.state, servers)] == before


class TestServiceTokens:
    def test_it_takes_nothing_from_the_user(self, cloud):
        answers = cloud.answers(
            cloud.stopped(), cloud.boot(), {'hw_video_model': 'vga'},
            headers=SERVICE)
        assert [each.status for each in answers] == [
            200, 200, 202, 200, 202], answers[-1].text

    def test_it_gives_the_user_nothing(self, cloud):
        servers = cloud.stopped(), cloud.boot()
        before = [*map(cloud.state, servers)]
        discovered, *refused = cloud.answers(
            *servers, {'hw_video_model': 'vga'}, roles='reader',
            headers=SERVICE)
        assert discovered.body[errors.PARAMETER]['schema']['properties'] == {}
        assert [each.status for each in refused] == [403] * 4
        assert [*map(cloud.state, servers)] == before

    def test_a_rule_that_asks_for_a_role_asks_the_user_for_it(self, cloud):
        for token, status in (({'headers': SERVICE}, 403),
                              ({'roles': 'member,reader,service'}, 200)):
            cloud.check({'hw_pmu': 'true'}, **token).expect(status)
