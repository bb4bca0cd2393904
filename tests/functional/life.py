"""A server with overrides, and what must remain of them."""


import fixtures

from testing.harness import base

#: NUMA nodes of different sizes, which Nova's own migration loses; a machine
#: type, which Nova's own rescue loses.
OVERRIDES = {
    'hw_numa_nodes': '2',
    'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
    'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768',
    'hw_machine_type': 'pc-q35-2.10',
    'hw_disk_bus': 'scsi',
}


class Case(base.TestCase):
    HOSTS = ('compute1', 'compute2')
    EXTENDED_HOSTS = HOSTS

    def setUp(self):
        super().setUp()
        self.flags(allow_resize_to_same_host=False)
        # This would copy files to the other host.
        self.useFixture(fixtures.MockPatch(
            'nova.virt.libvirt.driver.LibvirtDriver.'
            'migrate_disk_and_power_off', return_value='{}'))

    def a_server(self, overrides=OVERRIDES, **kwargs):
        return self.boot(overrides, flavor=self.flavor(vcpus=4), **kwargs)

    def a_volume_server(self, overrides=OVERRIDES):
        return self.a_server(
            overrides, image=None,
            server=self.from_volume(self.volume(hw_disk_bus='ide')))

    def assert_kept(self, server, overrides=OVERRIDES, reboot=True):
        stored = self.system_metadata(server)
        self.assertEqual(overrides, {n: stored.get(n) for n in overrides})
        self.assertEqual(overrides, self.http(
            'GET', f'/servers/{server}').body['server'][base.PARAMETER])
        spec = self.request_spec(server)
        self.assertEqual(2, spec['hw_numa_nodes'])
        self.assertEqual([{0}, {1, 2, 3}], spec['hw_numa_cpus'])
        self.assertEqual([256, 768], spec['hw_numa_mem'])
        self.assertEqual('scsi', spec['hw_disk_bus'])
        self.assertEqual('pc-q35-2.10', spec['hw_machine_type'])
        self.assert_guest(server)
        if reboot:
            self.hard_reboot(server)
            self.assert_kept(server, overrides, reboot=False)

    def assert_guest(self, server):
        guest = self.guest(server)
        self.assertEqual(
            [('0', str(256 * 1024)), ('1-3', str(768 * 1024))],
            [(cell.get('cpus'), cell.get('memory'))
             for cell in guest.findall('cpu/numa/cell')])
        self.assert_machine(server)
        self.assertEqual(
            [{0}, {1, 2, 3}],
            [set(cell.cpuset) for cell in
             self.instance(server).numa_topology.cells])

    def assert_machine(self, server):
        guest = self.guest(server)
        self.assertEqual('pc-q35-2.10', guest.find('os/type').get('machine'))
        self.assertEqual(
            'scsi', guest.find('devices/disk/target').get('bus'))

    def both(self):
        """Yield a server booted from an image, and one from a volume."""
        for kind in (self.a_server, self.a_volume_server):
            with self.subTest(kind.__name__):
                yield kind()

    def do(self, server, action, status='ACTIVE', admin=False, expected=202):
        answer = self.act(server, action, admin=admin)
        self.assertEqual(expected, answer.status, answer.text)
        self.wait(server, status)
