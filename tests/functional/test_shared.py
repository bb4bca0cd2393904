"""What a test finds does not depend on the tests before it."""

import pathlib
import subprocess
import sys
import threading
from unittest import mock

from nova.compute import manager
import pytest

from testing import release
from testing.harness import base
from testing.harness import shared

ROOT = pathlib.Path(__file__).parents[2]

#: Tests, one of which fails.
TESTS = '''
from testing.harness import fixture

cloud = fixture.cloud
clouds = []

def test_fails(cloud):
    clouds.append(cloud)
    assert False

def test_finds_another(cloud):
    assert cloud not in clouds
    clouds.append(cloud)

class TestOfAClass:
    def test_finds_the_same(self, cloud):
        assert cloud in clouds

class TestOfOtherNeeds:
    BUILD = False

    def test_finds_another(self, cloud):
        assert cloud not in clouds
'''


@pytest.fixture(autouse=True)
def _nothing_runs():
    shared.end()
    yield
    shared.end()


@pytest.mark.smoke
def test_what_a_test_made_is_gone_before_the_next():
    with shared.lent(base.Cloud, {}) as first:
        found = {*first.glance.images}
        first.image()
        first.boot(server={'networks': 'auto'})
        first.create(server={'name': 'locked', 'networks': 'none'})
        first.flags(reserved_host_memory_mb=99)
        first.useFixture(base.fixtures.MockPatch(base.BUILDS))
        aggregate = first.admin_api.post_aggregate(
            {'aggregate': {'name': 'left'}})
        first.admin_api.add_host_to_aggregate(aggregate['id'], 'compute1')
    with shared.lent(base.Cloud, {}) as second:
        assert second is first
        assert {*second.glance.images} == found
        second.assert_nothing_created()
        assert second.admin_api.api_get(
            '/os-aggregates').body['aggregates'] == []
        assert base.CONF.reserved_host_memory_mb != 99
        second.boot()


def test_a_test_that_fails_ends_the_cloud(tmp_path):
    path = tmp_path / 'test_given.py'
    path.write_text(TESTS)
    told = subprocess.run(
        [sys.executable, '-m', 'pytest', '-p', 'no:logging',
         '-p', 'tests.conftest', path],
        cwd=ROOT, capture_output=True, text=True, timeout=300).stdout
    assert '1 failed, 3 passed' in told, told


def test_a_test_that_restarts_a_service_ends_the_cloud():
    with shared.lent(base.Cloud, {}) as first:
        first.restart_compute_service('compute1')
    with shared.lent(base.Cloud, {}) as second:
        assert second is not first


def test_one_that_has_other_services_is_another_cloud():
    with shared.lent(base.Cloud, {}) as first:
        assert first.BUILD
    with shared.lent(base.Cloud, {'BUILD': False}) as second:
        assert second is not first
        assert not second.BUILD


@pytest.mark.skipif(
    release.NUMBER < 34,
    reason='Nova 34 is the first to shut services down in a thread')
def test_services_have_shut_down_before_the_next_cloud():
    """Else they end the executors that it has, as ServiceFixture says."""
    def shut_down(manager, timeout):
        begun.append(manager)
        if not timeout:  # Service.stop does not wait for this.
            over.wait()
        ended.append(manager)

    begun, ended, over = [], [], threading.Event()
    with mock.patch.object(
            manager.ComputeManager, 'graceful_shutdown', shut_down):
        try:
            with shared.lent(base.Cloud, {}):
                pass
            shared.end()
            assert begun and begun == ended
        finally:
            over.set()
