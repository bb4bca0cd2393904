"""Firmware, machine type, boot order and kernel."""

from typing import Any

from nova_image_override.properties.book.vocabulary import (
    LIBVIRT, Record, records, UNREAD, VMWARE, WORD)


def _command_line(guest: Any) -> Any:
    """Follow _handle_kernel_and_ramdisk and LibvirtDriver._conf_non_lxc."""
    return guest.only('os_command_line', guest.properties.get(
        'kernel_id') not in (None, '', 'nokernel'))


RECORDS = records(
    Record(
        'hw_boot_menu', 'Show the firmware\'s boot device menu.',
        readers=(LIBVIRT,)),
    Record(
        'hw_firmware_type', 'Firmware the guest boots with: BIOS or UEFI.',
        readers=(LIBVIRT, VMWARE)),
    Record(
        'hw_ipxe_boot',
        'Boot from the network with an iPXE CD image. ' + UNREAD),
    Record(
        'hw_machine_type',
        'QEMU machine type, such as q35 or pc-i440fx-7.2; it must exist on '
        'the host.', limits=WORD, readers=(LIBVIRT,)),
    Record(
        'os_command_line',
        'Kernel arguments (command line).',
        needs='an image with a kernel image (kernel_id)',
        gets=_command_line,
        readers=(LIBVIRT,)),
)
