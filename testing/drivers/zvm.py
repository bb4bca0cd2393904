"""A z/VM cloud connector: the answers of zVMCloudConnector 1.6's HTTP API.

Only what Nova's driver asks for. Its routes are in zvmsdk/sdkwsgi/handler.py
of that package, the names and values of what it answers in its REST reference.
"""

import collections.abc
import http.server
import json
import threading
import typing
import urllib.parse

import fixtures


class Call(typing.NamedTuple):
    """One request of Nova's driver: method, path without query, and body."""

    method: str
    path: str
    body: typing.Any


class _NotFound(Exception):
    pass


class CloudConnector(fixtures.Fixture):
    """A cloud connector on loopback, with one z/VM behind it.

    :ivar url: where it answers
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
        server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), _handler(self._answer))
        self.url = f'http://127.0.0.1:{server.server_port}'
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

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


def _handler(
    answer: collections.abc.Callable[..., typing.Any],
) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def _do(self) -> None:
            length = int(self.headers.get('Content-Length') or 0)
            body = json.loads(self.rfile.read(length) or 'null')
            code, output = 0, ''
            try:
                output = answer(self.command, self.path, body)
            except _NotFound:
                code = 404
            sent = json.dumps({
                'overallRC': code, 'modID': None, 'rc': code, 'rs': 0,
                'errmsg': '', 'output': output}).encode()
            self.send_response(code or 200)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = do_PUT = do_DELETE = _do

        def log_message(self, *args: typing.Any) -> None:
            pass

    return Handler
