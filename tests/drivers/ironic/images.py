"""The part of Glance's API that Ironic's conductor asks for an image."""

import http.server
import json
import threading
import typing

import fixtures


class Images(fixtures.Fixture):
    """Knows every image, as one of a whole disk.

    Ironic asks what an image is (``ironic.common.images``), not what Nova
    makes of its properties.

    :ivar url: where it answers
    :ivar known: whether it knows them; a test may say no
    """

    def _setUp(self) -> None:
        self.known = True
        images = self

        class Handler(_Handler):
            @property
            def known(self) -> bool:
                return images.known

        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{server.server_port}'
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)


class _Handler(http.server.BaseHTTPRequestHandler):
    known: bool

    def do_GET(self) -> None:
        before, _, image = self.path.rpartition('/')
        if before.endswith('/images'):
            body: typing.Any = {
                'id': image, 'name': 'test', 'status': 'active',
                'disk_format': 'qcow2', 'container_format': 'bare', 'size': 1,
                'min_ram': 0, 'min_disk': 0, 'tags': [],
                'visibility': 'public', 'protected': False, 'checksum': None,
                'created_at': '2026-01-01T00:00:00Z',
                'updated_at': '2026-01-01T00:00:00Z',
                'img_type': 'whole-disk'}
        else:
            root = f'http://{self.headers["Host"]}/v2/'
            body = {'versions': [{
                'id': 'v2.17', 'status': 'CURRENT',
                'links': [{'rel': 'self', 'href': root}]}]}
        sent = json.dumps(body).encode()
        self.send_response(200 if self.known else 404)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *args: typing.Any) -> None:
        pass
