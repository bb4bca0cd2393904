"""A compute host: namespaces with libvirt, QEMU and nova-compute in them.

Where libvirt writes outside the state folder, folders of the state folder are
mounted, in a mount namespace that nobody else sees: the machine's own libvirt
is neither touched nor seen. The PID namespace ends every guest when its first
process ends. The UTS namespace has the host's name, so that one machine can be
two hosts.
"""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import uuid

from testing.deployment import ceph
from testing.deployment import chroot
from testing.deployment import firmware
from testing.deployment import hugepages
from testing.deployment import installation
from testing.deployment import libvirt
from testing.deployment import nova
from testing.deployment import openvswitch
from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment import topology

# Folders of libvirt and swtpm, and what they are called here.
_MOUNTS = {
    'etc': '/etc/libvirt', 'lib': '/var/lib/libvirt',
    'run': '/run/libvirt', 'cache': '/var/cache/libvirt',
    'log': '/var/log/libvirt', 'firmware': '/etc/qemu/firmware',
    'swtpm-ca': '/var/lib/swtpm-localca', 'swtpm-log': '/var/log/swtpm'}

# Guests run as root: a libvirt whose guests cannot use the /dev/kvm that root
# can use asks QEMU for its capabilities anew at every call. Where guests
# migrate to must not look like the host that they leave, as 127.0.0.1 does.
_QEMU = '''
user = "root"
group = "root"
swtpm_user = "root"
swtpm_group = "root"
dynamic_ownership = 0
remember_owner = 0
namespaces = []
security_driver = "none"
clear_emulator_capabilities = 0
migration_address = "127.0.0.2"
migration_host = "127.0.0.2"
'''


class Host:
    """One compute host.

    :param displays: ports for its guests' displays, one for each guest
    :param threads: how many of its CPUs share a core
    :ivar name: its name in Nova
    :ivar compute: its nova-compute
    :ivar installation: the one that nova-compute is started from next
    :ivar extended: whether nova-compute is the extension's
    :ivar more: what else is in its nova.conf; written at each start
    :ivar mounts: what else it mounts, as ``SOURCE:PLACE``
    :ivar instances: the folder of its guests, as it is found from outside
    :ivar has_huge_pages: whether it has huge pages where the cloud has some
    :ivar topology: its nodes and CPUs
    """

    def __init__(
        self, state: state_module.State, name: str, displays: range,
        threads: int,
    ) -> None:
        self.name = name
        self.installation = installation.OWN
        self.extended = True
        self.more: settings.Settings = {}
        self.mounts: list[str] = []
        self.instances = nova.instances(state)
        self.has_huge_pages = True
        # The hosts share one network: two libvirtds that choose from the same
        # ports choose the same one.
        self._displays = displays
        self._state = state
        # Where libvirt and QEMU are, if they are not this machine's.
        self._root = chroot.folder(state)
        self.topology = topology.Topology(state, name, threads)
        self._huge_pages = hugepages.HugePages(state)
        self._libvirt = libvirt.Libvirt(state)
        self._agent = openvswitch.Agent(state, name)
        self._namespaces = processes.Process(state, f'{name}-namespaces')
        self._virtlogd = processes.Process(state, f'{name}-virtlogd')
        self._libvirtd = processes.Process(state, f'{name}-libvirtd')
        self.compute = processes.Process(state, f'{name}-nova-compute')

    @property
    def _folder(self) -> pathlib.Path:
        return self._state.subfolder('hosts', self.name)

    @property
    def _config(self) -> pathlib.Path:
        return self._folder / 'nova.conf'

    @property
    def uri(self) -> str:
        """Where ``virsh`` finds its libvirtd, from outside."""
        return _uri(self._state, self.name)

    @property
    def _pages(self) -> pathlib.Path:
        """The folder where its huge pages are mounted."""
        return self._state.subfolder('hosts', self.name, 'hugepages')

    def virsh(self, *arguments: str) -> str:
        """Run virsh, and return what it prints."""
        return subprocess.run(
            ['virsh', '--connect', self.uri, *arguments], check=True,
            capture_output=True, text=True).stdout

    def console(self, server: str) -> str:
        """Return what a server's guest has said on its console so far.

        From the file with which Nova answers: to ask it again and again takes
        CPU time from the guest.
        """
        said = self.instances / server / 'console.log'
        return said.read_text(errors='replace') if said.exists() else ''

    def up(self) -> None:
        """Make the namespaces and start everything in them."""
        self.start_libvirt()
        self._enter(self._agent, *self._agent.command())
        self.start_compute()

    def start_libvirt(self) -> None:
        """Make the namespaces, with libvirt in them."""
        mounts = [*self._libvirt.mounts(), *self.mounts]
        for name, place in _MOUNTS.items():
            mounts += [f'{self._state.subfolder("hosts", self.name, name)}'
                       f':{place}']
        huge = self.has_huge_pages and self._huge_pages.there
        self.topology.make(hugepages.PER_NODE if huge else 0)
        mounts += self.topology.mounts()
        mounts += [f'{openvswitch.folder(self._state)}:{openvswitch.PLACE}']
        mounts += [f'{ceph.folder(self._state)}:{ceph.PLACE}']
        mounts += [f'{self._accounts(name)}:/etc/{name}'
                   for name in ('passwd', 'group')]
        if self._root:
            mounts += [f'{place}:{self._root}{place}' for place in (
                '/dev', '/proc', '/sys', '/run', '/etc/passwd', '/etc/group',
                *(place for place in _MOUNTS.values()
                  if not place.startswith('/run')), self._state.folder)]
        pages = f'"{self._pages}"' if huge else ''
        # Guests of a dirty state are gone: their ids are other processes now.
        subprocess.run(['rm', '-rf', *(self._folder / 'run').iterdir()],
                       check=True)
        (self._folder / 'etc' / 'qemu.conf').write_text(_QEMU + (
            f'remote_display_port_min = {self._displays[0]}\n'
            f'remote_display_port_max = {self._displays[-1]}\n'
            # Both hosts have it, which no file system says.
            f'shared_filesystems = ["{nova.instances(self._state)}"]\n'
            # Not an empty path, with which libvirt 11 does not start.
            f'hugetlbfs_mount = [{pages}]\n'))
        # Two hosts of one machine, between which libvirt is to migrate guests.
        identity = uuid.uuid5(uuid.NAMESPACE_OID, self.name)
        (self._folder / 'etc' / 'libvirtd.conf').write_text(
            f'auth_unix_rw = "none"\nhost_uuid = "{identity}"\n')
        firmware.describe_stateless(self._folder / 'firmware')
        ready = self._folder / 'ready'
        ready.unlink(missing_ok=True)
        self._namespaces.start([
            'unshare', '--mount', '--pid', '--uts', '--fork', '--kill-child',
            '--mount-proc', sys.executable, '-m',
            'testing.deployment.host_init', self.name, str(ready),
            str(self._pages) if huge else '',
            str(self._libvirt.usr or ''), *mounts])
        self._namespaces.wait_until(ready.exists)
        inside = ['chroot', str(self._root)] if self._root else []
        self._enter(self._virtlogd, *inside, '/usr/sbin/virtlogd')
        self._virtlogd.wait_until(
            (self._folder / 'run' / 'virtlogd-sock').exists)
        self._enter(self._libvirtd, *inside, '/usr/sbin/libvirtd')
        self._libvirtd.wait_until(self._answers)

    def fail(self) -> None:
        """End everything on it at once, as a failure of its power would."""
        self._namespaces.kill()

    def _accounts(self, name: str) -> pathlib.Path:
        """Return /etc/passwd or /etc/group with what Debian's libvirt looks up.

        It creates that user in libvirt-daemon-system, which starts services.
        """
        text = pathlib.Path('/etc', name).read_text()
        if '\nlibvirt-qemu:' not in text:
            text += ('libvirt-qemu:x:64055:64055::/:/usr/sbin/nologin\n'
                     if name == 'passwd' else 'libvirt-qemu:x:64055:\n')
        return self._state.write(text, 'hosts', self.name, name)

    def _answers(self) -> bool:
        return subprocess.run(
            ['virsh', '--connect', self.uri, 'capabilities'],
            capture_output=True).returncode == 0

    def _first(self) -> str:
        """Return the id of the first process in the namespaces."""
        pid = self._namespaces.pid
        children = pathlib.Path(f'/proc/{pid}/task/{pid}/children')
        return children.read_text().split()[0]

    def _enter(self, process: processes.Process, *command: str) -> None:
        """Start a process in the host."""
        process.start(['nsenter', '--target', self._first(), '--mount',
                       '--pid', '--uts', '--root', '--wd', *command],
                      self.topology.environment())

    def free_pages(self) -> list[int]:
        """Return how many huge pages libvirt finds free, node by node."""
        lines = self.virsh('freepages', '--all').splitlines()
        return [int(line.split()[1]) for line in lines
                if line.startswith(f'{hugepages.SIZE}KiB:')]

    def kernel_free_pages(self) -> int:
        """Return how many huge pages of both nodes the kernel has free."""
        # What is mounted there can only be seen from inside.
        return os.statvfs(f'/proc/{self._first()}/root{self._pages}').f_bfree

    def start_compute(self) -> None:
        """Start nova-compute."""
        helper = (f'{self.installation.bin}/privsep-helper --config-file '
                  f'{self._config}')
        settings.write(self._config, nova.common(self._state), {
            'DEFAULT': {'host': self.name, 'state_path': str(self._folder),
                        'compute_driver': 'libvirt.LibvirtDriver',
                        # A cold start of the cloud is one of its guests, too.
                        'resume_guests_state_on_host_boot': 'true'},
            'libvirt': {'virt_type': 'qemu', 'swtpm_enabled': 'true',
                        'swtpm_user': 'root', 'swtpm_group': 'root',
                        'live_migration_uri': _uri(self._state, '%s')},
            'compute': {'cpu_shared_set': topology.cpu_set(dedicated=False),
                        'cpu_dedicated_set': topology.cpu_set(dedicated=True)},
            'os_vif_ovs': {'ovsdb_connection': openvswitch.CONNECTION},
            **{context: {'helper_command': helper} for context in (
                'nova_sys_admin', 'privsep_osbrick',
                'vif_plug_ovs_privileged')}}, self.more)
        self._enter(self.compute, *self._command())

    def _command(self) -> list[str]:
        """Return what starts nova-compute."""
        where = self.installation
        command = ('nova-compute-image-override' if self.extended else
                   'nova-compute')
        return [str(where.python), '-W', 'ignore', str(where.bin / command),
                '--config-file', str(self._config)]

    def takes_servers(self, reported: str | None) -> bool:
        """Return whether the nova-compute that was started last takes servers.

        To Nova it is up for another minute (``service_down_time``) after the
        last report of one that was killed.

        :param reported: when it last reported, which it does once it has
            started (nova.service.Service.start)
        """
        return self.compute.has_reported(reported)

    def restart_compute(self) -> None:
        """End nova-compute as a crash would, and start it again."""
        self.compute.kill()
        self.start_compute()


def _uri(state: state_module.State, name: str) -> str:
    """Return where the libvirtd of a host is found."""
    socket = state.subfolder('hosts') / name / 'run' / 'libvirt-sock'
    return f'qemu+unix:///system?socket={socket}'
