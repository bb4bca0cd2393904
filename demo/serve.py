"""The demo's cloud on loopback, for any client: ``make demo-serve``."""

import collections.abc
import contextlib
import pathlib
import signal
import tempfile
import threading
import typing
from wsgiref import simple_server

from demo import cloud as cloud_module
from demo import page as page_module
from demo import site

_CLOUDS = '''\
clouds:
{clouds}'''

_CLOUD = '''\
  {user}:
    region_name: demo
    auth:
      auth_url: {url}/identity/v3
      username: {user}
      password: {user}
      project_name: demo
      user_domain_name: Default
      project_domain_name: Default
'''


class _Handler(simple_server.WSGIRequestHandler):
    def log_message(self, format: str, *args: typing.Any) -> None:
        """Say nothing of each request."""


@contextlib.contextmanager
def serving(application: typing.Any) -> collections.abc.Iterator[str]:
    """Serve a WSGI application on loopback for the time of the context.

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


def clouds_yaml(folder: pathlib.Path, url: str, extra: str = '') -> pathlib.Path:
    """Write the clouds.yaml that clients of the site need.

    :param url: of the site
    :param extra: further lines of each cloud
    """
    path = folder / 'clouds.yaml'
    path.write_text(_CLOUDS.format(clouds=''.join(
        _CLOUD.format(user=user, url=url) + extra for user in site.USERS)))
    return path


def main() -> int:
    pass
