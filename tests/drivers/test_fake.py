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


class Cloud(base.Cloud):
    def assert_in_force(self, server, overrides):
        stored = self.system_metadata(server)
        assert {name: stored.get(name) for name in overrides} == overrides
        assert self.show(server)['image_props_override'] == overrides


class TestFake:
    DRIVER = 'fake.FakeDriver'
    OPTIONS = {'allowed_properties': ['*'], 'virt_drivers': []}

    @pytest.mark.smoke
    def test_nothing_is_read_and_nothing_fails(self, cloud):
        seen = cloud.useFixture(reads.Reads(
            cloud.driver, 'spawn', 'rescue', 'snapshot', 'finish_migration'))
        server = cloud.boot(OVERRIDES)
        cloud.assert_in_force(server, OVERRIDES)
        for overrides, left in (
                (None, OVERRIDES), (OTHERS, OTHERS), ({}, {})):
            assert cloud.rebuild(server, overrides).status == 202
            cloud.assert_in_force(server, left)
        for action, status in (
                ({'rescue': {}}, 'RESCUE'), ({'unrescue': None}, 'ACTIVE'),
                ({'createImage': {'name': 'snap'}}, 'ACTIVE')):
            answer = cloud.act(server, action)
            assert answer.status in (200, 202), answer.text
            cloud.wait(server, status)
        cloud.delete(server)
        assert seen.names == set()
