"""A cloud in this process: the functional tests' harness, run by hand."""

import typing
import xml.etree.ElementTree as ET

from testing.harness import answers
from testing.harness import base
from testing.harness import nfv_hosts

#: Compute microversion of every request; from 2.98 on answers show the image
#: properties of a server.
COMPUTE = '2.98'

#: ``[image_override]`` of the cloud's nova.conf.
OPTIONS = {
    'allowed_properties': ['hw_*', 'os_*', 'trait:*'],
    'denied_properties': ['hw_machine_type'],
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


class Cloud(base.Cloud):
    """nova-api with our line in api-paste.ini, and everything behind it.

    Conductor, scheduler, placement and a compute with the real
    ``LibvirtDriver``; image service, hypervisor and Keystone are Nova's own
    fakes, the databases SQLite in memory.
    """

    OPTIONS = OPTIONS
    EXTENDED_HOSTS = ('compute1',)
    ADDITIONAL_FILTERS: typing.ClassVar = [
        *base.Cloud.ADDITIONAL_FILTERS, 'PciPassthroughFilter']

    def setUp(self) -> None:
        self.flags(group='compute', **nfv_hosts.CPU_SETS)
        self.flags(group='pci', **nfv_hosts.PCI)
        super().setUp()

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
