"""Guests that are started: two values that meet in one element of the XML.

Each runs, emulated, until its console shows the first words of its kernel, or
of its firmware where it has UEFI or is an Arm guest. The network of libvirt's
guests is one tap device, which nothing is behind.
"""
from __future__ import annotations

import collections.abc
import contextlib
import pathlib
import subprocess
import typing

import libvirt
from nova.network import model as network_model

from testing.deployment import guest
from testing.deployment import processes
from testing.pairs import guests
from testing.pairs import values

#: Seconds in which a guest says something, or never will.
_PATIENCE = 120

#: Nova's driver expects it to be there.
_TAP = 'tap0'

_SECRET = f'''
<secret ephemeral='yes' private='yes'>
  <uuid>{guests.SECRET}</uuid>
  <usage type='vtpm'><name>pairs</name></usage>
</secret>
'''

_SCSI = 'hw_disk_bus=scsi hw_scsi_model='
_CDROM = 'img_config_drive=mandatory hw_cdrom_bus='

#: Family -> a value, and those of another property that it meets. By element:
#: controllers and disks, interfaces, screens, what is on the USB bus, firmware,
#: TPM, CPUs and memory, and other devices.
_TOGETHER: collections.abc.Mapping[str, tuple[str, ...]] = {
    'pc': (
        'hw_machine_type=pc-i440fx-6.2 hw_disk_bus=ide,sata,scsi,usb',
        f'{_SCSI}virtio-scsi,lsilogic,lsisas1068,lsisas1078,vmpvscsi',
        f'{_CDROM}ide,sata,scsi,usb',
        'hw_disk_bus=ide hw_cdrom_bus=ide,sata,scsi',
        'hw_disk_bus=usb hw_cdrom_bus=usb',
        'hw_disk_bus=sata hw_cdrom_bus=sata',
        'hw_machine_type=pc-i440fx-6.2 '
        'hw_vif_model=virtio,ne2k_pci,pcnet,rtl8139,e1000,e1000e,vmxnet3',
        'hw_vif_model=virtio hw_virtio_packed_ring=true',
        'hw_video_ram=2 hw_video_model=vga,qxl,vmvga',
        'hw_usb_model=qemu-xhci hw_input_bus=virtio',
        'hw_firmware_type=uefi hw_boot_menu=true',
        'hw_cpu_sockets=2 hw_cpu_cores=2',
        'hw_cpu_cores=2 hw_cpu_threads=2',
        'hw_pmu=false img_hide_hypervisor_id=true',
        'hw_machine_type=pc-i440fx-6.2 hw_watchdog_action=reset,pause'),
    'q35': (
        'hw_machine_type=pc-q35-6.2 hw_disk_bus=sata,scsi,usb',
        f'{_SCSI}virtio-scsi,lsilogic,lsisas1068,lsisas1078,vmpvscsi',
        f'{_CDROM}sata,scsi,usb',
        'hw_disk_bus=sata hw_cdrom_bus=sata,scsi,usb',
        'hw_disk_bus=scsi hw_cdrom_bus=scsi',
        'hw_machine_type=pc-q35-6.2 '
        'hw_vif_model=virtio,e1000,e1000e,rtl8139,vmxnet3',
        'hw_vif_model=virtio hw_virtio_packed_ring=true',
        'hw_video_ram=2 hw_video_model=vga,qxl,vmvga',
        'hw_machine_type=pc-q35-6.2 hw_video_model=bochs,none',
        'hw_usb_model=qemu-xhci hw_input_bus=virtio',
        'hw_usb_model=nec-xhci hw_input_bus=virtio',
        'hw_usb_model=qemu-xhci hw_sound_model=usb',
        'hw_machine_type=pc-q35-6.2 hw_sound_model=ich6,ich9,ac97',
        'hw_firmware_type=uefi os_secure_boot=required,disabled',
        'hw_firmware_type=uefi hw_firmware_stateless=true',
        'hw_tpm_version=2.0 hw_tpm_model=tpm-tis,tpm-crb',
        'hw_tpm_version=1.2 hw_tpm_model=tpm-tis',
        'hw_cpu_cores=2 hw_cpu_threads=2',
        'hw_pmu=false img_hide_hypervisor_id=true',
        'hw_cpu_sockets=2 hw_numa_nodes=2',
        'hw_numa_nodes=2 hw_mem_page_size=small',
        'hw_numa_nodes=2 hw_cpu_policy=dedicated',
        'hw_cpu_policy=dedicated hw_cpu_thread_policy=require',
        'hw_locked_memory=true hw_mem_page_size=small',
        'hw_maxphysaddr_mode=emulate hw_maxphysaddr_bits=40',
        'hw_machine_type=pc-q35-6.2 hw_watchdog_action=poweroff,none',
        'hw_qemu_guest_agent=true hw_serial_port_count=2'),
    'virt': (
        f'{_SCSI}virtio-scsi,lsilogic,vmpvscsi',
        f'{_CDROM}scsi,usb,sata',
        'hw_vif_model=virtio hw_virtio_packed_ring=true',
        'hw_firmware_type=uefi hw_boot_menu=true',
        'hw_firmware_type=uefi hw_vif_model=e1000,e1000e,rtl8139',
        'hw_usb_model=qemu-xhci hw_input_bus=virtio',
        'hw_usb_model=qemu-xhci hw_sound_model=usb',
        'hw_tpm_version=2.0 hw_tpm_model=tpm-tis',
        'hw_cpu_sockets=2 hw_cpu_cores=2',
        'hw_cpu_sockets=2 hw_numa_nodes=2'),
}


def image(family: str) -> dict[str, str]:
    """Return what the image of a family has besides: a kernel for x86."""
    return {} if family == 'virt' else {
        'kernel_id': 'kernel',
        # So that it speaks as soon as it can.
        'os_command_line': 'console=ttyS0 earlyprintk=ttyS0'}


def pairs(family: str) -> list[tuple[values.Value, values.Value]]:
    """Return the pairs of a family that are started."""
    result = []
    for row in _TOGETHER[family]:
        (one, value), (other, alternatives) = (
            each.split('=') for each in row.split())
        result += [((one, value), (other, each))
                   for each in alternatives.split(',')]
    return result


class Bench(guests.Bench):
    """Starts what it defines, and ends it again."""

    _port = guests.port(network_model.VIF_TYPE_TAP)

    def __init__(
        self, uri: str, folder: pathlib.Path, kernels: guest.Guest,
    ) -> None:
        """Make the files of every guest, disks without content.

        :param folder: for the files
        :param kernels: the files of x86 guests
        """
        super().__init__(uri)
        self._folder = folder
        self._kernels = kernels
        if not kernels.disk.exists():
            kernels.make()
        folder.mkdir(exist_ok=True)
        for name, kind in ('disk', 'qcow2'), ('disk.config', 'raw'):
            subprocess.run(['qemu-img', 'create', '-q', '-f', kind,
                            folder / name, '1M'], check=True)
        self._connection.secretDefineXML(_SECRET).setValue(b'pairs')

    def _define(self, xml: str) -> str:
        kernel, console = self._folder / 'kernel', self._folder / 'console.log'
        for path in kernel, console:
            path.unlink(missing_ok=True)
        kernel.hardlink_to(self._kernels.kernel if 'firmware="efi"' in xml
                           else self._kernels.unpacked)
        try:
            domain = self._connection.defineXML(xml)
            with _tap(), _undefined(domain):
                domain.create()
                processes.wait_for(
                    lambda: _says(console) or not domain.isActive(),
                    'the guest', _PATIENCE, pause=0.2)
                state, _ = domain.state()
                if state != libvirt.VIR_DOMAIN_RUNNING:
                    return f'it is not running, but in state {state}'
        except (libvirt.libvirtError, processes.NotReady) as exc:
            return str(exc)
        return ''


def _says(console: pathlib.Path) -> bool:
    return console.exists() and bool(console.read_bytes().strip())


@contextlib.contextmanager
def _undefined(domain: typing.Any) -> collections.abc.Iterator[None]:
    """Leave nothing of a guest."""
    try:
        yield
    finally:
        if domain.isActive():
            domain.destroy()
        domain.undefineFlags(libvirt.VIR_DOMAIN_UNDEFINE_NVRAM
                             | libvirt.VIR_DOMAIN_UNDEFINE_TPM)


@contextlib.contextmanager
def _tap() -> collections.abc.Iterator[None]:
    """Have the device of a guest's port."""
    command = ['ip', 'tuntap', 'add', _TAP, 'mode', 'tap']
    subprocess.run(command, check=True)
    try:
        yield
    finally:
        command[2] = 'del'
        subprocess.run(command, check=True)
