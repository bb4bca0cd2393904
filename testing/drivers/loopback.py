"""HTTP servers on loopback, for what drivers ask."""

import http.server
import json
import socket
import threading
import typing

import fixtures


class Server(fixtures.Fixture):
    """A server that answers in JSON.

    :ivar url: where it answers
    """

    _stopping = False

    def _setUp(self) -> None:
        server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), _handler(self))
        self.url = f'http://127.0.0.1:{server.server_port}'
        thread = threading.Thread(target=self._serve, args=(server,))
        thread.start()
        self.addCleanup(self._stop, server, thread)

    def _serve(self, server: http.server.ThreadingHTTPServer) -> None:
        # Not serve_forever: its selector stops all green threads, where the
        # harness of Nova 31 to 33 runs in them.
        while True:
            request, address = server.socket.accept()
            if self._stopping:
                request.close()
                return
            server.process_request(request, address)

    def _stop(self, server: http.server.ThreadingHTTPServer,
              thread: threading.Thread) -> None:
        self._stopping = True
        socket.create_connection(server.server_address).close()
        thread.join()
        server.socket.close()

    def answer(
        self, method: str, url: str, body: typing.Any,
    ) -> tuple[int, typing.Any]:
        """Return status and body of the answer to a request.

        :param url: path and query
        :param body: of the request, decoded; None where there is none
        """
        raise NotImplementedError


def _handler(server: Server) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def _do(self) -> None:
            length = int(self.headers.get('Content-Length') or 0)
            body = json.loads(self.rfile.read(length) or 'null')
            status, answer = server.answer(self.command, self.path, body)
            sent = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = do_PUT = do_DELETE = _do

        def log_message(self, *args: typing.Any) -> None:
            pass

    return Handler
