"""The demo's cloud as clients find it: one site with the services' endpoints.

nova-api is the real one. Of Keystone, Glance, Cinder and Neutron there is what
clients ask for on their way to it: a token with a catalogue, and from Nova's
own fakes the images, the one volume that was made from an image, and the
networks.
"""

import typing

from keystoneauth1 import fixture
import webob
import webob.dec
import webob.exc

from testing.site import cloud as cloud_module
from testing.site import images
from testing.site import network
from testing.site import volumes

#: User name -> roles. The password is the name.
USERS = {'demo': 'member,reader', 'admin': 'admin,member,reader'}

#: ID of the users' domain.
_DOMAIN = 'default'

#: Headers that Keystone's middleware would set, and nobody else may.
_IDENTITY = ('X-Auth-User', 'X-User-Id', 'X-Auth-Project-Id', 'X-Roles')


class Site:
    """WSGI application: ``/identity``, ``/image`` and the other services.

    :param cloud: a running cloud
    :param compute: its nova-api
    :param users: its users, in the form of USERS
    :param networks: whether the catalogue has Neutron
    """

    def __init__(
        self, cloud: cloud_module.Cloud, compute: typing.Any,
        users: dict[str, str] = USERS, networks: bool = False,
    ) -> None:
        self._cloud = cloud
        self._compute = compute
        self._users = users
        self._services = {
            'identity': '/identity/v3', 'image': '/image',
            'block-storage': '/volume/v3', 'compute': '/compute/v2.1'}
        if networks:
            self._services['network'] = '/network'

    @webob.dec.wsgify
    def __call__(self, request: webob.Request) -> typing.Any:
        """Pass a request to the service that its path names."""
        service = request.path_info_pop()
        if service == 'compute':
            return self._nova(request)
        if service == 'identity':
            answer = self._identity(request)
        elif service == 'image':
            answer = images.answer(self._cloud.glance, request)
        elif service == 'volume':
            answer = volumes.answer(self._cloud.cinder, request)
        elif service == 'guest':
            answer = self._definition(request.path_info.strip('/'))
        elif service == 'network':
            answer = network.answer(self._cloud.neutron, request)
        else:
            raise webob.exc.HTTPNotFound()
        return (answer if isinstance(answer, webob.Response)
                else webob.Response(json_body=answer))

    def _definition(self, server: str) -> webob.Response:
        """Answer with a guest's libvirt XML, which Nova shows nobody."""
        xml = self._cloud.definition(server)
        if xml is None:
            raise webob.exc.HTTPNotFound(f'There is no guest {server}.')
        return webob.Response(xml, content_type='text/xml', charset='utf-8')

    def _nova(self, request: webob.Request) -> typing.Any:
        for header in _IDENTITY:
            request.headers.pop(header, None)
        user = request.headers.get('X-Auth-Token')
        if user in self._users:
            harness_user = self._harness_user(user)
            request.headers.update(zip(_IDENTITY, (
                harness_user, harness_user,
                self._cloud.api.project_id, self._users[user])))
        elif len(request.path_info.strip('/').split('/')) > 1:
            # Version documents are for everybody.
            raise webob.exc.HTTPUnauthorized()
        return self._compute

    def _identity(self, request: webob.Request) -> typing.Any:
        url = request.host_url
        path = request.path_info.rstrip('/')
        if path == '':
            return fixture.DiscoveryList(f'{url}/identity', v2=False)
        if path == '/v3':
            return {'version': fixture.V3Discovery(f'{url}/identity/v3')}
        if path.endswith('/projects'):
            return {'projects': [{
                'id': self._cloud.api.project_id, 'name': 'demo',
                'domain_id': _DOMAIN, 'enabled': True}]}
        if path != '/v3/auth/tokens':
            raise webob.exc.HTTPNotFound()
        if request.method == 'DELETE':
            return webob.Response(status=204)
        try:
            asked = request.json['auth']
            user = self._authenticated(asked['identity'])
        except (KeyError, TypeError, ValueError):
            raise webob.exc.HTTPBadRequest() from None
        answer = webob.Response(
            json_body=self._token(url, user, asked.get('scope')), status=201)
        answer.headers['X-Subject-Token'] = user
        return answer

    def _authenticated(self, identity: dict[str, typing.Any]) -> str:
        """Return the user who gives a name and password, or a token."""
        if 'token' in identity:
            user = password = identity['token']['id']
        else:
            said = identity['password']['user']
            user, password = said['name'], said['password']
        if user not in self._users or password != user:
            raise webob.exc.HTTPUnauthorized()
        return user

    def _harness_user(self, user: str) -> str:
        """Return a user whom the harness takes for an administrator, or not."""
        return 'admin' if 'admin' in self._users[user].split(',') else 'fake'

    def _token(
        self, url: str, user: str, scope: typing.Any,
    ) -> fixture.V3Token:
        who = {'user_id': self._harness_user(user), 'user_name': user,
               'user_domain_id': _DOMAIN, 'user_domain_name': 'Default'}
        if scope == 'unscoped':
            return fixture.V3Token(**who)
        token = fixture.V3Token(
            **who, project_id=self._cloud.api.project_id, project_name='demo',
            project_domain_id=_DOMAIN, project_domain_name='Default')
        for role in self._users[user].split(','):
            token.add_role(role)
        for service, path in self._services.items():
            token.add_service(service, name=service).add_standard_endpoints(
                public=url + path, region='demo')
        return token
