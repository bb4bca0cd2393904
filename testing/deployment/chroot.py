"""Another release of Debian, whose libvirt and QEMU the hosts run.

``CLOUD_DEBIAN`` names it. Everything else of the cloud, nova-compute too, is
this machine's: it talks with libvirt through a socket.
"""
from __future__ import annotations

import os
import pathlib
import subprocess

from testing.deployment import machine
from testing.deployment import packages
from testing.deployment import state as state_module

_PACKAGES = (
    'libvirt-daemon', 'libvirt-daemon-driver-nodedev',
    'libvirt-daemon-driver-qemu', 'libvirt-daemon-driver-secret',
    'libvirt-daemon-log', 'openvswitch-common', 'ovmf', 'qemu-efi-aarch64',
    'qemu-system-arm', 'qemu-system-x86', 'qemu-utils', 'swtpm', 'swtpm-tools')


def folder(state: state_module.State) -> pathlib.Path | None:
    """Return its folder; None if the hosts are like this machine."""
    release = os.environ.get('CLOUD_DEBIAN')
    return state.file('debian', release) if release else None


def make(state: state_module.State) -> None:
    """Install it, unless that was done.

    :raises machine.Unable: it cannot be installed
    """
    root = folder(state)
    if root is None or root.exists():
        return
    machine.install(['debootstrap'])
    partial = root.with_suffix('.part')
    install = ['apt-get', '--quiet', '--option', 'APT::Sandbox::User=root']
    with state.file('log', 'debian.log').open('w') as log:
        for command in (
                ['rm', '-rf', partial],
                ['debootstrap', '--variant=minbase', root.name, partial,
                 packages.mirror()],
                ['chroot', partial, *install, 'install', '--yes',
                 '--no-install-recommends', *_PACKAGES]):
            done = subprocess.run(
                command, stdout=log, stderr=log,
                env={**os.environ, 'DEBIAN_FRONTEND': 'noninteractive',
                     'LC_ALL': 'C.UTF-8'})
            if done.returncode:
                raise machine.Unable(
                    f'{command[0]} fails for {root.name}, see {log.name}')
    partial.rename(root)
