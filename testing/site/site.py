"""The demo's cloud as clients find it: one site with the services' endpoints.

nova-api is the real one. Of Keystone, Glance and Cinder there is what clients
ask on their way to it: a token with a catalogue, the images of Nova's own fake,
and the one volume of its other fake that was made from an image.
"""

import typing

from keystoneauth1 import fixture
import webob
import webob.dec
import webob.exc

from testing.site import cloud as cloud_module

#: User name -> roles. The password is the name.
USERS = {'demo': 'member,reader', 'admin': 'admin,member,reader'}

#: Name of the volume.
VOLUME = 'debian-volume'

#: Who the harness takes for an administrator, and for anybody else.
_HARNESS_USERS = {'demo': 'fake', 'admin': 'admin'}

#: Headers that Keystone's middleware would set, and nobody else may.
_IDENTITY = ('X-Auth-User', 'X-User-Id', 'X-Auth-Project-Id', 'X-Roles')


class Site:
    """WSGI application: ``/identity``, ``/image``, ``/volume``, ``/compute``.

    :param cloud: a running cloud
    :param compute: its nova-api
    """

    def __init__(self, cloud: cloud_module.Cloud, compute: typing.Any) -> None:
        self._cloud = cloud
        self._compute = compute

    @webob.dec.wsgify
    def __call__(self, request: webob.Request) -> typing.Any:
        """Pass a request to the service that its path names."""
        service = request.path_info_pop()
        if service == 'compute':
            return self._nova(request)
        if service == 'identity':
            answer = self._identity(request)
        elif service == 'image':
            answer = self._image(request)
        elif service == 'volume':
            answer = self._volume(request)
        else:
            raise webob.exc.HTTPNotFound()
        return (answer if isinstance(answer, webob.Response)
                else webob.Response(json_body=answer))

    def _nova(self, request: webob.Request) -> typing.Any:
        for header in _IDENTITY:
            request.headers.pop(header, None)
        user = request.headers.get('X-Auth-Token')
        if user in USERS:
            request.headers.update(zip(_IDENTITY, (
                _HARNESS_USERS[user], _HARNESS_USERS[user],
                self._cloud.api.project_id, USERS[user]), strict=True))
        elif len(request.path_info.strip('/').split('/')) > 1:
            # Documents of versions are for everybody.
            raise webob.exc.HTTPUnauthorized()
        return self._compute

    def _identity(self, request: webob.Request) -> typing.Any:
        url = request.host_url
        path = request.path_info.rstrip('/')
        if path == '':
            return fixture.DiscoveryList(f'{url}/identity', v2=False)
        if path == '/v3':
            return {'version': fixture.V3Discovery(f'{url}/identity/v3')}
        if (request.method, path) != ('POST', '/v3/auth/tokens'):
            raise webob.exc.HTTPNotFound()
        try:
            said = request.json['auth']['identity']['password']['user']
            user, password = said['name'], said['password']
        except (KeyError, TypeError, ValueError):
            raise webob.exc.HTTPBadRequest() from None
        if user not in USERS or password != user:
            raise webob.exc.HTTPUnauthorized()
        answer = webob.Response(
            json_body=self._token(url, user), status=201)
        answer.headers['X-Subject-Token'] = user
        return answer

    def _token(self, url: str, user: str) -> fixture.V3Token:
        token = fixture.V3Token(
            user_id=_HARNESS_USERS[user], user_name=user,
            user_domain_id='default', user_domain_name='Default',
            project_id=self._cloud.api.project_id, project_name='demo',
            project_domain_id='default', project_domain_name='Default')
        for role in USERS[user].split(','):
            token.add_role(role)
        for service, path in (('identity', '/identity/v3'),
                              ('image', '/image'),
                              ('block-storage', '/volume/v3'),
                              ('compute', '/compute/v2.1')):
            token.add_service(service, name=service).add_standard_endpoints(
                public=url + path, region='demo')
        return token

    def _image(self, request: webob.Request) -> typing.Any:
        path = request.path_info.strip('/').split('/')
        if path in ([''], ['v2']):
            return _version(f'{request.host_url}/image/v2/', 'v2.0')
        images = {image['id']: _image(image)
                  for image in self._cloud.glance.detail(None)}
        if path == ['v2', 'schemas', 'image']:
            # python-glanceclient, which Heat has, asks what an image is.
            return {'name': 'image', 'properties': {}}
        if path == ['v2', 'images']:
            name = request.GET.get('name')
            return {'images': [image for image in images.values()
                               if name in (None, image['name'])]}
        if path[:2] == ['v2', 'images'] and path[-1] in images:
            return images[path[-1]]
        raise webob.exc.HTTPNotFound()

    def _volume(self, request: webob.Request) -> typing.Any:
        path = request.path_info.strip('/').split('/')
        if path in ([''], ['v3']):
            return _version(f'{request.host_url}/volume/v3/', 'v3.0')
        volume = {'id': self._cloud.cinder.IMAGE_BACKED_VOL, 'name': VOLUME}
        if path == ['v3', 'volumes', 'detail']:
            return {'volumes': [volume] if request.GET.get('name') in (
                None, VOLUME) else []}
        if path == ['v3', 'volumes', volume['id']]:
            return {'volume': volume}
        raise webob.exc.HTTPNotFound()


def _version(url: str, version: str) -> dict[str, typing.Any]:
    """Return the document of a service that has one version."""
    listed = fixture.DiscoveryList(v2=False, v3=False)
    listed.add_microversion(url, version, status='CURRENT')
    return {'versions': listed['versions']['values']}


def _image(image: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """Return what version 2 of Glance's API shows of one of Nova's images."""
    return {
        **{name: str(value) for name, value in image['properties'].items()},
        **{name: image.get(name) for name in (
            'id', 'name', 'status', 'visibility', 'container_format',
            'disk_format', 'min_ram', 'min_disk', 'size')}}
