"""Firmware, machine type, boot order and kernel."""

from nova_image_override.properties.book.vocabulary import (
    Excludes, LIBVIRT, PC, Q35, Record, records, unread, VIRT, VMWARE, WORD)

RECORDS = records(
    Record(
        'hw_boot_menu', 'Show the firmware\'s boot device menu.'),
    Record(
        'hw_firmware_type', 'Firmware the guest boots with: BIOS or UEFI.',
        excludes=(
            # libvirt, qemuValidateDomainDefFeatures
            Excludes(
                'hw_architecture', ('aarch64',), 'ACPI requires UEFI on this '
                'architecture', 'set hw_firmware_type=uefi', of=('bios',)),),
        readers=(LIBVIRT, VMWARE)),
    unread(
        'hw_ipxe_boot', 'Boot from the network with an iPXE CD image.'),
    Record(
        'hw_machine_type',
        'QEMU machine type, such as q35 or pc-i440fx-7.2; it must exist on '
        'the host.', limits=WORD,
        # Host._check_machine_type
        excludes=(
            Excludes(
                'hw_architecture', ('*',), 'only x86 has this machine type',
                'choose a machine type of the architecture, such as virt for '
                'aarch64', of=(*PC, *Q35), but=('i686', 'x86_64')),
            Excludes(
                'hw_architecture', ('i686', 'x86_64'),
                'x86 does not have this machine type',
                'set hw_machine_type=q35 or pc', of=VIRT))),
    Record(
        'os_command_line',
        'Kernel arguments (command line).',
        needs='an image with a kernel image (kernel_id)',
        # _handle_kernel_and_ramdisk and LibvirtDriver._conf_non_lxc
        gets=lambda guest: guest.only('os_command_line', guest.properties.get(
            'kernel_id') not in (None, '', 'nokernel'))),
)
