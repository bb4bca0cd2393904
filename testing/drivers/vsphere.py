"""A vSphere: govmomi's simulator of vCenter, and the guests in it.

The simulator is a program in Go (``testing/drivers/vcsim``, which says what is
added to it). It does what it is asked to, on files of datastores and on an
inventory that any client can read: here that is pyVmomi, not a part of Nova.
"""

import functools
import pathlib
import ssl
import subprocess
import typing

import fixtures
from nova.virt.vmwareapi import ds_util
from nova.virt.vmwareapi import images
from nova.virt.vmwareapi import session
from nova.virt.vmwareapi import vm_util
from oslo_utils import units
from pyVim import connect
from pyVmomi import vim
import urllib3

from testing.drivers import wsdl

#: What ``make vcsim`` builds.
PROGRAM = pathlib.Path(__file__).parents[2] / '.venv' / 'vcsim'

_DISK_TYPES = {(True, False): 'thin', (False, True): 'eagerZeroedThick',
               (False, False): 'preallocated'}


class Guest(typing.NamedTuple):
    """What a guest has, as far as image properties decide it.

    :ivar cores: per socket
    :ivar card: kind of its network card; None if it has none
    :ivar controller: kind of what its root disk is attached to
    :ivar disk: ``thin``, ``eagerZeroedThick`` or ``preallocated``
    :ivar linked: whether the root disk is a linked clone
    """

    guest_id: str
    firmware: str
    cores: int
    card: str | None
    controller: str
    disk: str
    linked: bool


class VSphere(fixtures.Fixture):
    """A running vCenter, with one cluster of one host.

    :ivar options: of ``[vmware]``
    """

    _USER = 'user'

    def _setUp(self) -> None:
        self._folder = folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        wsdl.write(folder)
        # Its datastores are temporary folders.
        self._process = subprocess.Popen(
            [PROGRAM, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={'TMPDIR': str(folder)})
        self.addCleanup(self._stop)
        address = self._process.stdout.readline()
        if not address:
            raise RuntimeError('the simulator does not start')
        host, _, port = address.partition(':')
        self.options = {
            'host_ip': host, 'host_port': int(port), 'insecure': True,
            'host_username': self._USER, 'host_password': self._USER,
            'cluster_name': 'DC0_C0', 'use_linked_clone': False,
            'api_retry_count': 1, 'task_poll_interval': 0.05}
        self._let_nova_in()
        self._content = connect.SmartConnect(
            host=host, port=int(port), user=self._USER, pwd=self._USER,
            disableSslCertValidation=True).RetrieveContent()

    def _stop(self) -> None:
        # It ends when its input does.
        self._process.communicate(timeout=60)

    def _let_nova_in(self) -> None:
        ds_util.dc_cache_reset()
        vm_util.vm_refs_cache_reset()
        self.useFixture(fixtures.MockPatchObject(
            vm_util, '_FOLDER_PATH_REF_MAPPING', {}))
        options = self.options
        # Their defaults are what the options were when Nova was imported.
        self.useFixture(fixtures.MockPatchObject(
            session.VMwareAPISession, '__init__', functools.partialmethod(
                session.VMwareAPISession.__init__,
                host_ip=options['host_ip'], host_port=options['host_port'],
                username=self._USER, password=self._USER, insecure=True,
                retry_count=options['api_retry_count'])))
        # Nova's harness has put wsgi_intercept's there, which does not know
        # the arguments of urllib3 2.
        self.useFixture(fixtures.MockPatchObject(
            urllib3.HTTPSConnectionPool, 'ConnectionCls',
            urllib3.connection.HTTPSConnection))
        # Before Nova 34, its harness makes TLS green after pytest has imported
        # urllib3; in nova-compute it is the other way round.
        self.useFixture(fixtures.MockPatchObject(
            urllib3.util.ssl_, 'SSLContext', ssl.SSLContext))
        # Nova sends 0.5 or 1.0 for a long integer, and Go refuses it:
        # docs/source/contributor/upstream.rst.
        self.useFixture(fixtures.MockPatchObject(
            images.VMwareImage, 'file_size_in_kb', property(
                lambda image: -(-image.file_size // units.Ki))))

    def machines(self) -> list[typing.Any]:
        """Return all virtual machines."""
        view = self._content.viewManager.CreateContainerView(
            self._content.rootFolder, [vim.VirtualMachine], recursive=True)
        return list(view.view)

    def machine(self, server_id: str) -> typing.Any:
        """Return a server's virtual machine."""
        (found,) = [machine for machine in self.machines()
                    if machine.config.instanceUuid == server_id]
        return found

    def guest(self, server_id: str) -> Guest:
        """Return what a server's guest is made of."""
        config = self.machine(server_id).config
        devices = {device.key: device for device in config.hardware.device}
        root = self.disks(server_id)[0]
        backing = root.backing
        return Guest(
            config.guestId, config.firmware, config.hardware.numCoresPerSocket,
            next((_kind(device) for device in devices.values() if isinstance(
                device, vim.vm.device.VirtualEthernetCard)), None),
            _kind(devices[root.controllerKey]),
            _DISK_TYPES[backing.thinProvisioned, backing.eagerlyScrub],
            backing.parent is not None)

    def disks(self, server_id: str) -> list[typing.Any]:
        """Return the disks of a server's guest, the root disk first."""
        return [device for device
                in self.machine(server_id).config.hardware.device
                if isinstance(device, vim.vm.device.VirtualDisk)]

    def read(self, disk: typing.Any) -> bytes:
        """Return the content of a disk."""
        return self._file(disk).read_bytes()

    def write(self, disk: typing.Any, content: bytes) -> None:
        """Write to a disk, replacing all that there is."""
        self._file(disk).write_bytes(content)

    def _file(self, disk: typing.Any) -> pathlib.Path:
        (store,) = self._folder.glob('govcsim-*')
        path = disk.backing.fileName.partition('] ')[2]
        return store / (path.removesuffix('.vmdk') + '-flat.vmdk')


def _kind(device: typing.Any) -> str:
    return type(device).__name__.rpartition('.')[2]
