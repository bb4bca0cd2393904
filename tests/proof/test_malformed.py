"""Whatever is sent to whichever endpoint, nothing of ours fails."""
from __future__ import annotations

import collections
import collections.abc
import os
import typing

import fixtures
import hypothesis
from hypothesis import strategies as st
from nova import exception
import pytest
import webob

from nova_image_override import errors
from nova_image_override import versions
from testing import figures
from testing import paste_config
from testing.harness import base
from tests.proof import bodies
from tests.proof import requests
from tests.proof import side_by_side

#: How many requests; those of the short form are the same each time.
EXAMPLES = 2_500 if figures.FULL else 100
SEED = int.from_bytes(os.urandom(4), 'big') if figures.FULL else 49

PRESETS = 'vga: {description: x, properties: {hw_video_model: vga}}'

_METHODS = ('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS')


def _endpoints(server: str) -> list[tuple[str, str, bytes]]:
    """Return method, path and the key of the body of all endpoints."""
    return [('POST', '/servers', b'server'),
            ('POST', versions.CHECK_PATH, b'server'),
            ('PUT', f'/servers/{server}', b'server'),
            ('POST', f'/servers/{server}/action', b'rebuild'),
            ('GET', versions.PATH, b''), ('GET', '/servers', b''),
            ('GET', '/servers/detail', b''), ('GET', f'/servers/{server}', b''),
            ('GET', '', b''), ('POST', f'/servers/{server}/metadata', b'')]


_queries = st.lists(st.tuples(
    st.sampled_from([errors.PARAMETER, errors.PRESET, 'limit', 'a%00', '%ff']),
    st.sampled_from(['hw_vif_model', '', '%00', '%ff', '%ed%a0%80', 'x' * 3000,
                     'vga', 'trait:A', '1e999', '[]', '%f0%9f%98%80'])),
    max_size=10).map(lambda pairs: '&'.join(map('='.join, pairs)))

#: What replaces a part of a body that is JSON.
_values = st.sampled_from([
    b'9' * 5000, b'-1e9999', b'NaN', b'"\\ud800"', b'"\\u0000"', b'[' * 90_000,
    b'{"a":' * 2000 + b'1' + b'}' * 2000, b'"vga"', b'["vga"]', b'null',
    b'{"vga": 1}', b'"' + b'x' * 70_000 + b'"', b'\xff\xfe'])

_headers = st.lists(st.sampled_from([
    ('Accept', 'application/xml'), ('Content-Encoding', 'gzip'),
    ('Content-Length', '-1'), ('Content-Length', '7'), ('X-Roles', ''),
    ('Transfer-Encoding', 'chunked'), ('X-Auth-Project-Id', 'x' * 300),
    ('Accept-Language', 'de;q=x'), ('X-OpenStack-Nova-API-Version', '2.999'),
    ('Expect', '100-continue')]), max_size=2)


@st.composite
def malformed(draw: st.DrawFn) -> requests.Request:
    """A request that is wrong in some way, and now and then is not."""
    server = draw(st.sampled_from([requests.OVERRIDDEN] * 6 + [
        requests.PLAIN, requests.MISSING, '%00', '%ff', 'x' * 5000, '..']))
    method, path, key = draw(st.sampled_from(_endpoints(server)))
    case = draw(bodies.requests('1'))
    body = case.body.replace(b'{"server"', b'{"' + key + b'"', 1)
    if key == b'rebuild':
        body = body.replace(b', "flavorRef": "1"', b'', 1)
    if path == f'/servers/{server}':
        body = body.replace(
            b', "networks": "none", "imageRef": "' + base.IMAGE.encode()
            + b'", "flavorRef": "1"', b'', 1)
    if draw(st.integers(0, 3)) == 0:
        value = draw(_values)
        body = draw(st.sampled_from([
            value, body.replace(b'"x"', value, 1), body.replace(
                b'": {', b'": ' + value + b', "y": {', 1),
            body[:-2] + f', "{errors.PRESET}": '.encode() + value + b'}}']))
    if draw(st.integers(0, 4)) == 0:
        method = draw(st.sampled_from(_METHODS))
    query = draw(_queries) if not key else ''
    version = case.version or (
        f'compute {draw(st.sampled_from(["2.93", "2.1", "2.37", "latest"]))}, '
        f'{versions.SERVICE_TYPE} 1.0')
    return requests.Request(
        f'{method} {path}'.replace(server, 'ID'), method,
        path + (query and f'?{query}'), b'' if method == 'GET' else body,
        admin=draw(st.integers(0, 5)) == 0,
        headers=((versions.HEADER, version), *draw(_headers)),
        content_type=case.content_type)


class Cloud(side_by_side.SideBySide):
    """Its server with overrides is stopped: it can be updated."""

    OPTIONS = {'allowed_properties': ['hw_*', 'os_*', 'trait:*']}

    def _setup_services(self) -> None:
        path = self.useFixture(fixtures.TempDir()).join('presets.yaml')
        with open(path, 'w') as file:
            file.write(PRESETS)
        self.OPTIONS = {**self.OPTIONS, 'presets_file': path}
        super()._setup_services()

    def freeze(self) -> None:
        server = self.servers[requests.OVERRIDDEN]
        self.act(server, {'os-stop': None})
        self.wait(server, 'SHUTOFF')
        super().freeze()
        # There is no scheduler.
        self.useFixture(fixtures.MockPatch(
            'nova.scheduler.rpcapi.SchedulerAPI.select_destinations',
            side_effect=exception.NoValidHost(reason='none')))


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[Cloud]:
    with Cloud.running() as running:
        yield running


class Requests:
    """Sends requests, and counts what is answered."""

    def __init__(self, cloud: typing.Any) -> None:
        self._cloud = cloud
        self.statuses: collections.Counter[str] = collections.Counter()
        self.kinds: set[str] = set()

    def send(self, request: requests.Request) -> None:
        """Send a request: a 5xx must be what unmodified Nova answers."""
        made = self._cloud.made(request)
        code = self._cloud.send(paste_config.APP, made).code
        whose = ''
        if code >= 500:
            made.environ['PATH_INFO'] = made.environ['PATH_INFO'].replace(
                versions.CHECK_PATH, '/servers')
            novas = self._cloud.send(paste_config.NOVA_APP, made)
            assert novas.code == code, (request, novas)
            whose = ' of unmodified Nova'
        self.statuses[f'{code}{whose}'] += 1
        self.kinds.add(request.kind)


def test_no_malformed_request_fails_in_what_is_ours(cloud):
    sent = Requests(cloud)
    print('seed', SEED)

    @hypothesis.seed(SEED)
    @hypothesis.settings(
        max_examples=EXAMPLES, deadline=None, database=None,
        suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(malformed())
    def run(request: requests.Request) -> None:
        sent.send(request)

    run()
    assert {'200', '202', '400', '404', '406'} <= set(sent.statuses)
    if figures.FULL:
        figures.record('malformed', {
            'seed': SEED, 'requests': sum(sent.statuses.values()),
            '5xx of ours': 0, **dict(sorted(sent.statuses.items()))})


def test_a_5xx_of_ours_alone_is_found(cloud, monkeypatch):
    monkeypatch.setitem(cloud.applications, paste_config.APP, webob.Response(
        status=500))
    with pytest.raises(AssertionError):
        Requests(cloud).send(requests.Request('', 'GET', versions.PATH))
