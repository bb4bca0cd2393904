"""A cloud in this process: the functional tests' harness, run by hand."""
from __future__ import annotations

import os
import pathlib
import typing
import xml.etree.ElementTree as ET

import fixtures

from testing import release

# The harness first: it decides how Nova's threads run.
from testing.harness import answers
from testing.harness import base
from testing.harness import nfv_hosts

# isort: split
from nova.virt.libvirt import driver as driver_module
from nova.virt.libvirt import utils

#: Compute microversion of every request; from 2.98 on, which Nova 31 brought,
#: answers show the image properties of a server.
COMPUTE = release.microversions('2.93', '2.98')[-1]

#: ``[image_override]`` of the cloud's nova.conf.
OPTIONS = {
    'allowed_properties': ['hw_*', 'os_*', 'trait:*'],
    'denied_properties': ['hw_machine_type'],
    'presets_file': str(pathlib.Path(__file__).with_name('presets.yaml')),
}

#: The flavors of the cloud: vCPUs, MiB of memory and extra specs, with '__'
#: for ':'.
FLAVORS: dict[str, tuple[int, int, dict[str, str]]] = {
    'two-cpus': (2, 1024, {}),
    'nfv': (4, 2048, {'hw__mem_page_size': 'any'}),
    'nfv-realtime': (4, 2048, {
        'hw__mem_page_size': 'large', 'hw__cpu_policy': 'dedicated',
        'hw__cpu_realtime': 'yes', 'hw__cpu_realtime_mask': '^0'}),
    'nfv-nic': (4, 2048, {
        'hw__mem_page_size': 'any', 'pci_passthrough__alias': 'nic:1'}),
}

#: The image's own properties. It has a kernel of its own, without which Nova
#: gives no guest an os_command_line.
IMAGE = {
    'kernel_id': base.IMAGE,
    'hw_disk_bus': 'virtio',
    'hw_rng_model': 'virtio',
    'os_distro': 'debian',
}


#: The namespace of Nova's own part of a definition.
_OF_NOVA = '{http://openstack.org/xmlns/libvirt/nova/1.1}'

_DRIVER = 'nova.virt.libvirt.driver.LibvirtDriver'


def _rescue(
    driver: driver_module.LibvirtDriver, context: typing.Any,
    instance: typing.Any, *args: typing.Any, **kwargs: typing.Any,
) -> None:
    os.makedirs(utils.get_instance_path(instance), exist_ok=True)
    _RESCUE(driver, context, instance, *args, **kwargs)


_RESCUE = driver_module.LibvirtDriver.rescue


class Cloud(base.Cloud):
    """nova-api with our line in api-paste.ini, and everything behind it.

    Conductor, scheduler, placement and a compute with the real
    ``LibvirtDriver``; image service, hypervisor and Keystone are Nova's own
    fakes, the databases SQLite in memory.
    """

    OPTIONS = OPTIONS
    POLICY: typing.ClassVar = {
        'os_compute_api:servers:create:image_props_override:preset:'
        'nfv-realtime': 'role:admin'}
    EXTENDED_HOSTS = ('compute1',)
    ADDITIONAL_FILTERS: typing.ClassVar = [
        *base.Cloud.ADDITIONAL_FILTERS, 'PciPassthroughFilter']

    def setUp(self) -> None:
        self.flags(group='compute', **nfv_hosts.CPU_SETS)
        self.flags(group='pci', **nfv_hosts.PCI)
        self.flags(allow_resize_to_same_host=True)
        super().setUp()
        # There are no disks to copy, and no folder for the guest's disks,
        # where a rescue keeps the definition to which it goes back.
        self.useFixture(fixtures.MockPatch(
            f'{_DRIVER}.migrate_disk_and_power_off', return_value='{}'))
        self.useFixture(fixtures.MonkeyPatch(f'{_DRIVER}.rescue', _rescue))

    def hardware(self, host: str) -> dict[str, typing.Any]:
        return nfv_hosts.hardware()

    def request(
        self, method: str, path: str, body: typing.Any = None,
    ) -> answers.Answer:
        """Send one request as a project member."""
        return self.http(method, path, body, compute=COMPUTE)

    def settled(self, server_id: str) -> dict[str, typing.Any]:
        """Return what GET shows of a server once it is built, or in ERROR."""
        def show() -> dict[str, typing.Any]:
            return self.request('GET', f'/servers/{server_id}').body['server']

        self.commits.until(lambda: show()['status'] != 'BUILD', True)
        return show()

    def definition(self, server: str) -> str | None:
        """Return the last libvirt XML of a guest, as the driver wrote it.

        :param server: UUID or name; of several with a name, the newest
        :returns: None if there has been none
        """
        for uuid, xml in reversed(self.built.items()):
            if server in (uuid, ET.fromstring(xml).findtext(
                    f'metadata/{_OF_NOVA}instance/{_OF_NOVA}name')):
                return xml
        return None

    def guest_lines(self, server_id: str) -> list[str]:
        """Return a guest's libvirt XML, comparable with another guest's.

        Without Nova's ``<metadata>``, which no guest sees, and with ids and
        folders that differ from guest to guest replaced.
        """
        domain = self.guest(server_id)
        name = domain.findtext('name') or ''
        for metadata in domain.findall('metadata'):
            domain.remove(metadata)
        ET.indent(domain)
        text = ET.tostring(domain, encoding='unicode')
        for own, common in ((base.CONF.instances_path, '/instances'),
                            (server_id, 'ID'), (name, 'instance')):
            text = text.replace(own, common)
        return text.splitlines()
