"""A server of WSGI applications; it loads nothing of Nova."""

import collections.abc
import contextlib
import threading
import typing
from wsgiref import simple_server


class _Handler(simple_server.WSGIRequestHandler):
    def log_message(self, format: str, *args: typing.Any) -> None:
        """Print nothing about requests."""


@contextlib.contextmanager
def serving(application: typing.Any) -> collections.abc.Iterator[str]:
    """Serve a WSGI application on loopback for the duration of the context.

    :returns: its URL; the port is any that is free
    """
    server = simple_server.make_server(
        '127.0.0.1', 0, application, handler_class=_Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f'http://127.0.0.1:{server.server_port}'
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
