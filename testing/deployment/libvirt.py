"""The libvirt of Debian 12's backports, for the compute hosts.

With Debian 12's own, 9.0, Nova 33 and 34 build no guest with UEFI: "loader
attribute 'secure' cannot be specified when firmware autoselection is enabled".
QEMU is Debian 12's all the same. With ``CLOUD_LIBVIRT=own``, on other releases
of Debian, and where :mod:`.chroot` gives them another one's, hosts have none of
this.
"""

import os
import pathlib
import shutil
import subprocess

from testing.deployment import chroot
from testing.deployment import state as state_module

_RELEASE = 'bookworm'

#: Those that Nova needs; libvirt's own networks need a firewall, too.
_PACKAGES = (
    'libvirt0', 'libvirt-common', 'libvirt-daemon', 'libvirt-daemon-common',
    'libvirt-daemon-driver-interface', 'libvirt-daemon-driver-nodedev',
    'libvirt-daemon-driver-qemu', 'libvirt-daemon-driver-secret',
    'libvirt-daemon-driver-storage', 'libvirt-daemon-log')


class Libvirt:
    """The unpacked packages.

    :ivar usr: the folder that hosts see over /usr; none for the machine's own
    """

    def __init__(self, state: state_module.State) -> None:
        self._state = state
        is_older = f'VERSION_CODENAME={_RELEASE}' in pathlib.Path(
            '/etc/os-release').read_text().splitlines()
        self._root = state.file('libvirt', 'root')
        self.usr = self._root / 'usr' if (
            is_older and os.environ.get('CLOUD_LIBVIRT') != 'own'
            and chroot.folder(state) is None) else None

    def mounts(self) -> list[str]:
        """Return what else hosts see elsewhere: modules of one version only."""
        modules = 'lib/x86_64-linux-gnu/libvirt'
        return [f'{self.usr / modules}:/usr/{modules}'] if self.usr else []

    def make(self) -> None:
        """Unpack them, which needs a download the first time."""
        if self.usr is None or self._root.exists():
            return
        partial = self._state.subfolder('libvirt', 'root.part')
        shutil.rmtree(partial)
        folder = self._state.subfolder('libvirt', 'download')
        self._apt('update', folder)
        self._apt('download', folder, *_PACKAGES)
        for package in folder.glob('*.deb'):
            subprocess.run(
                ['dpkg-deb', '--extract', package, partial], check=True)
        partial.rename(self._root)

    def _apt(self, command: str, folder: pathlib.Path, *names: str) -> None:
        """Run apt-get, for backports alone, beside the machine's own lists."""
        site = subprocess.run(
            ['apt-get', 'indextargets', '--format', '$(SITE)', 'Codename: '
             f'{_RELEASE}', 'Created-By: Packages'], check=True, text=True,
            capture_output=True).stdout.split()[0]
        sources = self._state.write(
            'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] '
            f'{site} {_RELEASE}-backports main\n', 'libvirt', 'sources.list')
        lists, cache = (self._state.subfolder('libvirt', name)
                        for name in ('lists', 'cache'))
        subprocess.run(
            ['apt-get', '--quiet', *(f'-oDir::{option}' for option in (
                f'Etc::SourceList={sources}', 'Etc::SourceParts=-',
                f'State::Lists={lists}', f'Cache={cache}')), command, *names],
            check=True, cwd=folder, capture_output=True)
