"""The guest: Debian's kernel, and an initial file system that reports on it.
"""

import lzma
import os
import pathlib
import shutil
import struct
import subprocess

from testing.deployment import packages
from testing.deployment import state as state_module

#: The kernel for all machines: that for clouds has no driver for much that
#: overrides give a guest.
_KERNEL = 'linux-image-amd64'

#: That for clouds, which Debian's images for OpenStack have.
CLOUD_KERNEL = 'linux-image-cloud-amd64'

#: Drivers for what overrides give a guest, which loads those that its devices
#: need; the kernel has the rest built in.
_MODULES = (
    # What disks are attached to.
    'virtio_pci', 'virtio_blk', 'virtio_scsi', 'ata_piix', 'ahci', 'floppy',
    'sym53c8xx', 'mptsas', 'mptspi', 'megaraid_sas', 'vmw_pvscsi', 'uhci-hcd',
    'ehci-pci', 'xhci-pci', 'usb-storage', 'sd_mod', 'sr_mod', 'isofs',
    # Network interfaces.
    'virtio_net', 'e1000', 'e1000e', 'igb', '8139cp', 'ne2k-pci', 'pcnet32',
    'vmxnet3',
    # What a guest talks with its host through.
    'virtio_console', 'efivarfs')

#: Size of the disk, in bytes.
DISK = 1 << 20


class Guest:
    """The files that images are made of.

    :param name: of the folder that they are in
    :param package: Debian's name for the kernel
    :ivar kernel: the Linux kernel
    :ivar unpacked: the same for guests without UEFI: QEMU starts it where Xen
        would (PVH), and an emulated CPU, which takes two seconds for that, has
        nothing to unpack. Like that it finds no TPM
    :ivar initrd: the initial file system
    :ivar disk: an empty disk
    """

    def __init__(
        self, state: state_module.State, name: str = 'guest',
        package: str = _KERNEL,
    ) -> None:
        self._folder = state.subfolder(name)
        self._name = package
        self.kernel = self._folder / 'kernel'
        self.unpacked = self._folder / 'vmlinux'
        self.initrd = self._folder / 'initrd'
        self.disk = self._folder / 'disk'

    def make(self) -> None:
        """Make the files, which needs a download the first time."""
        package = self._package()
        self.kernel.write_bytes(
            next((package / 'boot').glob('vmlinuz-*')).read_bytes())
        self.unpacked.write_bytes(_unpack(self.kernel.read_bytes()))
        self.initrd.write_bytes(self._pack(package))
        self.disk.write_bytes(bytes(DISK))

    def _package(self) -> pathlib.Path:
        """Return Debian's kernel package, unpacked."""
        target = self._folder / 'package'
        depends = subprocess.run(
            ['apt-cache', 'depends', self._name], check=True,
            capture_output=True, text=True).stdout
        packages.unpack(
            [depends.partition('Depends: ')[2].split()[0]], target)
        # Newer packages have no /lib.
        if not (target / 'lib').exists():
            (target / 'lib').symlink_to('usr/lib')
        modules, = (target / 'lib' / 'modules').iterdir()
        if not (modules / 'modules.dep').exists():
            subprocess.run(
                ['depmod', '--basedir', target, modules.name], check=True)
        return target

    def _pack(self, package: pathlib.Path) -> bytes:
        """Return the initial file system."""
        root = self._folder / 'root'
        shutil.rmtree(root, ignore_errors=True)
        for name in ('bin', 'dev', 'proc', 'sys', 'mnt'):
            (root / name).mkdir(parents=True)
        # Where the kernel looks for modprobe.
        (root / 'sbin').symlink_to('bin')
        shutil.copy('/bin/busybox', root / 'bin' / 'busybox')
        shutil.copy(pathlib.Path(__file__).parent / 'init.sh', root / 'init')
        (root / 'init').chmod(0o755)
        modules, = (package / 'lib' / 'modules').iterdir()
        for module in _needed(modules):
            content = (modules / module).read_bytes()
            name = module.removesuffix('.xz')
            target = root / 'lib' / 'modules' / modules.name / name
            target.parent.mkdir(parents=True, exist_ok=True)
            # The guest's modprobe reads none that are compressed.
            target.write_bytes(
                content if name == module else lzma.decompress(content))
        subprocess.run(['depmod', '--basedir', root, modules.name],
                       check=True, capture_output=True)
        paths = sorted(root.rglob('*'))
        # The same each time: for another one, images are made anew.
        for path in paths:
            os.utime(path, (0, 0), follow_symlinks=False)
        # Not compressed, which an emulated CPU would have to undo.
        return subprocess.run(
            ['busybox', 'cpio', '-o', '-H', 'newc', '--renumber-inodes',
             '--ignore-devno'], cwd=root, check=True, capture_output=True,
            input=''.join(f'{path.relative_to(root)}\n' for path in paths
                          ).encode()).stdout


def _unpack(kernel: bytes) -> bytes:
    """Return what xz has packed, at an offset that a header tells.

    Debian 13's is packed with zstd, which takes little: it stays as it is.
    Offsets are those of "The Linux/x86 Boot Protocol".
    """
    sectors, = struct.unpack_from('B', kernel, 0x1f1)
    offset, length = struct.unpack_from('<II', kernel, 0x248)
    start = (sectors + 1) * 512 + offset
    packed = kernel[start:start + length]
    if not packed.startswith(b'\xfd7zXZ\0'):
        return kernel
    # The unpacked size follows, which is none of xz.
    return lzma.LZMADecompressor().decompress(packed)


def _needed(folder: pathlib.Path) -> set[str]:
    """Return the modules that there are, and what they need (modules.dep(5)).
    """
    # What a kernel has built in needs nothing.
    needs: dict[str, set[str]] = {path: set() for path in (
        folder / 'modules.builtin').read_text().splitlines()}
    for line in (folder / 'modules.dep').read_text().splitlines():
        path, _, needed = line.partition(':')
        needs[path] = {path, *needed.split()}
    paths = {pathlib.Path(path).name.partition('.')[0].replace('-', '_'): path
             for path in needs}
    return set().union(*(
        needs[paths[name]] for name in (
            each.replace('-', '_') for each in _MODULES) if name in paths))
