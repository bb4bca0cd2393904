"""One cloud for all tests of a module."""

import functools

import pytest

from testing import wsgi_server
from testing.site import loopback
from testing.site import site
from tests.ansible import real


@pytest.fixture(scope='module')
def together(request, tmp_path_factory):
    """The module's Cloud, and Ansible."""
    # Before the cloud, whose harness nests folders for temporary files.
    folder = tmp_path_factory.mktemp('ansible')
    with request.module.Cloud.running() as cloud:
        loopback.furnish(cloud)
        with wsgi_server.serving(
                site.Site(cloud, cloud.api_fixture.app())) as url:
            yield cloud, real.Ansible(folder, functools.partial(
                loopback.clouds_yaml, folder, url))


@pytest.fixture
def cloud(together):
    """The cloud; a test's servers are gone after it."""
    cloud = together[0]
    yield cloud
    for server in cloud.request('GET', '/servers').body['servers']:
        cloud.delete(server['id'])


@pytest.fixture
def ansible(together):
    return together[1]
