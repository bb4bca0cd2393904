"""What a test finds does not depend on the tests before it."""

import threading
import unittest
from unittest import mock

from nova.compute import manager
import pytest

from testing import release
from testing.harness import base
from testing.harness import shared

#: Images that the cloud of a test had.
found: list[set[str]] = []
clouds: list[object] = []


class Given:
    """Not at the top level of the module, where pytest would run them."""

    class OnACloud(base.TestCase):
        def test_leaves_things(self):
            clouds.append(shared._running.cloud)
            found.append({*self.glance.images})
            self.image()
            self.boot(server={'networks': 'auto'})
            self.create(server={'name': 'locked', 'networks': 'none'})
            self.flags(reserved_host_memory_mb=99)
            aggregate = self.admin_api.post_aggregate(
                {'aggregate': {'name': 'left'}})
            self.admin_api.add_host_to_aggregate(aggregate['id'], 'compute1')

        def test_finds_nothing(self):
            clouds.append(shared._running.cloud)
            found.append({*self.glance.images})
            self.assert_nothing_created()
            self.assertEqual([], self.admin_api.api_get(
                '/os-aggregates').body['aggregates'])
            self.assertNotEqual(99, base.CONF.reserved_host_memory_mb)

        def test_fails(self):
            clouds.append(shared._running.cloud)
            self.fail('on purpose')

        def test_restarts_a_service(self):
            clouds.append(shared._running.cloud)
            self.restart_compute_service('compute1')

    class OnItToo(OnACloud):
        def test_is_added(self):
            clouds.append(shared._running.cloud)

    class OnAnother(OnACloud):
        BUILD = False


@pytest.fixture(autouse=True)
def _nothing_runs():
    shared.end()
    found.clear()
    clouds.clear()
    yield
    shared.end()


def run(*tests: unittest.TestCase) -> unittest.TestResult:
    result = unittest.TestResult()
    for test in tests:
        test.run(result)
    assert not result.errors, result.errors
    return result


@pytest.mark.smoke
def test_what_a_test_made_is_gone_before_the_next():
    assert run(Given.OnACloud('test_leaves_things'),
               Given.OnACloud('test_finds_nothing'),
               Given.OnItToo('test_is_added')).wasSuccessful()
    assert len(set(map(id, clouds))) == 1
    assert found[0] == found[1]


def test_a_test_that_fails_ends_the_cloud():
    result = run(Given.OnACloud('test_fails'),
                 Given.OnACloud('test_finds_nothing'))
    assert len(result.failures) == 1
    assert len(set(map(id, clouds))) == 2


def test_a_test_that_restarts_a_service_ends_the_cloud():
    assert run(Given.OnACloud('test_restarts_a_service'),
               Given.OnACloud('test_finds_nothing')).wasSuccessful()
    assert len(set(map(id, clouds))) == 2


def test_a_class_that_starts_other_services_has_a_cloud_of_its_own():
    assert run(Given.OnACloud('test_finds_nothing'),
               Given.OnAnother('test_finds_nothing')).wasSuccessful()
    assert len(set(map(id, clouds))) == 2


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
            assert run(Given.OnACloud('test_finds_nothing')).wasSuccessful()
            shared.end()
            assert begun and begun == ended
        finally:
            over.set()
