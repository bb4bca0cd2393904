"""A WSGI application on loopback, and what clients need to find it."""

import collections.abc
import contextlib
import pathlib
import threading
import typing
from wsgiref import simple_server

from testing.site import cloud as cloud_module
from testing.site import site

#: Of openstacksdk's clouds.yaml: where our part of it is found.
VENDOR_HOOK = 'nova_image_override.client.sdk:load'

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


def clouds_yaml(folder: pathlib.Path, url: str, **keys: str) -> pathlib.Path:
    """Write the clouds.yaml that clients of the site need.

    :param url: of the site
    :param keys: more of each cloud
    """
    path = folder / 'clouds.yaml'
    path.write_text('clouds:\n' + ''.join(
        _CLOUD.format(user=user, url=url)
        + ''.join(f'    {key}: {value}\n' for key, value in keys.items())
        for user in site.USERS))
    return path


def furnish(cloud: cloud_module.Cloud) -> None:
    """Give the cloud the image and the flavors that the pages name."""
    cloud.image('debian', **cloud_module.IMAGE)
    for name, (vcpus, ram, specs) in cloud_module.FLAVORS.items():
        cloud.flavor(vcpus, ram, name=name, **specs)
