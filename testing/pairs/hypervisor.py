"""A host of the cloud without the cloud: libvirt, for two architectures.

``CLOUD_DEBIAN=trixie`` has libvirt and QEMU from Debian 13, as the cloud does,
and ``CLOUD_LIBVIRT=own`` the libvirt of Debian 12 itself.
"""
from __future__ import annotations

import os
import pathlib
import re
import typing

from testing.deployment import chroot
from testing.deployment import host
from testing.deployment import libvirt
from testing.deployment import machine
from testing.deployment import state as state_module

#: Of those that hosts need, and for the other architecture.
PACKAGES = (
    'gcc', 'libc6-dev', 'libvirt-clients', 'libvirt-daemon',
    'libvirt-daemon-driver-qemu', 'ovmf', 'python3-libvirt',
    'qemu-efi-aarch64', 'qemu-system-arm', 'qemu-system-x86', 'qemu-utils',
    'swtpm', 'swtpm-tools')


class Hypervisor(host.Host):
    """The host, without a switch and nova-compute."""

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state, 'pairs', range(5900, 5910), 1)
        self.has_huge_pages = False

    def __enter__(self) -> Hypervisor:
        """Start it; the first time, download what the machine lacks."""
        machine.check()
        machine.install(PACKAGES)
        libvirt.Libvirt(self._state).make()
        chroot.make(self._state)
        # One that was cut off left it.
        self.fail()
        self.start_libvirt()
        return self

    def __exit__(self, *exc: object) -> None:
        """End it, with everything in its namespaces."""
        self.fail()

    def versions(self) -> dict[str, typing.Any]:
        """Return the release of Debian, and those of libvirt and QEMU."""
        text = ((self._root or pathlib.Path('/')) / 'etc' / 'os-release'
                ).read_text()
        hypervisor, daemon = re.findall(
            '(?:hypervisor|daemon): (.*)', self.virsh('version', '--daemon'))
        (debian,) = re.findall('VERSION_ID="(.*)"', text)
        return {'debian': debian, 'versions': f'libvirt {daemon}, {hypervisor}'}

    @property
    def record(self) -> str:
        """The last part of the names of its records."""
        own = '-own' * (os.environ.get('CLOUD_LIBVIRT') == 'own')
        return f'debian{self.versions()["debian"]}{own}'
