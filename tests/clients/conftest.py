"""One cloud for all tests of the folder, and its nova-api.

There are several in front of the same services: ours, Nova's own without the
extension, one whose discovery fails, and one that is open to clients without
our header entry.
"""

import contextlib
import json
import textwrap

import nova.api.wsgi
import nova.conf
import pytest

from nova_image_override import versions
from testing import examples
from testing import paste_config
from testing import wsgi_server
from testing.site import cloud as cloud_module
from testing.site import loopback
from testing.site import site
from tests.clients import tools
from tests.clients.programs import START


@pytest.fixture(scope='session')
def _cloud():
    with cloud_module.Cloud.running() as running:
        loopback.furnish(running)
        yield running


@pytest.fixture
def cloud(_cloud):
    """The cloud; a test's servers are gone after it."""
    yield _cloud
    for server in _cloud.http('GET', '/servers').body['servers']:
        _cloud.delete(server['id'])


@contextlib.contextmanager
def _client(cloud, folder, nova_api):
    seen = tools.Recorder(site.Site(cloud, nova_api))
    with wsgi_server.serving(seen) as url:
        client = tools.Client(folder, url, seen)
        loopback.clouds_yaml(folder, url)
        yield client


@pytest.fixture(scope='session')
def _extended(_cloud, tmp_path_factory):
    with _client(_cloud, tmp_path_factory.mktemp('extended'),
                 _cloud.api_fixture.app()) as client:
        yield client


def _loaded(folder, app):
    paste_ini = paste_config.write(folder, app)
    return nova.api.wsgi.Loader(paste_ini).load_app('osapi_compute')


@pytest.fixture(scope='session')
def _plain(_cloud, tmp_path_factory):
    folder = tmp_path_factory.mktemp('plain')
    with _client(_cloud, folder,
                 _loaded(folder, paste_config.NOVA_APP)) as client:
        yield client


@contextlib.contextmanager
def _client_with(cloud, folder, **options):
    for option, value in options.items():
        nova.conf.CONF.set_override(option, value, 'image_override')
    application = _loaded(folder, paste_config.APP)
    # They are only read at start.
    for option in options:
        nova.conf.CONF.clear_override(option, 'image_override')
    with _client(cloud, folder, application) as client:
        yield client


@pytest.fixture(scope='session')
def _compatible(_cloud, tmp_path_factory):
    with _client_with(
            _cloud, tmp_path_factory.mktemp('compatible'),
            accept_scheduler_hint=True, accept_server_metadata=True,
            compute_microversion='2.96', denied_properties=[],
            presets_file=str(examples.PRESETS)) as client:
        yield client


@pytest.fixture
def client_of_a_list(cloud, tmp_path):
    """Clients of a cloud whose list has values."""
    with _client_with(cloud, tmp_path, allowed_properties=[
            'hw_disk_bus=scsi', 'hw_disk_type=sparse']) as client:
        yield client


@pytest.fixture(scope='session')
def _troubled(_cloud, tmp_path_factory):
    nova_api = _cloud.api_fixture.app()

    def troubled(environ, start_response):
        if environ['PATH_INFO'].endswith(versions.PATH):
            start_response('503 Service Unavailable', [])
            return []
        return nova_api(environ, start_response)

    with _client(_cloud, tmp_path_factory.mktemp('troubled'),
                 troubled) as client:
        yield client


@pytest.fixture
def client(_extended, cloud):
    """Clients of the cloud that has the extension."""
    return _extended


@pytest.fixture
def plain_client(_plain, cloud):
    """Clients of unmodified Nova."""
    return _plain


@pytest.fixture
def compatible_client(_compatible, cloud):
    """Clients of a cloud with all options for client compatibility."""
    return _compatible


@pytest.fixture
def troubled_client(_troubled, cloud):
    """Clients of a cloud whose discovery is out of order."""
    return _troubled


def _hooked(client, folder):
    return loopback.clouds_yaml(
        folder, client.url, vendor_hook=loopback.VENDOR_HOOK)


@pytest.fixture
def hooked_clouds(_extended, tmp_path):
    """A clouds.yaml with openstacksdk's vendor hook, for the same cloud."""
    return _hooked(_extended, tmp_path)


@pytest.fixture
def hooked_troubled_clouds(_troubled, tmp_path):
    """The same for the cloud whose discovery is out of order."""
    return _hooked(_troubled, tmp_path)


@pytest.fixture
def hooked_plain_clouds(_plain, tmp_path):
    """The same for unmodified Nova."""
    return _hooked(_plain, tmp_path)


@pytest.fixture
def run(client, hooked_clouds):
    """Run a program with a connection; return what it prints as JSON."""
    def run(program, clouds=hooked_clouds):
        return json.loads(client.python(
            START + textwrap.dedent(program),
            OS_CLIENT_CONFIG_FILE=str(clouds)))
    return run
