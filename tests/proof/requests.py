"""What clients that have never heard of the extension send.

Every route of the running Nova, every action of its servers with the bodies
from Nova's own documentation and with wrong ones, and what is no request at
all. None names the extension or its parameter.
"""
from __future__ import annotations

import collections.abc
import dataclasses
import json
import re
import typing

from nova.api.openstack.compute import routes

from nova_image_override import versions
from tests.proof import samples

_METHODS = ('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS')

#: Server ids in requests, replaced by those of real servers.
PLAIN, OVERRIDDEN = '{plain}', '{overridden}'
MISSING = '9e5b3f51-2f0f-4c46-9c4f-3b0a5f2d6f57'


@dataclasses.dataclass(frozen=True)
class Request:
    """One request of a client, without Nova's microversion so far.

    :ivar kind: what it is counted as
    :ivar path: below the root of nova-api's version, such as ``/servers``
    :ivar body: JSON text, or bytes that are none
    :ivar admin: sent with the administrator's token
    """

    kind: str
    method: str
    path: str
    body: bytes = b''
    admin: bool = True
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str | None = 'application/json'

    def __str__(self) -> str:
        return (f'{self.method} {self.path} {self.body[:300]!r} '
                f'{dict(self.headers)} {self.content_type}')


def _json(body: typing.Any) -> bytes:
    return json.dumps(body, sort_keys=True).encode()


def actions() -> set[str]:
    """Return the name of each action that servers have in this Nova."""
    main, controllers = routes.server_controller.args
    return {name for controller in (main, *controllers)
            for name in controller.wsgi_actions}


def _paths() -> collections.abc.Iterator[tuple[str, set[str]]]:
    """Yield the path and the methods of each route."""
    for path, methods in routes.ROUTE_LIST:
        if isinstance(methods, str):
            yield path, {'GET'}
        else:
            yield path, set(methods)


def every_route() -> collections.abc.Iterator[Request]:
    """Every route, with every method, its own and those it lacks."""
    for path, methods in _paths():
        servers = [MISSING]
        if path.startswith('/servers/{'):
            servers += [PLAIN, OVERRIDDEN]
        for server in servers:
            place = re.sub(r'^/servers/\{\w+\}', f'/servers/{server}', path)
            place = re.sub(r'\{(?!plain|overridden)\w+\}', '1', place)
            for method in _METHODS:
                if method in methods:
                    kind = 'route'
                elif server == MISSING:
                    kind = 'method that a route lacks'
                else:
                    continue
                if method in ('DELETE',) and server == OVERRIDDEN:
                    continue
                yield Request(
                    kind, method, place,
                    _json({}) if method in ('POST', 'PUT') else b'',
                    admin='servers' not in path or method != 'GET')


def every_query() -> collections.abc.Iterator[Request]:
    """Lists of servers with queries, valid and invalid."""
    for query in (
            'limit=1', 'sort_key=name&sort_dir=asc', 'all_tenants=1',
            f'marker={MISSING}', 'limit=-1', 'changes-since=2030-01-01',
            'status=ACTIVE', 'image_props_override=x', 'foo=bar', 'limit=x',
            'tags=a', 'locked=true', 'name=te.*', 'deleted=1', '%ff'):
        for path in ('/servers', '/servers/detail', '/os-volumes_boot/detail'):
            for admin in (True, False):
                yield Request('query', 'GET', f'{path}?{query}', admin=admin)


def every_action() -> collections.abc.Iterator[Request]:
    """Every action: Nova's sample bodies, none, and wrong ones."""
    bodies = samples.bodies()
    for name in sorted(actions()):
        told = bodies.get(name, [])
        wrong = [{name: None}, {name: {}}, {name: {'bogus': 1}}, {name: []}]
        for body in [*told, *(each for each in wrong if each not in told)]:
            yield Request('action', 'POST', f'/servers/{PLAIN}/action',
                          _json(body))
        body = (told or wrong)[0]
        for server in (MISSING, OVERRIDDEN):
            # Those that the extension refuses because of the overrides are
            # not requests of somebody who does not use it.
            if server == OVERRIDDEN and name in _KEPT:
                continue
            yield Request('action', 'POST', f'/servers/{server}/action',
                          _json(body))
        yield Request('action as member', 'POST', f'/servers/{PLAIN}/action',
                      _json(body), admin=False)
    yield Request('action', 'POST', f'/servers/{PLAIN}/action',
                  _json({'bogus': {}}))
    yield Request('action', 'POST', f'/servers/{PLAIN}/action',
                  _json({'reboot': {'type': 'HARD'}, 'os-stop': None}))


#: Actions that keep a server's overrides, or refuse (docs: admin/life.rst).
_KEPT = frozenset({'rebuild', 'rescue', 'resize', 'migrate'})


def every_create() -> collections.abc.Iterator[Request]:
    """Create and update: Nova's sample bodies, and wrong ones."""
    told = samples.bodies()['server']
    good = next(body for body in told if 'imageRef' in body['server']
                and 'networks' in body['server'])
    server = good['server']
    wrong = [
        {'server': {**server, 'imageRef': MISSING}},
        {'server': {**server, 'flavorRef': 'bogus'}},
        {'server': {**server, 'flavorRef': 6, 'imageRef': ''}},
        {'server': {**server, 'bogus': 1}},
        {'server': {**server, 'name': None}},
        {'server': {**server, 'name': 'x' * 256}},
        {'server': {**server, 'min_count': 2, 'max_count': 3}},
        {'server': {**server, 'min_count': 0}},
        {'server': {**server, 'config_drive': True}},
        {'server': {**server, 'os:scheduler_hints': {'group': MISSING}}},
        {'server': server, 'os:scheduler_hints': {'bogus': 'x'}},
        {'server': server, 'OS-SCH-HNT:scheduler_hints': {'query': '[]'}},
        {'server': {}}, {'server': None}, {'server': []}, {}, [], None,
        'server', 1, {'bogus': good}, {'server': server, 'bogus': 1},
        {'server': {k: v for k, v in server.items() if k != 'imageRef'}},
        {'server': {**server, 'imageRef': '', 'block_device_mapping_v2': [{
            'boot_index': 0, 'source_type': 'volume',
            'destination_type': 'volume',
            'uuid': samples.VALUES['volume_id']}]}},
        {'server': {**server, 'block_device_mapping_v2': 'x'}},
    ]
    for body in [*told, *wrong]:
        for admin in (True, False):
            yield Request('create', 'POST', '/servers', _json(body), admin)
    for body in [good, *wrong[:6]]:
        yield Request('create', 'POST', '/os-volumes_boot', _json(body))
    for body in [*told, *wrong, {'server': {'name': 'new'}}]:
        yield Request('update', 'PUT', f'/servers/{PLAIN}', _json(body))
    yield Request('update', 'PUT', f'/servers/{OVERRIDDEN}',
                  _json({'server': {'name': 'new'}}))


def every_child() -> collections.abc.Iterator[Request]:
    """Resources below servers: tags, volumes, interfaces, ..."""
    bodies = samples.bodies()
    for method, path, key in (
            ('POST', 'metadata', 'metadata'), ('PUT', 'metadata', 'metadata'),
            ('PUT', 'metadata/foo', 'meta'), ('PUT', 'tags', 'tags'),
            ('PUT', 'tags/a', ''), ('POST', 'os-interface',
                                    'interfaceAttachment'),
            ('POST', 'os-volume_attachments', 'volumeAttachment'),
            ('PUT', 'os-volume_attachments/' + MISSING, 'volumeAttachment'),
            ('POST', 'remote-consoles', 'remote_console'),
            ('POST', 'shares', 'share')):
        for body in [*bodies.get(key, []), {key: {}}, {key: {'a': 'b'}}]:
            yield Request('child', method, f'/servers/{PLAIN}/{path}',
                          _json(body))


def no_requests() -> collections.abc.Iterator[Request]:
    """What is wrong before any controller reads it."""
    good = _json(next(body for body in samples.bodies()['server']
                      if 'imageRef' in body['server']))
    for body in (b'{', b'', b'[', b'\xff\xfe{\x00}\x00', b'{"server": NaN}',
                 b'\xef\xbb\xbf' + good, good.decode().encode('utf-16'),
                 b'{"server": {"name": "\xff"}}', b'[' * 5000,
                 b'{"server": {"name": "a", "name": "b"}}', b'null',
                 good + b'x', b' ' * 200_000 + good, good * 2):
        for method, path in (('POST', '/servers'),
                             ('PUT', f'/servers/{PLAIN}'),
                             ('POST', f'/servers/{PLAIN}/action')):
            yield Request('body', method, path, body)
    for content_type in (
            None, '', 'text/plain', 'application/xml', 'application/JSON',
            'application/vnd.openstack.compute+json', 'multipart/form-data',
            'application/json; charset=utf-16', 'x', 'a/b/c', 'é/é'):
        yield Request('content type', 'POST', '/servers', good,
                      content_type=content_type)
    for header, value in (
            ('Accept', 'application/xml'), ('Accept', 'text/html;q=0.5'),
            ('Accept', '*/*;q=x'), ('Accept-Language', 'de'),
            ('Accept-Encoding', 'gzip'), ('Range', 'bytes=0-1'),
            ('If-None-Match', '*'), ('Origin', 'http://example.org'),
            ('X-Forwarded-Proto', 'https'), ('X-Forwarded-Host', 'a, b'),
            ('X-Roles', ''), ('X-Roles', 'MEMBER, '),
            ('X-Auth-Project-Id', 'other'), ('Vary', 'x'),
            ('X-Service-Token', 'x'), ('X-OpenStack-Request-ID', 'x'),
            ('X-OpenStack-Request-ID', 'req-' + MISSING),
            ('Image-Props-Override', '1.0'), ('X-HTTP-Method-Override', 'PUT'),
            ('Transfer-Encoding', 'chunked'), ('Content-Length', '1'),
            ('Content-Length', '-1'), ('Content-Length', 'x'),
            ('Expect', '100-continue'), ('X-' + 'a' * 200, 'b' * 4000)):
        for method, path, body in (
                ('GET', '/servers', b''), ('POST', '/servers', good),
                ('GET', f'/servers/{OVERRIDDEN}', b'')):
            yield Request('header', method, path, body, admin=False,
                          headers=((header, value),))
    for path in ('', '/', '//servers', '/servers/', '/servers.json',
                 '/Servers', '/servers;x', '/servers%2f', '/servers/../servers',
                 '/bogus', '/bogus/servers', '/servers/detail/x', '/%00',
                 '/servers/%ff', '/servers/' + 'x' * 5000,
                 '/servers?' + 'x' * 5000, '/extensions',
                 '/image-props-overrid', '/os-volumes_boot', '/flavors/detail',
                 '/limits', '/images/detail'):
        for method in ('GET', 'POST', 'DELETE'):
            yield Request('path', method, path, b'{}', admin=False)


def bad_versions() -> collections.abc.Iterator[Request]:
    """Headers that ask for versions of Nova, or of none."""
    header = versions.HEADER
    for value in (
            'compute', 'compute latest', 'compute 2.1000', 'compute 1.0',
            'compute 2.x', 'compute 2.01', 'compute  2.10', 'Compute 2.10',
            '2.10', 'volume 3.0', 'volume 3.0, compute 2.10', 'latest', ',',
            'compute 2.10,', ',compute 2.10', 'compute 2.10, compute 2.20',
            'compute 2.10 compute 2.20', 'placement 1.0, compute 2.1000',
            'compute\t2.10', 'compute 2.10;', 'compute -1', 'x' * 5000,
            'image-props-overrides 1.0', 'image-props 1.0, compute 2.10'):
        for path in ('/servers', f'/servers/{OVERRIDDEN}', '/flavors'):
            yield Request('version header', 'GET', path,
                          headers=((header, value),))
    for value in ('2.10', 'latest', '2.1000', 'x', '', 'compute 2.10'):
        for path in ('/servers', f'/servers/{PLAIN}', '/flavors'):
            yield Request(
                'version header', 'GET', path,
                headers=(('X-OpenStack-Nova-API-Version', value),))


#: Requested only once: they have no microversion, or bring their own.
ROOTS = tuple(
    Request('version document', method, path, admin=False)
    for path in ('/', '', '/v2', '/v2/', '/v2.1', '/v2.1/', '/v2.1?x', '/v3',
                 '/v1', '/v2.2/servers', '/versions', '//', '/v2.1//servers')
    for method in _METHODS)


def in_every_version() -> list[Request]:
    """Return what is sent in each microversion of Nova.

    Every route of servers with its own methods, every action of theirs as Nova
    documents it, every create and rebuild that Nova documents.
    """
    chosen: list[Request] = []
    actions = set()
    for each in everything():
        if each.kind == 'route' and each.path.startswith(
                ('/servers', '/os-volumes_boot')) and MISSING not in each.path:
            chosen.append(each)
        elif each.kind == 'action' and PLAIN in each.path:
            action = next(iter(json.loads(each.body)))
            if action not in actions or action == 'rebuild':
                actions.add(action)
                chosen.append(each)
    told = [body for body in samples.bodies()['server']
            if 'flavorRef' in body['server']]
    chosen += [Request('create', 'POST', '/servers', _json(body))
               for body in told]
    return list(dict.fromkeys(chosen))


def everything() -> list[Request]:
    """Return all requests to which a microversion can be added."""
    return list(dict.fromkeys([
        *every_route(), *every_query(), *every_action(), *every_create(),
        *every_child(), *no_requests()]))
