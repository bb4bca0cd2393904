"""No test acts on a server while Nova is still busy with an earlier request."""

import threading

import fixtures
import pytest

from testing.harness import base
from testing.harness import waiting


class Wait(base.TestCase):
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

    @pytest.mark.smoke
    def test_an_active_server_is_waited_for_until_its_snapshot_is_made(self):
        server = self.boot()
        self.assertEqual(202, self.act(
            server, {'createImage': {'name': 'snap'}}).status)
        self.assertEqual('ACTIVE', self.http(
            'GET', f'/servers/{server}').body['server']['status'])
        self.assertEqual(409, self.act(
            server, {'reboot': {'type': 'HARD'}}).status)
        status, task = self.found_while_waiting(server)
        self.assertEqual('ACTIVE', status)
        self.assertIn('image', task)
        self.hard_reboot(server)

    def test_an_active_server_is_waited_for_until_the_scheduler_knows_it(self):
        def tell(manager, *args):
            self.go_on.wait(waiting.Commits.PATIENCE)

        self.useFixture(fixtures.MonkeyPatch(
            'nova.compute.manager.ComputeManager.'
            '_update_scheduler_instance_info', tell))
        server = self.create().body['server']['id']
        self.commits.until(
            lambda: self.http('GET', f'/servers/{server}').body[
                'server']['status'], 'ACTIVE')
        self.assertEqual(('ACTIVE', 'compute__do_build_and_run_instance'),
                         self.found_while_waiting(server))

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

    def test_what_does_not_come_is_said_with_what_there_is(self):
        self.useFixture(fixtures.MockPatchObject(self.commits, 'PATIENCE', 0))
        server = self.create().body['server']['id']
        error = self.assertRaises(AssertionError, self.wait, server, 'PAUSED')
        self.assertIn("waited for ('PAUSED', None)", str(error))
        self.useFixture(fixtures.MockPatchObject(
            self.commits, 'PATIENCE', waiting.Commits.PATIENCE))
        self.wait(server)
