"""No test acts on a server while Nova is still busy with an earlier request."""

import threading

import fixtures
import pytest

from testing.harness import base
from testing.harness import waiting


class Cloud(base.Cloud):
    SHARED = False  # Each test has an event of its own.

    # The answer to a snapshot is that of a real cloud, which does not wait
    # for nova-compute.
    CAST_AS_CALL = False

    def setUp(self):
        super().setUp()
        self.go_on = threading.Event()
        self.addCleanup(self.go_on.set)

        def snapshot(*args):
            self.go_on.wait(waiting.Commits.PATIENCE)
            base._snapshot(*args)

        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.libvirt.driver.LibvirtDriver.snapshot', snapshot))

    def found_while_waiting(self, server):
        """Wait, and return what was found at first; then Nova goes on."""
        found = []

        def state(server_id, look=self._state):
            found.append(look(server_id))
            self.go_on.set()
            return found[-1]

        self.useFixture(fixtures.MockPatchObject(self, '_state', state))
        self.wait(server)
        return found[0]


class TestWait:
    @pytest.mark.smoke
    def test_an_active_server_is_waited_for_until_its_snapshot_is_made(
            self, cloud):
        server = cloud.boot()
        assert cloud.act(server,
                         {'createImage': {'name': 'snap'}}).status == 202
        assert cloud.show(server)['status'] == 'ACTIVE'
        assert cloud.act(server, {'reboot': {'type': 'HARD'}}).status == 409
        status, task = cloud.found_while_waiting(server)
        assert status == 'ACTIVE'
        assert 'image' in task
        cloud.hard_reboot(server)

    def test_an_active_server_is_waited_for_until_the_scheduler_knows_it(
            self, cloud):
        def tell(manager, *args):
            cloud.go_on.wait(waiting.Commits.PATIENCE)

        cloud.useFixture(fixtures.MonkeyPatch(
            'nova.compute.manager.ComputeManager.'
            '_update_scheduler_instance_info', tell))
        server = cloud.create().body['server']['id']
        cloud.commits.until(
            lambda: cloud.show(server)['status'], 'ACTIVE')
        assert cloud.found_while_waiting(server) == (
            'ACTIVE', 'compute__do_build_and_run_instance')

    def test_what_does_not_come_is_said_with_what_there_is(self, cloud):
        cloud.useFixture(fixtures.MockPatchObject(cloud.commits, 'PATIENCE', 0))
        server = cloud.create().body['server']['id']
        with pytest.raises(AssertionError) as error:
            cloud.wait(server, 'PAUSED')
        assert "waited for ('PAUSED', None)" in str(error.value)
        cloud.useFixture(fixtures.MockPatchObject(
            cloud.commits, 'PATIENCE', waiting.Commits.PATIENCE))
        cloud.wait(server)
