"""Who may do what, by the kind of token: every answer is one of a table.

The tokens are Keystone's own: of roles, of application credentials, of a trust,
and of other scopes than a project.
"""

import contextlib
import functools

from keystoneauth1 import session as session_module
from keystoneauth1.identity import v3
import pytest

from testing.deployment import state as state_module
from tests.integration import whole

EXTENSION = '/v2.1/image-props-override'
SERVERS = '/v2.1/servers'

#: What becomes of each request of those who may do everything in the project.
ALL = {'discover': 200, 'check': 200, 'create': 202, 'show': 200,
       'update': 200, 'filter': 200}
READ = {**ALL, 'check': 403, 'create': 403, 'update': 403}
NOTHING = {**dict.fromkeys(ALL, 403), 'discover': 200}

EXPECTED = {
    'admin': ALL,
    'manager': ALL,
    'member': ALL,
    'reader': READ,
    'a role that Nova does not know': NOTHING,
    'a member of another project': {**ALL, 'show': 404, 'update': 404},
    'an application credential': ALL,
    'an application credential of a reader': READ,
    'an application credential for checks': {
        **dict.fromkeys(ALL, 401), 'discover': 200, 'check': 200},
    'a trust': ALL,
    'a service on behalf of a member': ALL,
    'an administrator of the domain': NOTHING,
    'an administrator of the system': NOTHING,
    'nobody': dict.fromkeys(ALL, 401),
}

#: What a client that may only check is restricted to.
_CHECKS = [{'service': 'compute', 'method': 'GET', 'path': EXTENSION},
           {'service': 'compute', 'method': 'POST',
            'path': f'{EXTENSION}/check'}]


def _project(name='demo'):
    return {'project_name': name, 'project_domain_id': 'default'}


def _password(deployment, user, secret=None, **scope):
    """Return a session of a user; by default in the project of the tests."""
    return session_module.Session(v3.Password(
        state_module.url('keystone', '/v3'), username=user,
        password=deployment.state.secret(secret or user),
        user_domain_id='default', **scope or _project()))


@pytest.fixture(scope='module')
def undo():
    """What is called at the end, the last first."""
    with contextlib.ExitStack() as undo:
        yield undo


@pytest.fixture(scope='module')
def sessions(deployment, undo):
    """Identity -> session."""
    def made(session, path, body):
        """Make something in Keystone, which is gone at the end."""
        url = state_module.url('keystone', path)
        (answer,) = session.post(url, json=body).json().values()
        undo.callback(session.delete, f'{url}/{answer["id"]}')
        return answer

    identity = deployment.operator.identity
    operator = _password(
        deployment, 'admin', 'operator', **_project('admin'))
    member = _password(deployment, 'tenant')
    project = identity.find_project('demo')
    # keystone-manage bootstrap gives the role in a project and in the system.
    everywhere = {'domain': 'default', 'user': operator.get_user_id(),
                  'role': identity.find_role('admin')}
    identity.assign_domain_role_to_user(**everywhere)
    undo.callback(identity.unassign_domain_role_from_user, **everywhere)

    def user(role):
        name = f'test-{role}'
        user = made(operator, '/v3/users', {'user': {
            'name': name, 'password': deployment.state.secret(name),
            'domain_id': 'default'}})
        identity.assign_project_role_to_user(
            project, user['id'], identity.find_role(role))
        return _password(deployment, name)

    def credential(role, **rules):
        owner = member.get_user_id()
        given = made(
            member, f'/v3/users/{owner}/application_credentials',
            {'application_credential': {
                'name': f'test {role} {[*rules]}',
                'roles': [{'name': role}], **rules}})
        return session_module.Session(v3.ApplicationCredential(
            state_module.url('keystone', '/v3'),
            application_credential_id=given['id'],
            application_credential_secret=given['secret']))

    trust = made(member, '/v3/OS-TRUST/trusts', {'trust': {
        'trustor_user_id': member.get_user_id(),
        'trustee_user_id': identity.find_user('neighbour').id,
        'project_id': project.id, 'impersonation': True,
        'roles': [{'name': 'member'}]}})
    return {
        'admin': operator,
        'manager': user('manager'),
        'member': member,
        'reader': user('reader'),
        'a role that Nova does not know': user('nfv'),
        'a member of another project': _password(
            deployment, 'neighbour', **_project('neighbours')),
        'an application credential': credential('member'),
        'an application credential of a reader': credential('reader'),
        'an application credential for checks': credential(
            'member', access_rules=_CHECKS),
        'a trust': _password(deployment, 'neighbour', trust_id=trust['id']),
        'a service on behalf of a member': _password(deployment, 'tenant'),
        'an administrator of the domain': _password(
            deployment, 'admin', 'operator', domain_id='default'),
        'an administrator of the system': _password(
            deployment, 'admin', 'operator', system_scope='all'),
        'nobody': None,
    }


@pytest.fixture(scope='module')
def server(deployment, whole_image, small):
    """One of the member's, which is stopped."""
    client = whole.Client(deployment, 'tenant')
    server = client.boot(whole_image, small)
    client.do(server, 'os-stop', 'SHUTOFF')
    yield server
    client.delete(server)


@pytest.fixture
def ask(deployment, sessions):
    """Send a request with somebody's token."""
    def ask(who, method, path, body=None):
        headers = {'OpenStack-API-Version':
                   'compute 2.93, image-props-override 1.0'}
        session = sessions[who] or session_module.Session()
        if who == 'a service on behalf of a member':
            headers['X-Service-Token'] = _password(
                deployment, 'nova', **_project('service')).get_token()
        return session.request(
            state_module.url('nova-api', path), method, json=body,
            headers=headers, authenticated=sessions[who] is not None,
            raise_exc=False)

    return ask


@pytest.mark.parametrize('who', EXPECTED)
def test_each_identity_is_answered_as_its_rights_are(
        deployment, whole_image, small, server, ask, who):
    body = whole.body(whole_image, small, image_props_override=whole.ONE)
    asked = functools.partial(ask, who)
    answers = {
        'discover': asked('GET', EXTENSION),
        'check': asked('POST', f'{EXTENSION}/check', body),
        'create': asked('POST', SERVERS, body),
        'show': asked('GET', f'{SERVERS}/{server}'),
        'update': asked('PUT', f'{SERVERS}/{server}', {
            'server': {whole.PARAMETER: whole.ONE}}),
        'filter': asked(
            'GET', f'{SERVERS}?image_props_override=hw_video_model'),
    }
    created = answers['create'].json().get('server')
    if created:
        operator = whole.Client(deployment, 'operator')
        operator.send('DELETE', f'/{created["id"]}', expected=204)
        operator.gone(created['id'])
    assert {name: answer.status_code for name, answer in answers.items()} == (
        EXPECTED[who])


def test_discovery_offers_those_nothing_who_may_override_nothing(ask):
    for who, expected in EXPECTED.items():
        answer = ask(who, 'GET', EXTENSION)
        if answer.status_code == 200:
            schema = answer.json()['image_props_override']['schema']
            assert bool(schema['properties']) == (expected['check'] == 200)
