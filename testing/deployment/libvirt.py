"""The libvirt of Debian 12's backports, for the compute hosts.

With Debian 12's own, 9.0, Nova 34 builds no guest with UEFI: "loader
attribute 'secure' cannot be specified when firmware autoselection is enabled".
QEMU is Debian 12's all the same. With ``CLOUD_LIBVIRT=own``, on other releases
of Debian, and where :mod:`.chroot` gives them another one's, hosts have none of
this.
"""

import os
import pathlib

from testing.deployment import chroot
from testing.deployment import packages
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
        options = self._backports()
        packages.apt('update', folder=self._root.parent, options=options)
        packages.unpack(_PACKAGES, self._root, options)

    def _backports(self) -> list[str]:
        """Return apt-get's options for backports, beside the machine's lists.
        """
        site = packages.mirror(f'Codename: {_RELEASE}')
        sources = self._state.write(
            'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] '
            f'{site} {_RELEASE}-backports main\n', 'libvirt', 'sources.list')
        lists, cache = (self._state.subfolder('libvirt', name)
                        for name in ('lists', 'cache'))
        return [f'-oDir::{option}' for option in (
            f'Etc::SourceList={sources}', 'Etc::SourceParts=-',
            f'State::Lists={lists}', f'Cache={cache}')]
