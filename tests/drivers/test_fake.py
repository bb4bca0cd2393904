"""Nova's fake driver: nothing is read, nothing fails."""

import pytest

from testing.drivers import base
from testing.drivers import reads

#: One property of each kind that another driver reads.
OVERRIDES = {
    'hw_cpu_cores': '2', 'hw_disk_bus': 'scsi', 'hw_firmware_type': 'uefi',
    'hw_machine_type': 'q35', 'hw_scsi_model': 'vmpvscsi',
    'hw_vif_model': 'e1000', 'img_linked_clone': 'false',
    'os_distro': 'sles12',
}
OTHERS = {'hw_disk_bus': 'virtio', 'hw_rng_model': 'virtio'}


class Fake(base.TestCase):
    DRIVER = 'fake.FakeDriver'
    OPTIONS = {'allowed_properties': ['*'], 'virt_drivers': []}

    def assert_in_force(self, server, overrides):
        stored = self.system_metadata(server)
        self.assertEqual(overrides, {
            name: stored.get(name) for name in overrides})
        self.assertEqual(overrides, self.http(
            'GET', f'/servers/{server}').body['server'][
                'image_props_override'])

    @pytest.mark.smoke
    def test_nothing_is_read_and_nothing_fails(self):
        seen = self.useFixture(reads.Reads(
            self.driver, 'spawn', 'rescue', 'snapshot', 'finish_migration'))
        server = self.boot(OVERRIDES)
        self.assert_in_force(server, OVERRIDES)
        for overrides, left in (
                (None, OVERRIDES), (OTHERS, OTHERS), ({}, {})):
            self.assertEqual(
                202, self.rebuild(server, overrides).status)
            self.assert_in_force(server, left)
        for action, status in (
                ({'rescue': {}}, 'RESCUE'), ({'unrescue': None}, 'ACTIVE'),
                ({'createImage': {'name': 'snap'}}, 'ACTIVE')):
            answer = self.act(server, action)
            self.assertIn(answer.status, (200, 202), answer.text)
            self.wait(server, status)
        self.delete(server)
        self.assertEqual(set(), seen.names)
