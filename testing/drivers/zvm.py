"""A z/VM cloud connector: the answers of zVMCloudConnector 1.6's HTTP API.

It has only what Nova's driver asks for. The routes are in
zvmsdk/sdkwsgi/handler.py of that package, the names and values of the answers
in its REST reference.
"""

import typing
import urllib.parse

from testing.drivers import loopback


class Call(typing.NamedTuple):
    """One request of Nova's driver: method, path without query, and body."""

    method: str
    path: str
    body: typing.Any


class _NotFound(Exception):
    pass


class CloudConnector(loopback.Server):
    """A cloud connector on loopback, with one z/VM behind it.

    :ivar calls: what was asked, in order
    :ivar images: imported images by name, as the import describes them
    """

    HOST = {
        'hypervisor_hostname': 'ZVM1', 'hypervisor_type': 'zvm',
        'hypervisor_version': 640, 'vcpus': 8, 'vcpus_used': 0,
        'memory_mb': 8192, 'memory_mb_used': 0, 'disk_total': 100,
        'disk_used': 0, 'disk_available': 100, 'cpu_info': {},
        'ipl_time': 'IPL at 03/13/14 21:43:12 EDT'}

    def _setUp(self) -> None:
        self.calls: list[Call] = []
        self.images: dict[str, dict[str, typing.Any]] = {}
        self._power: dict[str, str] = {}
        super()._setUp()

    def answer(
        self, method: str, url: str, body: typing.Any,
    ) -> tuple[int, typing.Any]:
        code, output = 0, ''
        try:
            output = self._answer(method, url, body)
        except _NotFound:
            code = 404
        return code or 200, {
            'overallRC': code, 'modID': None, 'rc': code, 'rs': 0,
            'errmsg': '', 'output': output}

    def _answer(self, method: str, url: str, body: typing.Any) -> typing.Any:
        path, _, query = url.partition('?')
        self.calls.append(Call(method, path, body))
        kind, *rest = path.strip('/').split('/')
        if kind == 'host':
            return self.HOST
        if kind == 'images':
            return self._image(method, query, body)
        return self._guest(method, rest, body)

    def _image(self, method: str, query: str, body: typing.Any) -> typing.Any:
        if method == 'POST':
            self.images[body['image']['image_name']] = body['image']
            return ''
        (name,) = urllib.parse.parse_qs(query)['imagename']
        if name not in self.images:
            raise _NotFound
        return [{'imagename': name}]

    def _guest(self, method: str, rest: list[str],
               body: typing.Any) -> typing.Any:
        if method == 'GET' and not rest:
            return list(self._power)
        if method == 'POST' and not rest:
            self._power[body['guest']['userid'].upper()] = 'off'
            return ''
        name = rest[0].upper()
        if name not in self._power:
            raise _NotFound
        if method == 'DELETE':
            del self._power[name]
        elif rest[1:] == ['power_state']:
            return self._power[name]
        elif rest[1:] == ['action']:
            self._act(name, body)
        return ''

    def _act(self, name: str, body: dict[str, typing.Any]) -> None:
        power = {'start': 'on', 'softstop': 'off'}
        self._power[name] = power.get(body['action'], self._power[name])
