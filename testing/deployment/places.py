"""A server in the places where its overrides must be seen."""
from __future__ import annotations

import collections.abc
import contextlib
import typing
import xml.etree.ElementTree as ET

from openstack.compute.v2 import server as compute

from testing.deployment import command
from testing.deployment import processes
from testing.deployment import qemu
from testing.deployment.cloud import Cloud

#: A disk for which the guest's kernel has a driver, where nothing else puts it:
#: by default Nova gives a SCSI disk an LSI controller.
SCSI = {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi'}

#: The status of a server that is shelved and on no host.
OFFLOADED = 'SHELVED_OFFLOADED'

#: virtio's kinds of devices, and one of their features, VIRTIO_F_RING_PACKED.
CARD, SCSI_CONTROLLER, INPUT = 1, 8, 18
PACKED = 34


class Told:
    """What a guest finds out about itself (deployment/init.sh prints it).

    :ivar cmdline: its kernel's command line
    :ivar cpus: how many it has
    :ivar nodes: its NUMA nodes: list of CPUs, and memory in KiB
    :ivar lines: everything, as it says it
    :ivar disks: names of its disks; they show the bus
    :ivar plugged: names of its disks, each time that they have become others
    :ivar machine: QEMU's name of the machine type
    :ivar sockets: for each of its CPUs, those of the same socket
    :ivar address: size of addresses
    :ivar pci: vendor and device of its PCI devices
    :ivar display: the same for its display adapter
    :ivar sound: the same for its sound device
    :ivar firmware: ``uefi`` and whether Secure Boot is in force, 0 or 1; empty
        for BIOS
    :ivar variables: whether UEFI has ``kept`` what the guest wrote in an
        earlier boot, or it is ``new``
    :ivar tpm: major version of its TPM, and the driver
    :ivar cards: its network cards: address -> driver
    :ivar virtio: kind and features of its virtio devices
    :ivar configuration: the config drive, and its files
    """

    def __init__(self, lines: list[tuple[str, str, str]]) -> None:
        def all_of(key: str) -> list[str]:
            return [rest for found, _, rest in lines if found == key]

        def devices(kind: str) -> str:
            """Return the PCI devices of a class."""
            return ' '.join(
                rest.partition(' ')[2] for rest in all_of('pci')
                if rest.startswith(kind))

        self.lines = [''.join(line) for line in lines]
        self.cmdline = all_of('cmdline')[0]
        self.cpus = int(all_of('cpus')[0])
        self.nodes = {
            int(number): (cpus, int(memory)) for number, cpus, memory in
            (line.split() for line in all_of('node'))}
        self.disks = [disk.split()[0] for disk in all_of('disk')]
        self.plugged = [disks.split() for disks in all_of('disks')]
        self.machine = all_of('machine')[0]
        self.sockets = [line.split()[0] for line in all_of('cpu')]
        self.address = all_of('address')[0]
        self.pci = [line.partition(' ')[2] for line in all_of('pci')]
        self.display = devices('0x03')
        self.sound = devices('0x04')
        self.cards = {address: driver for address, driver, _ in (
            line.split() for line in all_of('card'))}
        self.virtio = [line.split() for line in all_of('virtio')]
        self.configuration = ' '.join(all_of('configuration')).split()
        self.firmware = ' '.join(all_of('firmware'))
        self.variables = ' '.join(all_of('variables'))
        self.tpm = ' '.join(all_of('tpm'))

    @classmethod
    def read(cls, console: str) -> Told | None:
        """Return what a guest's console says; None if it is not complete."""
        lines = [line.strip().removeprefix('GUEST ').partition(' ')
                 for line in console.splitlines()
                 if line.startswith('GUEST ')]
        return cls(lines) if ('ready', '', '') in lines else None

    def features(self, kind: int) -> list[str]:
        """Return the features of its virtio devices of a kind, bit by bit."""
        return [features for found, features in self.virtio
                if int(found, 16) == kind]


class Server:
    """One server.

    :ivar id: its id
    """

    def __init__(
        self, deployment: Cloud, openstack: command.Openstack, server_id: str,
    ) -> None:
        self._deployment = deployment
        self._openstack = openstack
        self.id = server_id

    def run(self, *words: str) -> None:
        """Run ``openstack server WORDS... ID``; the id comes last."""
        self._openstack('server', *words, self.id)

    def do(self, *words: str, until: str = 'ACTIVE') -> None:
        """Run one, and wait until it has brought the server to a status."""
        self.run(*words)
        self.settled(until)

    def settled(self, status: str) -> None:
        """Wait until it has the status, and Nova is done with it.

        :raises AssertionError: it is in ERROR instead
        """
        def reached() -> bool:
            server = self._deployment.operator.compute.get_server(self.id)
            if server.status == 'ERROR' != status:
                raise AssertionError(f'{self.id} is in ERROR: {server.fault}')
            # A host saves one that it offloads once more before it gives it up.
            return server.status == status and server.task_state is None and (
                status != OFFLOADED or server.compute_host is None)

        processes.wait_for(reached, f'{self.id} {status}', 300)

    def restart(self, *change: str) -> None:
        """Stop it, ``set`` what is to change, if anything, and start it."""
        self.do('stop', until='SHUTOFF')
        if change:
            self.run('set', *change)
        self.do('start')

    def offload(self) -> None:
        """Shelve it, and wait until no host has it.

        Not with --offload: if the client sees it SHELVED in between, it asks
        for what only an administrator may.
        """
        self.do('shelve', until=OFFLOADED)

    def migrate(self, operator: command.Openstack, *how: str) -> None:
        """Let an operator move it, stopped, to another host.

        :param how: options
        :raises AssertionError: it is in ERROR, or where it was
        """
        before = self.host
        operator('server', 'migrate', *how, self.id)
        self.settled('VERIFY_RESIZE')
        operator('server', 'migration', 'confirm', self.id)
        self.settled('ACTIVE')
        assert self.host != before

    @contextlib.contextmanager
    def snapshot(
        self, operator: command.Openstack,
    ) -> collections.abc.Iterator[str]:
        """Have an image of it, which is deleted afterwards; its id."""
        image = self._openstack.json(
            'server', 'image', 'create', '--name', 'test-snapshot', '--wait',
            self.id)['id']
        try:
            yield image
        finally:
            operator('image', 'delete', image)

    @property
    def api(self) -> dict[str, str | None]:
        """The first place: what the API says is overridden."""
        return self._shown['image_props_override']

    @property
    def preset(self) -> str:
        """The name of the preset that they came with; '' without one."""
        used = self._shown['image_props_override_preset']
        return used['name'] if used else ''

    @property
    def _shown(self) -> dict[str, typing.Any]:
        return self._openstack.json('server', 'show', self.id)

    @property
    def host(self) -> str:
        """The name of the host that it is on."""
        return self._deployment.operator.compute.get_server(
            self.id).compute_host

    @property
    def domain(self) -> ET.Element:
        """The second place: its XML, from ``virsh dumpxml``."""
        return ET.fromstring(
            self._deployment.hosts[self.host].virsh('dumpxml', self.id))

    @property
    def told(self) -> Told:
        """The third place: what the guest says once it has booted."""
        host = self._deployment.hosts[self.host]
        processes.wait_for(
            lambda: Told.read(host.console(self.id)) is not None,
            f'the guest of {self.id}', 300)
        told = Told.read(self._openstack('console', 'log', 'show', self.id))
        assert told is not None
        return told

    @property
    def process(self) -> qemu.Process:
        """What NFV adds to the three: the process of QEMU."""
        return qemu.of_server(self.id)

    @property
    def fault(self) -> str:
        """Why it is in ERROR, in Nova's words."""
        return self._deployment.operator.compute.get_server(
            self.id).fault['message']


def created(deployment: Cloud) -> list[compute.Server]:
    """Return the servers that tests have created, as the operator sees them."""
    return list(deployment.operator.compute.servers(
        all_projects=True, name='^test-'))
