"""A server with overrides, and what must remain of them."""

import typing

import fixtures
from nova.tests.functional.libvirt import base as libvirt_base

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
        assert self.numa_nodes(server) == [('0', 256), ('1-3', 768)]
        self.assert_machine(server)
        assert [set(cell.cpuset)
                for cell in self.instance(server).numa_topology.cells] == [
                    {0}, {1, 2, 3}]

    def assert_machine(self, server):
        machine = self.guest(server).find('os/type').get('machine')
        assert machine == 'pc-q35-2.10'
        assert self.disk_bus(server) == 'scsi'

    def each_kind(self):
        """Yield servers from an image, from a volume, and with a preset."""
        for make, preset in (
                (self.a_server, None), (self.a_volume_server, None),
                (lambda: self.a_server(
                    None, server={errors.PRESET: 'all'}), 'all')):
            server = make()
            yield server
            assert self.used(server) == (preset, OVERRIDES)

    def migrate(self, server):
        self.do(server, 'migrate', 'VERIFY_RESIZE', admin=True)

    def confirm(self, server, status='ACTIVE'):
        self.do(server, 'confirmResize', status, admin=True, expected=204)


class LiveMigrationCloud(Cloud, libvirt_base.LibvirtMigrationMixin):
    SHARED = False  # The mixin's stub keeps its state on the test.

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(
            'nova.tests.fixtures.libvirt.Domain.migrateToURI3',
            self._migrate_stub))
        self.migrate_stub_ran = False

    def live_migrate(self, server, host):
        """Migrate a server to the host that the scheduler must choose."""
        self.server = {'id': server}
        self.src = self.computes[self.instance(server).host]
        self.dest = self.computes[host]
        self.do(server, {'os-migrateLive': {
            'host': None, 'block_migration': 'auto'}}, admin=True)
