"""A compute host without guests: Nova's fake driver says that it is libvirt's.

For tests of thousands of servers. Everything else of nova-compute is as on the
other hosts, and the bus and names of disks are what libvirt's driver chooses.
"""

import sys
import time

import openstack

from nova_image_override.cmd import run_nova_compute
from testing.deployment import installation
from testing.deployment import nova
from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import state as state_module


class Host(processes.Process):
    """nova-compute of that host.

    :ivar host: its name in Nova, another one each time: Nova looks at deleted
        services of that name, too (Instance.services)
    """

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state, 'fake-nova-compute')
        self._state = state
        self.host = f'fake{time.time():.0f}'

    def up(self) -> None:
        """Start it."""
        folder = self._state.subfolder('hosts', self.host)
        config = folder / 'nova.conf'
        settings.write(config, nova.common(self._state), {
            'DEFAULT': {'host': self.host, 'state_path': str(folder),
                        'compute_driver': 'fake.LikeLibvirt',
                        'sync_power_state_interval': '-1',
                        'max_concurrent_builds': '0'},
            'libvirt': {'virt_type': 'qemu'}})
        self.start([installation.OWN.python, '-W', 'ignore', '-m', __name__,
                    '--config-file', config])

    def takes_servers(self, operator: openstack.connection.Connection) -> bool:
        """Return whether Nova may give it servers."""
        mapped = {each.name for each in operator.compute.hypervisors()}
        providers = operator.placement.resource_providers(name=self.host)
        return self.host in mapped and any(
            any(operator.placement.resource_provider_inventories(each))
            for each in providers)


def main() -> None:
    """Run nova-compute-image-override with this driver."""
    from nova import monkey_patch
    monkey_patch.patch(backend='threading')
    from nova import objects
    from nova.virt import fake
    from nova.virt.libvirt import driver

    class LikeLibvirt(fake.FakeDriver):
        """What libvirt's driver says to Nova's other services."""

        capabilities = {**fake.FakeDriver.capabilities,
                        'supports_migrate_to_same_host': True}

        def get_available_resource(self, nodename):
            cells = [objects.NUMACell(
                id=number, cpuset={*range(number * 500, number * 500 + 500)},
                pcpuset=set(), memory=400_000, cpu_usage=0, memory_usage=0,
                pinned_cpus=set(), siblings=[], socket=number, mempages=[
                    objects.NUMAPagesTopology(
                        size_kb=4, total=100_000_000, used=0)])
                for number in range(2)]
            return {**super().get_available_resource(nodename),
                    'hypervisor_type': 'QEMU',
                    'numa_topology': objects.NUMATopology(
                        cells=cells)._to_json()}

        # It needs nothing of a driver.
        default_device_names_for_instance = (
            driver.LibvirtDriver.default_device_names_for_instance)

    fake.LikeLibvirt = LikeLibvirt
    run_nova_compute.main()


if __name__ == '__main__':
    sys.exit(main())
