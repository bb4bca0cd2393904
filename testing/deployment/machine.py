"""What the machine must be and have, before there is any environment.

``python3 -m testing.deployment.machine check`` says whether the cloud can
run here, ``install`` installs the Debian packages that are missing, and
``browser`` those of a browser. None needs more than the standard library.
"""

import os
import pathlib
import subprocess
import sys

#: Debian packages of what is not on PyPI: the hypervisor, the database, the
#: broker, what makes the guest, and the compiler of :mod:`.topology`.
PACKAGES = (
    'busybox-static', 'gcc', 'kmod', 'libc6-dev', 'libvirt-clients',
    'libvirt-daemon', 'libvirt-daemon-driver-qemu', 'mariadb-client-core',
    'mariadb-server-core', 'python3-libvirt', 'python3-venv',
    'qemu-system-x86', 'qemu-utils', 'rabbitmq-server', 'util-linux')

#: Those of the browser that tests/dashboard drives.
BROWSER = ('chromium', 'chromium-driver')

#: What keeps Debian's packages from starting services (invoke-rc.d(8)).
_POLICY = pathlib.Path('/usr/sbin/policy-rc.d')


class Unable(Exception):
    """The cloud cannot run here; the message is one line that says why."""


def check() -> None:
    """Look at what no package can change.

    :raises Unable: naming what is wrong
    """
    check_packages('libvirt, QEMU, MariaDB and RabbitMQ')
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


def check_packages(what: str) -> None:
    """Look whether packages can be installed here.

    :param what: what they are packages of
    :raises Unable: they cannot
    """
    if os.geteuid() != 0:
        raise Unable('needs root: namespaces, libvirt and apt do')
    release = pathlib.Path('/etc/os-release')
    lines = release.read_text().splitlines() if release.exists() else []
    if 'ID=debian' not in lines:
        raise Unable(f'needs Debian: its packages of {what}')


def missing(packages: tuple[str, ...] = ()) -> list[str]:
    """Return those of PACKAGES, or of others, that are not installed."""
    packages = packages or PACKAGES
    listed = subprocess.run(
        ['dpkg-query', '--show', '--showformat',
         '${Package} ${db:Status-Status}\n', *packages],
        capture_output=True, text=True).stdout
    return [name for name in packages
            if f'{name} installed' not in listed.splitlines()]


def install(packages: tuple[str, ...] = ()) -> None:
    """Install the packages that are missing, without starting services.

    :raises Unable: apt fails
    """
    wanted = missing(packages)
    if not wanted:
        return
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


def main(command: str) -> None:
    """Do what the command line says.

    :raises SystemExit: it cannot be done; the message is one line
    """
    what = 'A browser cannot be installed' if command == 'browser' \
        else 'The cloud cannot run'
    try:
        if command == 'browser':
            if missing(BROWSER):
                check_packages('Chromium')
                install(BROWSER)
            return
        check()
        if command == 'install':
            install()
    except Unable as exc:
        raise SystemExit(f'{what} here: {exc}') from exc


if __name__ == '__main__':
    main(*sys.argv[1:])
