"""Serve Glance's own WSGI application on a free port of loopback.

Runs in Glance's environment: ``serve.py FOLDER``, where FOLDER holds
glance-api.conf and the files that it names. Prints "port N", then serves
until its standard input ends.
"""

import os
import socketserver
import sys
import threading
import wsgiref.simple_server


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True


class Handler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *args):
        pass

    def get_environ(self):
        # wsgiref passes the socket itself: a read beyond the body waits
        # forever.
        environ = super().get_environ()
        environ['wsgi.input_terminated'] = False
        return environ


def limited(application):
    """Limit the input of APPLICATION to the body."""
    def call(environ, start_response):
        length = int(environ.get('CONTENT_LENGTH') or 0)
        environ['wsgi.input'] = Limited(environ['wsgi.input'], length)
        return application(environ, start_response)
    return call


class Limited:
    def __init__(self, stream, left):
        self._stream = stream
        self._left = left

    def read(self, size=-1):
        if size is None or size < 0 or size > self._left:
            size = self._left
        data = self._stream.read(size)
        self._left -= len(data)
        return data


def main(folder):
    os.environ['OS_GLANCE_CONFIG_DIR'] = folder
    from glance.common import wsgi_app
    application = wsgi_app.init_app()
    server = wsgiref.simple_server.make_server(
        '127.0.0.1', 0, limited(application), Server, Handler)
    print(f'port {server.server_port}', flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    server.shutdown()


if __name__ == '__main__':
    main(sys.argv[1])
