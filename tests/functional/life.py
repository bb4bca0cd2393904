"""A server with overrides, and what must remain of them."""

import typing

from nova_image_override import errors
from testing.harness import base
from tests.functional import presets

#: NUMA nodes of different sizes, which Nova's own migration loses; a machine
#: type, which Nova's own rescue loses.
OVERRIDES = {
    'hw_numa_nodes': '2',
    'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
    'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768',
    'hw_machine_type': 'pc-q35-2.10',
    'hw_disk_bus': 'scsi',
}


class Cloud(presets.Cloud):
    OPTIONS = base.Cloud.OPTIONS
    POLICY: typing.ClassVar[dict[str, str]] = {}
    PRESETS = presets.written({'all': OVERRIDES})
    HOSTS = ('compute1', 'compute2')
    EXTENDED_HOSTS = HOSTS

    def setUp(self):
        super().setUp()
        self.flags(allow_resize_to_same_host=False)
        self.move_without_copies()

    def a_server(self, overrides=OVERRIDES, **kwargs):
        return self.boot(overrides, flavor=self.flavor(vcpus=4), **kwargs)

    def a_volume_server(self, overrides=OVERRIDES):
        return self.a_server(
            overrides, image=None,
            server=self.from_volume(self.volume(hw_disk_bus='ide')))

    def a_preset_server(self):
        return self.a_server(None, server={errors.PRESET: 'all'})

    def assert_kept(self, server, overrides=OVERRIDES, reboot=True):
        stored = self.system_metadata(server)
        assert {n: stored.get(n) for n in overrides} == overrides
        assert self.show(server)[base.PARAMETER] == overrides
        spec = self.request_spec(server)
        assert spec['hw_numa_nodes'] == 2
        assert spec['hw_numa_cpus'] == [{0}, {1, 2, 3}]
        assert spec['hw_numa_mem'] == [256, 768]
        assert spec['hw_disk_bus'] == 'scsi'
        assert spec['hw_machine_type'] == 'pc-q35-2.10'
        self.assert_guest(server)
        if reboot:
            self.hard_reboot(server)
            self.assert_kept(server, overrides, reboot=False)

    def assert_guest(self, server):
        guest = self.guest(server)
        assert [(cell.get('cpus'), cell.get('memory'))
                for cell in guest.findall('cpu/numa/cell')] == [
                    ('0', str(256 * 1024)), ('1-3', str(768 * 1024))]
        self.assert_machine(server)
        assert [set(cell.cpuset)
                for cell in self.instance(server).numa_topology.cells] == [
                    {0}, {1, 2, 3}]

    def assert_machine(self, server):
        guest = self.guest(server)
        assert guest.find('os/type').get('machine') == 'pc-q35-2.10'
        assert guest.find('devices/disk/target').get('bus') == 'scsi'

    def each_kind(self):
        """Yield servers from an image, from a volume, and with a preset."""
        for kind in (
                self.a_server, self.a_volume_server, self.a_preset_server):
            server = kind()
            yield server
            used = 'all' if kind == self.a_preset_server else None
            assert self.used(server) == (used, OVERRIDES)

    def do(self, server, action, status='ACTIVE', admin=False, expected=202):
        answer = self.act(server, action, admin=admin)
        assert answer.status == expected, answer.text
        self.wait(server, status)
