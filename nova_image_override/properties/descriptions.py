"""What the running Nova cannot tell about its image properties.

Nova's ``ImageMetaProps`` gives each property's name, type and allowed values.
Descriptions, units, ranges and the grammar of its free-form strings stand
here, once; the validator, the JSON Schema, discovery and the documentation
all read them through :mod:`nova_image_override.properties.catalog`.
"""

import dataclasses

from nova_image_override.properties import cpu_lists

_ID = r'(?:0|[1-9][0-9]{0,3})'
_ITEM = rf'\^?{_ID}(?:-{_ID})?'
CPU_LIST = rf'^{_ITEM}(?:,{_ITEM})*$'


@dataclasses.dataclass(frozen=True)
class Row:
    """One property: what it does, and what limits its value.

    :ivar text: description, with the unit of the value
    :ivar minimum: smallest integer taken
    :ivar maximum: largest integer taken
    :ivar pattern: regular expression (ECMA 262 and Python) of the value
    :ivar expects: PATTERN in words, for the message of a refusal
    :ivar cpu_list: the value is a CPU list, to be bounded
    :ivar size: the value may be a size with a unit, which is stored in KiB
    """

    text: str
    minimum: int | None = None
    maximum: int | None = None
    pattern: str | None = None
    expects: str | None = None
    cpu_list: bool = False
    size: bool = False


#: Title of a group of properties -> regular expression of their fields, for
#: people who look for one by what it is for.
PURPOSES = {
    'Which host': 'hw_architecture|hw_vm_mode|img_hv_.*|traits_required',
    'CPUs': 'hw_cpu_.*|hw_maxphysaddr_.*|hw_emulation_architecture|hw_pmu'
            '|hw_time_hpet|img_hide_hypervisor_id',
    'NUMA and memory': 'hw_numa_.*|hw_mem_page_size|hw_locked_memory'
                       '|hw_pci_numa_affinity_policy',
    'Encryption and trust': 'hw_(mem|ephemeral)_encryption.*|hw_tpm_.*'
                            '|hw_firmware_stateless|os_secure_boot'
                            '|img_signature.*',
    'Firmware and boot': 'hw_firmware_type|hw_machine_type|hw_boot_menu'
                         '|hw_ipxe_boot|os_command_line',
    'Disks': 'hw_(disk|cdrom|floppy|scsi|rescue)_.*|hw_auto_disk_config'
             '|img_linked_clone|img_config_drive',
    'Network': 'hw_vif_.*|hw_virtio_packed_ring|hw_viommu_model',
    'Screen, keyboard, sound': 'hw_(video|input|pointer|sound)_.*',
    'Other devices': 'hw_(rng|watchdog|serial|usb|redirected|device)_.*',
    'Guest and its agents': 'os_(?!secure_boot|command_line).*'
                            '|hw_qemu_guest_agent|img_use_agent',
    'The image itself': 'img_(bdm_v2|bittorrent|block_device_mapping'
                        '|cache_in_nova|compression_level|mappings|owner_id'
                        '|root_device_name|version)',
}


def _count(text: str, maximum: int, minimum: int = 1) -> Row:
    return Row(text, minimum, maximum)


def _cpus(text: str) -> Row:
    return Row(text, pattern=CPU_LIST, cpu_list=True,
               expects='a CPU list such as 0-3,^2,5, without blanks, of ids '
                       f'up to {cpu_lists.CPU_ID_MAX}')


def _word(text: str) -> Row:
    return Row(text, pattern=r'^[A-Za-z0-9][A-Za-z0-9._-]*$',
               expects='letters, digits, ".", "_" and "-"')


# Limits of the CPU topology: nova/virt/hardware.py get_cpu_topology_constraints
# caps sockets, cores and threads at 65536.
_TOPOLOGY = 65536
_KERNEL = 'Needs an image that has a kernel image (kernel_id).'
_UNREAD = ('No driver of Nova reads it; only the scheduler can compare it with '
           'host aggregates.')
_VMWARE = 'Acts with VMware only.'

ROWS: dict[str, Row] = {
    'hw_architecture': Row(
        'CPU architecture the guest needs; the scheduler picks hosts by it.'),
    'hw_auto_disk_config': Row(
        'Whether the root partition and file system are resized to the '
        'flavor\'s disk; "disabled" forbids the server to ask for it.',
        pattern='^(true|false|disabled)$',
        expects='one of true, false, disabled'),
    'hw_boot_menu': Row('Show the firmware\'s boot device menu.'),
    'hw_cdrom_bus': Row(
        'Bus that CD-ROM drives are attached to. Config drives are such '
        'drives where the host makes them so.'),
    'hw_cpu_cores': _count(
        'CPU cores per socket, in a topology that makes the flavor\'s vCPUs.',
        _TOPOLOGY),
    'hw_cpu_max_cores': _count('Most CPU cores per socket.', _TOPOLOGY),
    'hw_cpu_max_sockets': _count('Most CPU sockets.', _TOPOLOGY),
    'hw_cpu_max_threads': _count('Most CPU threads per core.', _TOPOLOGY),
    'hw_cpu_policy': Row(
        'Whether vCPUs float over shared host CPUs, are pinned to dedicated '
        'ones, or a mix. A flavor\'s own policy may forbid it.'),
    'hw_cpu_realtime_mask': _cpus(
        'vCPUs that run with realtime priority, or with a leading ^ those '
        'that do not. Needs a flavor with hw:cpu_realtime=yes.'),
    'hw_cpu_sockets': _count(
        'CPU sockets, in a topology that makes the flavor\'s vCPUs.',
        _TOPOLOGY),
    'hw_cpu_thread_policy': Row(
        'How pinned vCPUs use the host\'s hardware threads. Needs a dedicated '
        'or mixed CPU policy.'),
    'hw_cpu_threads': _count(
        'CPU threads per core, in a topology that makes the flavor\'s vCPUs. '
        'VMware has none.', _TOPOLOGY),
    'hw_device_id': _count(
        'Guest ABI version of the Xen PV tools. ' + _UNREAD, 65535),
    'hw_disk_bus': Row(
        'Bus that disks are attached to, unless the request names one for a '
        'disk. VMware knows ide and scsi.'),
    'hw_disk_type': _word(
        'Disk format, such as preallocated, sparse, streamOptimized. '
        + _VMWARE),
    'hw_emulation_architecture': Row(
        'CPU architecture to emulate on a host of another one.'),
    'hw_ephemeral_encryption': Row(
        'Encrypt the local disks, where the server has any.'),
    'hw_ephemeral_encryption_format': Row(
        'Format in which local disks are encrypted. Needs '
        'hw_ephemeral_encryption.'),
    'hw_ephemeral_encryption_secret_uuid': Row(
        'Key manager\'s id of the passphrase that the image is encrypted '
        'with.'),
    'hw_firmware_stateless': Row(
        'Use firmware without persistent variables. Needs '
        'hw_firmware_type=uefi.'),
    'hw_firmware_type': Row('Firmware the guest boots with.'),
    'hw_floppy_bus': Row(
        'Bus that floppy drives are attached to, which only a rescue makes.'),
    'hw_input_bus': Row('Bus of the pointer and keyboard devices.'),
    'hw_ipxe_boot': Row(
        'Boot from the network with an iPXE CD image. ' + _UNREAD),
    'hw_locked_memory': Row(
        'Keep guest memory from being swapped out. Needs '
        'a memory page size in the flavor or hw_mem_page_size.'),
    'hw_machine_type': _word(
        'QEMU machine type, such as q35 or pc-i440fx-7.2; it must exist on '
        'the host.'),
    'hw_maxphysaddr_bits': _count(
        'Physical address bits of the guest\'s CPUs; at most what the host '
        'has. ImagePropertiesFilter of Nova 31 to 34 fails where it comes with '
        'hw_architecture, img_hv_type or hw_vm_mode.',
        64, 32),
    'hw_maxphysaddr_mode': Row(
        'Whether the physical address width is passed through or emulated.'),
    'hw_mem_encryption': Row(
        'Encrypt guest memory. Needs hw_firmware_type=uefi and a capable '
        'host.'),
    'hw_mem_encryption_model': Row(
        'Technology that encrypts guest memory. Needs hw_mem_encryption.'),
    'hw_mem_page_size': Row(
        'Memory page size: small, large, any, or a size in KiB (2MB is taken '
        'as 2048). '
        'Allowed only with a flavor whose hw:mem_page_size is any or large.',
        pattern='^(small|large|any|[1-9][0-9]{0,8})$', size=True,
        expects='small, large, any, a number of KiB, or a number with KB, MB '
                'or GB'),
    'hw_numa_cpus': _cpus(
        'vCPUs of guest NUMA node N. Needs hw_numa_nodes, and memory for each '
        'node.'),
    'hw_numa_mem': _count(
        'Memory of guest NUMA node N, in MiB. Needs hw_numa_nodes, and vCPUs '
        'for each node.', 2**31 - 1),
    'hw_numa_nodes': _count('Number of guest NUMA nodes.', 128),
    'hw_pci_numa_affinity_policy': Row(
        'How closely PCI devices and NUMA nodes must lie together. Acts on '
        'devices that the flavor or a port asks for.'),
    'hw_pmu': Row('Give the guest a virtual performance monitoring unit.'),
    'hw_pointer_model': Row(
        'Model of the pointer device. hw_input_bus, where it is set, decides '
        'in its place.'),
    'hw_qemu_guest_agent': Row(
        'Add the channel that the QEMU guest agent talks through.'),
    # nova/virt/hardware.py get_redirected_usb_ports
    'hw_redirected_usb_ports': _count('USB redirection ports.', 15, 0),
    'hw_rescue_bus': Row('Bus of the rescue device.'),
    'hw_rescue_device': Row('Type of the rescue device.'),
    'hw_rng_model': Row(
        'Model of the random number generator. Flavors can forbid it with '
        'hw_rng:allowed.'),
    'hw_scsi_model': Row(
        'Model of the SCSI controller. libvirt\'s guests have the controller '
        'whatever bus their disks are on; VMware reads it with '
        'hw_disk_bus=scsi.'),
    # nova/virt/libvirt/driver.py QEMU_MAX_SERIAL_PORTS
    'hw_serial_port_count': _count(
        'Serial ports; at most the flavor\'s hw:serial_port_count. Acts where '
        'hosts have serial consoles.', 4, 0),
    'hw_sound_model': Row('Model of the sound device.'),
    'hw_time_hpet': Row(
        'Give the guest a high precision event timer. x86 with KVM only.'),
    'hw_tpm_model': Row('Model of the emulated TPM. Needs hw_tpm_version.'),
    'hw_tpm_version': Row('Version of the emulated TPM.'),
    'hw_usb_model': Row(
        'Model of the USB controller. Libvirt chooses it where a disk or an '
        'input device is on the USB bus, and on PPC.'),
    'hw_video_model': Row('Model of the video adapter.'),
    # libvirt takes the size in KiB as an unsigned int.
    'hw_video_ram': _count(
        'Video memory, in MiB; at most the flavor\'s hw_video:ram_max_mb, '
        'which is 0 when unset. Needs another hw_video_model than none, and '
        'a host with graphical consoles.', (2**32 - 1) // 1024),
    'hw_vif_model': Row('Model of the network interfaces.'),
    'hw_vif_multiqueue_enabled': Row(
        'Give each network interface one queue per vCPU, of which it needs '
        'two. Acts on virtio interfaces whose network can do it.'),
    'hw_viommu_model': Row('Model of the virtual IOMMU.'),
    'hw_virtio_packed_ring': Row('Use the packed layout of virtio rings.'),
    'hw_vm_mode': Row('Guest ABI; the scheduler picks hosts by it.'),
    'hw_watchdog_action': Row(
        'What the watchdog device does when the guest stops feeding it.'),
    'img_bdm_v2': Row('Format of the image\'s block device mapping.'),
    'img_bittorrent': Row('Fetch the image by BitTorrent. ' + _UNREAD),
    'img_block_device_mapping': Row('The image\'s own block devices.'),
    'img_cache_in_nova': Row(
        'Keep the image in the host\'s image cache. ' + _UNREAD),
    'img_compression_level': _count(
        'Compression level of snapshots. ' + _UNREAD, 9),
    'img_config_drive': Row('Whether the guest must have a config drive.'),
    'img_hide_hypervisor_id': Row(
        'Hide from the guest that it runs under KVM.'),
    'img_hv_requested_version': Row(
        'Hypervisor versions the guest needs, such as >=6.0,<8.0.',
        expects='comparisons with a version, such as >=6.0,<8.0'),
    'img_hv_type': Row(
        'Hypervisor the guest needs; the scheduler picks hosts by it.'),
    'img_linked_clone': Row(
        'Clone the image\'s disk instead of copying it. ' + _VMWARE),
    'img_mappings': Row('The image\'s own device names.'),
    'img_owner_id': Row('Project that uploaded the image.'),
    'img_root_device_name': Row('Device name of the image\'s root disk.'),
    'img_signature': Row('Signature of the image.'),
    'img_signature_certificate_uuid': Row(
        'Certificate that checks the image\'s signature.'),
    'img_signature_hash_method': Row('Hash of the image\'s signature.'),
    'img_signature_key_type': Row('Key type of the image\'s signature.'),
    'img_use_agent': Row('Talk to an agent inside the guest. ' + _UNREAD),
    'img_version': _count('VMware image version. ' + _UNREAD, 65535),
    'os_admin_user': Row(
        'Name of the guest\'s administrator account, whose password libvirt '
        'sets on request. KVM and QEMU need hw_qemu_guest_agent for that.'),
    'os_command_line': Row('Kernel command line. ' + _KERNEL),
    'os_distro': Row('Distribution of the guest\'s operating system.'),
    'os_require_quiesce': Row(
        'Refuse snapshots when the guest\'s file systems cannot be frozen.'),
    'os_secure_boot': Row(
        'Whether UEFI Secure Boot is used. Needs hw_firmware_type=uefi, which '
        'is the default with hw_architecture=aarch64 only.'),
    'os_skip_agent_inject_files_at_boot': Row(
        'Do not inject files through an agent at boot. ' + _UNREAD),
    'os_skip_agent_inject_ssh': Row(
        'Do not inject an SSH key through an agent. ' + _UNREAD),
    'os_type': Row('Family of the guest\'s operating system.'),
    'traits_required': Row(
        'Trait that the host must have; the scheduler picks hosts by it.'),
}
