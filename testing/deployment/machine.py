"""What the machine must be and have, before there is any environment.

``python3 -m testing.deployment.machine check`` says whether the cloud can
run here, ``install`` installs the Debian packages that are missing,
``install NAME...`` those that are named, for other tests. None of it needs
more than the standard library.
"""

import collections.abc
import os
import pathlib
import subprocess
import sys

#: Debian packages of what is not on PyPI: the hypervisor with UEFI and TPM, its
#: switch, the storage, the database, the broker, what makes guests and their
#: disks, and the compiler of :mod:`.topology`.
PACKAGES = (
    'busybox-static', 'ceph-mgr', 'ceph-mon', 'ceph-osd', 'gcc', 'genisoimage',
    'gir1.2-libosinfo-1.0', 'kmod', 'libc6-dev', 'libvirt-clients',
    'libvirt-daemon', 'libvirt-daemon-driver-qemu', 'mariadb-client-core',
    'mariadb-server-core', 'mtools', 'openvswitch-switch', 'osinfo-db', 'ovmf',
    'python3-gi', 'python3-libvirt', 'python3-rbd', 'python3-venv',
    'qemu-block-extra', 'qemu-system-x86', 'qemu-utils', 'rabbitmq-server',
    'swtpm', 'swtpm-tools', 'util-linux')

#: What keeps Debian's packages from starting services (invoke-rc.d(8)).
_POLICY = pathlib.Path('/usr/sbin/policy-rc.d')


class Unable(Exception):
    """It cannot be done here; the message is one line that says why."""


def check() -> None:
    """Check what no package can change.

    :raises Unable: naming what is wrong
    """
    if os.geteuid() != 0:
        raise Unable('needs root: namespaces, libvirt and apt do')
    if not _is_debian():
        raise Unable('needs Debian: its packages of libvirt, QEMU, MariaDB '
                     'and RabbitMQ')
    if os.uname().machine != 'x86_64':
        raise Unable(f'needs x86_64, not {os.uname().machine}')
    try:
        subprocess.run(['unshare', '--mount', '--pid', '--uts', '--fork',
                        'mount', '-t', 'tmpfs', 'tmpfs', '/run'],
                       check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        raise Unable('needs mount, PID and UTS namespaces of its own: "unshare '
                     '--mount --pid --uts" fails (a container without '
                     'CAP_SYS_ADMIN?)') from None


def _is_debian() -> bool:
    release = pathlib.Path('/etc/os-release')
    return release.exists() and (
        'ID=debian' in release.read_text().splitlines())


def missing(packages: collections.abc.Sequence[str]) -> list[str]:
    """Return the packages that are not installed."""
    listed = subprocess.run(
        ['dpkg-query', '--show', '--showformat',
         '${Package} ${db:Status-Status}\n', *packages],
        capture_output=True, text=True).stdout
    return [name for name in packages
            if f'{name} installed' not in listed.splitlines()]


def install(packages: collections.abc.Sequence[str]) -> None:
    """Install the packages that are missing, without starting services.

    :raises Unable: apt fails, or cannot be asked
    """
    wanted = missing(packages) if _is_debian() else packages
    if not wanted:
        return
    if os.geteuid() != 0 or not _is_debian():
        raise Unable(f'root on Debian installs {", ".join(wanted)}')
    print(f'Installing {", ".join(wanted)}', flush=True)
    keep = _POLICY.exists()
    if not keep:
        _POLICY.write_text('#!/bin/sh\nexit 101\n')
        _POLICY.chmod(0o755)
    try:
        for command in (['update'],
                        ['install', '--yes', '--no-install-recommends',
                         *wanted]):
            done = subprocess.run(
                ['apt-get', '--quiet', *command], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**os.environ, 'DEBIAN_FRONTEND': 'noninteractive'})
            if done.returncode:
                raise Unable(f'apt-get {command[0]} fails: '
                             + done.stdout.strip().rpartition('\n')[2])
    finally:
        if not keep:
            _POLICY.unlink()


if __name__ == '__main__':
    command, *named = sys.argv[1:]
    try:
        if not named:
            check()
        if command == 'install':
            install(named or PACKAGES)
    except Unable as exc:
        sys.exit(str(exc) if named else f'The cloud cannot run here: {exc}')
