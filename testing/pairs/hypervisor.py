"""A libvirt of its own, with QEMU for two architectures, and no cloud.

It runs in namespaces that nobody else sees, as a compute host of
:mod:`testing.deployment` does, and with the same choice of libvirt and QEMU:
``CLOUD_DEBIAN=trixie`` has both from Debian 13.
"""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import typing

from testing.deployment import chroot
from testing.deployment import firmware
from testing.deployment import libvirt
from testing.deployment import machine
from testing.deployment import processes
from testing.deployment import state as state_module

#: Beside those of the cloud's hosts.
PACKAGES = (
    'libvirt-clients', 'libvirt-daemon', 'libvirt-daemon-driver-qemu', 'ovmf',
    'python3-libvirt', 'qemu-efi-aarch64', 'qemu-system-arm',
    'qemu-system-x86', 'qemu-utils', 'swtpm', 'swtpm-tools')

_NAME = 'pairs'
_MOUNTS = {
    'etc': '/etc/libvirt', 'lib': '/var/lib/libvirt', 'run': '/run/libvirt',
    'cache': '/var/cache/libvirt', 'log': '/var/log/libvirt',
    'firmware': '/etc/qemu/firmware'}
_QEMU = '''
user = "root"
group = "root"
dynamic_ownership = 0
namespaces = []
security_driver = "none"
hugetlbfs_mount = []
'''


class Hypervisor:
    """The libvirtd.

    :ivar uri: where it is found
    """

    def __init__(self, state: state_module.State) -> None:
        self._state = state
        self._root = chroot.folder(state)
        self._libvirt = libvirt.Libvirt(state)
        self._namespaces = processes.Process(state, f'{_NAME}-namespaces')
        self._daemon = processes.Process(state, f'{_NAME}-libvirtd')
        self._folder = state.subfolder('hosts', _NAME)
        self.uri = ('qemu+unix:///system?socket='
                    f'{self._folder / "run" / "libvirt-sock"}')

    def __enter__(self) -> Hypervisor:
        """Start it; the first time, download what the machine lacks."""
        machine.check()
        machine.install(PACKAGES)
        self._libvirt.make()
        chroot.make(self._state)
        self._write()
        ready = self._folder / 'ready'
        ready.unlink(missing_ok=True)
        self._namespaces.start([
            'unshare', '--mount', '--pid', '--uts', '--fork', '--kill-child',
            '--mount-proc', sys.executable, '-m',
            'testing.deployment.host_init', _NAME, str(ready), '',
            str(self._libvirt.usr or ''), *self._mounts()])
        self._namespaces.wait_until(ready.exists)
        inside = ['chroot', str(self._root)] if self._root else []
        pid = self._namespaces.pid
        first = pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text()
        self._daemon.start([
            'nsenter', '--target', first.split()[0], '--mount', '--pid',
            '--uts', '--root', '--wd', *inside, '/usr/sbin/libvirtd'])
        self._daemon.wait_until(lambda: bool(self._virsh('version')))
        return self

    def __exit__(self, *exc: object) -> None:
        """End it, with everything in its namespaces."""
        self._namespaces.kill()

    def versions(self) -> dict[str, typing.Any]:
        """Return the release of Debian, and those of libvirt and QEMU."""
        text = ((self._root or pathlib.Path('/')) / 'etc' / 'os-release'
                ).read_text()
        hypervisor, daemon = re.findall(
            '(?:hypervisor|daemon): (.*)', self._virsh('version', '--daemon'))
        (debian,) = re.findall('VERSION_ID="(.*)"', text)
        return {'debian': debian, 'versions': f'libvirt {daemon}, {hypervisor}'}

    def _write(self) -> None:
        """Write its configuration, and empty what an earlier one left."""
        for name in _MOUNTS:
            self._state.subfolder('hosts', _NAME, name)
        subprocess.run(['rm', '-rf', *(self._folder / 'run').iterdir(),
                        *(self._folder / 'etc').iterdir()], check=True)
        (self._folder / 'etc' / 'qemu.conf').write_text(_QEMU)
        (self._folder / 'etc' / 'libvirtd.conf').write_text(
            'auth_unix_rw = "none"\n')
        firmware.describe_stateless(self._folder / 'firmware')

    def _mounts(self) -> list[str]:
        mounts = [*self._libvirt.mounts(), *(
            f'{self._folder / name}:{place}'
            for name, place in _MOUNTS.items())]
        for name, line in (
                ('passwd', 'libvirt-qemu:x:64055:64055::/:/usr/sbin/nologin'),
                ('group', 'libvirt-qemu:x:64055:')):
            text = pathlib.Path('/etc', name).read_text()
            if '\nlibvirt-qemu:' not in text:
                text += f'{line}\n'
            path = self._state.write(text, 'hosts', _NAME, name)
            mounts.append(f'{path}:/etc/{name}')
        if self._root:
            mounts += [f'{place}:{self._root}{place}' for place in (
                '/dev', '/proc', '/sys', '/run', '/etc/passwd', '/etc/group',
                *(place for place in _MOUNTS.values()
                  if not place.startswith('/run')), self._state.folder)]
        return mounts

    def _virsh(self, *arguments: str) -> str:
        return subprocess.run(
            ['virsh', '--connect', self.uri, *arguments], capture_output=True,
            text=True).stdout
