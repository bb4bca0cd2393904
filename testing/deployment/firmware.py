"""UEFI: OVMF on a compute host, and disks that it boots from."""

import json
import pathlib
import subprocess

from testing.deployment import guest as guest_module
from testing.deployment import packages
from testing.deployment import state as state_module

#: Debian's description of OVMF without Secure Boot (QEMU's
#: docs/interop/firmware.json).
_PLAIN = pathlib.Path('/usr/share/qemu/firmware/60-edk2-x86_64.json')

#: In 512 bytes; the whole disk is one FAT file system.
_SECTORS = 48 << 11

#: Where Debian's signed GRUB looks for its commands.
_COMMANDS = '::/EFI/debian/grub.cfg'


def describe_stateless(folder: pathlib.Path) -> None:
    """Tell libvirt that OVMF can do without variables that last.

    Debian describes no such firmware, and libvirt finds none without that.

    :param folder: where a host's libvirt looks
    """
    described = json.loads(_PLAIN.read_text())
    code = described['mapping']['executable']
    described['mapping'] = {
        'device': 'flash', 'mode': 'stateless', 'executable': code}
    (folder / '70-stateless.json').write_text(json.dumps(described))


def disk(state: state_module.State, *, signed: bool) -> pathlib.Path:
    """Return a disk with the guest, which UEFI boots; needs a download once.

    :param signed: whether Secure Boot lets it: its first boot loader is
        Debian's shim, which Microsoft has signed, and not GRUB
    """
    loaders = state.file('guest', 'boot-loaders')
    packages.unpack(('shim-signed', 'grub-efi-amd64-signed'), loaders)
    shim, grub = (loaders / 'usr' / 'lib' / each for each in (
        'shim/shimx64.efi.signed', 'grub/x86_64-efi-signed/grubx64.efi.signed'))
    commands = state.write(
        'linux /kernel\ninitrd /initrd\nboot\n', 'guest', 'grub.cfg')
    guest = guest_module.Guest(state)
    result = state.file('guest', 'signed' if signed else 'unsigned')
    result.unlink(missing_ok=True)
    _mtools('mformat', result, '-C', '-F', '-T', str(_SECTORS), '::')
    for folder in ('EFI', 'EFI/BOOT', 'EFI/debian'):
        _mtools('mmd', result, f'::/{folder}')
    for source, place in (
            (shim if signed else grub, '::/EFI/BOOT/BOOTX64.EFI'),
            (grub, '::/EFI/BOOT/grubx64.efi'), (commands, _COMMANDS),
            (guest.kernel, '::/kernel'), (guest.initrd, '::/initrd')):
        _mtools('mcopy', result, str(source), place)
    return result


def _mtools(command: str, image: pathlib.Path, *arguments: str) -> None:
    subprocess.run([command, '-i', image, *arguments], check=True)
