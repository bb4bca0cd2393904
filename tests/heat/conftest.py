"""One cloud and one Heat for all tests of a module."""

import uuid

import pytest
import yaml

from testing import wsgi_server
from testing.harness import base
from testing.site import cloud as cloud_module
from testing.site import site
from tests.clients import tools
from tests.heat import real


@pytest.fixture(scope='module')
def together(request, tmp_path_factory):
    """The module's Cloud, a Heat, and what goes over the wire."""
    # Before the cloud, whose harness nests folders for temporary files.
    folder = tmp_path_factory.mktemp('heat')
    with request.module.Cloud.running() as cloud:
        seen = tools.Recorder(site.Site(cloud, cloud.api_fixture.app()))
        with wsgi_server.serving(seen) as url:
            heat = real.Heat(
                folder, f'{url}/identity/v3', cloud.api.project_id)
            try:
                yield cloud, heat, seen
            finally:
                heat.stop()


@pytest.fixture
def cloud(together):
    return together[0]


@pytest.fixture
def heat(together):
    return together[1]


@pytest.fixture
def sent(together):
    """Return a function for what this test has sent to nova-api by POST."""
    together[2].requests.clear()
    return lambda: together[2].compute('POST')


@pytest.fixture
def template(cloud):
    """Return a function that makes templates with one server."""
    flavor = cloud.flavor()
    image = cloud.image(**cloud_module.IMAGE)

    def make(overrides=None, **properties):
        made = yaml.safe_load(real.TEMPLATE)
        made['heat_template_version'] = '2021-04-16'
        own = made['resources']['guest']['properties']
        own.update({'image': image, 'flavor': flavor, **properties})
        if overrides is not None:
            own[base.PARAMETER] = overrides
        return made
    return make


@pytest.fixture
def stack(heat):
    """Return a function that does something with this test's stack.

    The stack is deleted after the test: the cloud has little room for servers.
    """
    name = f'stack-{uuid.uuid4()}'

    def do(what, template, **kwargs):
        if not isinstance(template, str):
            template = yaml.safe_dump(template)
        return heat(what, name=name, template=template, **kwargs)
    yield do
    gone = heat('delete', name=name)
    assert gone.get('state') in (None, 'DELETE_COMPLETE'), gone
