"""One cloud for all tests of the folder, and its two nova-api.

They share the services behind them; one is Nova's own, without the extension.
"""

import contextlib

import nova.api.wsgi
import pytest

from demo import cloud as cloud_module
from demo import serve
from demo import site
from tests.clients import tools
from tests.functional import base


@pytest.fixture(scope='session')
def _cloud():
    with cloud_module.Cloud.running() as running:
        serve.furnish(running)
        yield running


@pytest.fixture
def cloud(_cloud):
    """The cloud; servers of a test are gone after it."""
    yield _cloud
    for server in _cloud.http('GET', '/servers').body['servers']:
        _cloud.http('DELETE', f'/servers/{server["id"]}')
        _cloud._wait_until_deleted(server)


@contextlib.contextmanager
def _client(cloud, folder, nova_api):
    seen = tools.Recorder(site.Site(cloud, nova_api))
    with serve.serving(seen) as url:
        client = tools.Client(folder, url, seen)
        serve.clouds_yaml(folder, url)
        yield client


@pytest.fixture(scope='session')
def _extended(_cloud, tmp_path_factory):
    with _client(_cloud, tmp_path_factory.mktemp('extended'),
                 _cloud.api_fixture.app()) as client:
        yield client


@pytest.fixture(scope='session')
def _plain(_cloud, tmp_path_factory):
    folder = tmp_path_factory.mktemp('plain')
    paste_ini = base.paste_ini(folder, base.NOVA_APP)
    with _client(_cloud, folder,
                 nova.api.wsgi.Loader(paste_ini).load_app('osapi_compute')
                 ) as client:
        yield client


@pytest.fixture
def client(_extended, cloud):
    """Clients of the cloud that has the extension."""
    return _extended


@pytest.fixture
def plain_client(_plain, cloud):
    """Clients of unmodified Nova."""
    return _plain


def _hooked(client, folder):
    return serve.clouds_yaml(
        folder, client.url, vendor_hook=serve.VENDOR_HOOK)


@pytest.fixture
def hooked_clouds(_extended, tmp_path):
    """A clouds.yaml with openstacksdk's vendor hook, of the same cloud."""
    return _hooked(_extended, tmp_path)


@pytest.fixture
def hooked_plain_clouds(_plain, tmp_path):
    """The same of unmodified Nova."""
    return _hooked(_plain, tmp_path)
