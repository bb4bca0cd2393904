"""For each property, the circumstances in which it acts.

The flavor, image and other overrides that it needs, on the host of
:class:`tests.proof.built.Cloud`. Properties that no domain XML shows are
listed, and so is each value that this host cannot build.
"""

import collections.abc
import dataclasses

from nova_image_override import errors
from testing import release

Properties = collections.abc.Mapping[str, str]

#: Memory of every flavor, in MiB.
MEMORY = 256


@dataclasses.dataclass(frozen=True)
class Scenario:
    """What else a property needs to act at all.

    :ivar image: other properties of the image
    :ivar specs: extra specs of the flavor, with "__" for ":"
    :ivar vcpus: of the flavor
    :ivar has_kernel: whether the image has a kernel image
    :ivar networks: what the request says about networks
    :ivar along: overrides that go with this one
    :ivar instead_of: value -> the image's own value, if a guest of a plain
        image has the former anyway
    """

    image: Properties = dataclasses.field(default_factory=dict)
    specs: Properties = dataclasses.field(default_factory=dict)
    vcpus: int = 2
    has_kernel: bool = False
    networks: str = 'none'
    along: Properties = dataclasses.field(default_factory=dict)
    instead_of: Properties = dataclasses.field(default_factory=dict)


_ALONE = Scenario()
_OFF = {'false': 'true'}
# Nova makes no USB controller for what these give a guest.
_USB = {'hw_usb_model': 'qemu-xhci'}
_UEFI = {'hw_firmware_type': 'uefi', 'hw_machine_type': 'q35'}
_TWO_NODES = {'hw_numa_nodes': '2', 'hw_numa_mem.0': '128',
              'hw_numa_mem.1': '128'}
_THREE_CPUS = {**_TWO_NODES, 'hw_numa_cpus.0': '2', 'hw_numa_cpus.1': '0-1'}
_TWO_CPUS = {**_TWO_NODES, 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1'}

#: By property, or by property and value.
SCENARIOS: collections.abc.Mapping[str, Scenario] = {
    'hw_architecture': Scenario(instead_of={'x86_64': 'i686'}),
    'hw_boot_menu': Scenario(instead_of=_OFF),
    'hw_cdrom_bus': Scenario({'img_config_drive': 'mandatory'},
                             instead_of={'ide': 'sata'}),
    'hw_cpu_cores': Scenario(instead_of={'1': '2'}),
    # The flavor has a preference, which the image's limit excludes.
    'hw_cpu_max_cores': Scenario(specs={'hw__cpu_cores': '2'},
                                 instead_of={'2': '1', '65536': '1'}),
    'hw_cpu_max_sockets': Scenario(instead_of={'2': '1', '65536': '1'}),
    'hw_cpu_max_threads': Scenario(specs={'hw__cpu_threads': '2'},
                                   instead_of={'2': '1', '65536': '1'}),
    'hw_cpu_policy': Scenario(instead_of={'shared': 'dedicated'}),
    'hw_cpu_policy=mixed': Scenario(specs={'hw__cpu_dedicated_mask': '^0'}),
    'hw_cpu_realtime_mask': Scenario(
        specs={'hw__cpu_realtime': 'yes', 'hw__cpu_realtime_mask': '^0',
               'hw__cpu_policy': 'dedicated'},
        instead_of={'^0': '^1', '^0,1': '^1'}),
    'hw_cpu_sockets': Scenario(instead_of={'2': '1'}),
    'hw_cpu_thread_policy': Scenario({'hw_cpu_policy': 'dedicated'}),
    'hw_cpu_threads': Scenario(instead_of={'1': '2'}),
    'hw_disk_bus': Scenario(instead_of={'virtio': 'scsi'}),
    'hw_ephemeral_encryption_format': Scenario(
        {'hw_ephemeral_encryption': 'true'}),
    'hw_floppy_bus': Scenario({'hw_rescue_device': 'floppy'}),
    'hw_firmware_stateless': Scenario(_UEFI, instead_of=_OFF),
    'hw_firmware_type': Scenario({'hw_machine_type': 'q35'},
                                 instead_of={'bios': 'uefi'}),
    'hw_locked_memory': Scenario(
        {'hw_mem_page_size': 'small'}, {'hw__mem_page_size': 'any'},
        instead_of=_OFF),
    'hw_machine_type': Scenario(instead_of={'pc': 'q35'}),
    'hw_maxphysaddr_bits': Scenario(
        {'hw_maxphysaddr_mode': 'emulate', 'hw_maxphysaddr_bits': '40'}),
    'hw_mem_encryption': Scenario(_UEFI, instead_of=_OFF),
    'hw_mem_encryption_model': Scenario(
        {**_UEFI, 'hw_mem_encryption': 'true'},
        instead_of={'amd-sev': 'amd-sev-es'}),
    'hw_mem_page_size': Scenario(
        specs={'hw__mem_page_size': 'any'}, instead_of=dict.fromkeys(
            ('large', 'any', '2048', '2MB'), 'small')),
    'hw_numa_cpus=0': Scenario(
        _THREE_CPUS, vcpus=3, along={'hw_numa_cpus.1': '1-2'}),
    'hw_numa_cpus=0-1': Scenario(
        _THREE_CPUS, vcpus=3, along={'hw_numa_cpus.1': '2'}),
    'hw_numa_cpus=0,1': Scenario(
        _THREE_CPUS, vcpus=3, along={'hw_numa_cpus.1': '2'}),
    'hw_numa_mem=1': Scenario(_TWO_CPUS, along={'hw_numa_mem.1': '255'}),
    'hw_numa_mem=2': Scenario(_TWO_CPUS, along={'hw_numa_mem.1': '254'}),
    'hw_numa_mem': Scenario(_TWO_CPUS),
    'hw_qemu_guest_agent': Scenario(instead_of=_OFF),
    'hw_redirected_usb_ports': Scenario(_USB, instead_of={'0': '1'}),
    'hw_scsi_model': Scenario({'hw_disk_bus': 'scsi'}),
    'hw_sound_model=usb': Scenario(_USB),
    'hw_serial_port_count': Scenario(specs={'hw__serial_port_count': '3'},
                                     instead_of={'3': '1'}),
    'hw_time_hpet': Scenario(instead_of=_OFF),
    'hw_tpm_model': Scenario({'hw_tpm_version': '2.0'},
                             instead_of={'tpm-tis': 'tpm-crb'}),
    'hw_usb_model': Scenario({'hw_input_bus': 'virtio'},
                             instead_of={'none': 'qemu-xhci'}),
    'hw_video_model': Scenario(instead_of={'virtio': 'vga'}),
    'hw_video_ram': Scenario({'hw_video_model': 'vga'},
                             specs={'hw_video__ram_max_mb': '4194303'}),
    'hw_vif_model': Scenario(networks='auto', instead_of={'virtio': 'e1000'}),
    'hw_vif_multiqueue_enabled': Scenario(networks='auto', instead_of=_OFF),
    'hw_viommu_model': Scenario({'hw_machine_type': 'q35'}),
    'hw_virtio_packed_ring': Scenario(networks='auto', instead_of=_OFF),
    'hw_watchdog_action': Scenario(instead_of={'disabled': 'reset'}),
    'img_config_drive': Scenario(instead_of={'optional': 'mandatory'}),
    'img_hide_hypervisor_id': Scenario(instead_of=_OFF),
    'img_hv_requested_version': Scenario({'hw_vm_mode': 'hvm'}),
    'os_admin_user': Scenario({'hw_qemu_guest_agent': 'true'}),
    # Of a distribution that libosinfo knows it is another card.
    'os_distro': Scenario(networks='auto'),
    'os_command_line': Scenario(has_kernel=True),
    'os_require_quiesce': Scenario({'hw_qemu_guest_agent': 'true'}),
    'os_secure_boot': Scenario(_UEFI, instead_of={'disabled': 'required'}),
    'os_type': Scenario(instead_of={'linux': 'windows'}),
}


def scenario(field: str, value: str) -> Scenario:
    """Return what else FIELD needs when it has VALUE."""
    return SCENARIOS.get(f'{field}={value}', SCENARIOS.get(field, _ALONE))


#: Properties, and single values, that no domain XML of a new server shows.
UNSEEN = frozenset({
    # No code of Nova 31 to 34 reads them.
    'hw_device_id', 'hw_floppy_bus', 'hw_ipxe_boot', 'hw_rng_model',
    'img_bittorrent', 'img_cache_in_nova', 'img_compression_level',
    'img_use_agent', 'img_version', 'os_skip_agent_inject_files_at_boot',
    'os_skip_agent_inject_ssh',
    # Drivers of other hypervisors do.
    'hw_disk_type', 'img_linked_clone',
    # They decide which host the scheduler picks.
    'hw_vm_mode', 'img_hv_requested_version', 'img_hv_type',
    'traits_required',
    # Of this host, require and prefer choose the same CPUs, and isolate none.
    'hw_cpu_thread_policy',
    # They act when the server is rescued, its password is changed or a
    # snapshot of it is taken.
    'hw_rescue_bus', 'hw_rescue_device', 'os_admin_user',
    'os_require_quiesce',
    # They act on the file system of the disk, on PCI devices of the flavor,
    # where the host has libosinfo, and where it encrypts disks.
    'hw_auto_disk_config', 'hw_pci_numa_affinity_policy', 'os_distro',
    'hw_ephemeral_encryption', 'hw_ephemeral_encryption_format',
    # The host's own.
    'hw_emulation_architecture=x86_64',
})

# What Nova says about a server that its hosts cannot build.
_NO_CANDIDATE = 'ERROR: No valid host was found.'
_FILTERED = f'{_NO_CANDIDATE} There are not enough hosts available.'
_EXHAUSTED = ('ERROR: Exceeded maximum number of retries. Exhausted all hosts '
              'available for retrying build failures .')
_NO_DISK = ('ERROR: Build of instance  aborted: Failure prepping block '
            'device.')
_CONFLICT = f'400 {errors.FLAVOR_CONFLICT}'
_NOTHING = f'400 {errors.NO_EFFECT}'

#: Values that do not become a server: what a request for them is refused
#: with, or what the fault says if only the host can find out.
OUTCOMES: collections.abc.Mapping[str, dict[str, str]] = {
    'hw_architecture': {
        **dict.fromkeys(
            ('alpha', 'armv6', 'armv7b', 'cris', 'ia64', 'lm32', 'm68k',
             'microblaze', 'microblazeel', 'mips64', 'mips64el', 'openrisc',
             'parisc', 'parisc64', 'ppcle', 'ppc64', 'ppc64le', 'ppcemb',
             's390', 's390x', 'sh4', 'sh4eb', 'sparc64', 'unicore32', 'xtensa',
             'xtensaeb'), _FILTERED),
        **dict.fromkeys(('mips', 'mipsel', 'ppc', 'sparc'), _EXHAUSTED)},
    'hw_cdrom_bus': dict.fromkeys(('xen', 'lxc', 'uml'), _NO_DISK),
    'hw_cpu_cores': {'65536': _NOTHING},
    'hw_cpu_realtime_mask': {'0-1': _CONFLICT},
    'hw_cpu_sockets': {'65536': _NOTHING},
    'hw_cpu_thread_policy': {'isolate': _FILTERED},
    'hw_cpu_threads': {'65536': _NOTHING},
    'hw_disk_bus': dict.fromkeys(('xen', 'lxc', 'uml'), _NO_DISK),
    # Older releases set the machine type of x86, which newer ones leave out.
    **({'hw_emulation_architecture': {'aarch64': _EXHAUSTED}}
       if release.NUMBER < 33 else {}),
    'hw_ephemeral_encryption': {'true': _NO_CANDIDATE},
    'hw_ephemeral_encryption_format': dict.fromkeys(
        ('plain', 'luks', 'luksv2'), _NO_CANDIDATE),
    'hw_mem_encryption_model': dict.fromkeys(
        ('amd-sev-snp', 'intel-tdx'), _CONFLICT),
    'hw_numa_mem': {'2147483647': _CONFLICT},
    'hw_numa_nodes': {'128': _CONFLICT},
    'hw_vif_model': dict.fromkeys(
        ('netfront', 'lan9118', 'sriov', 'vmxnet'), _EXHAUSTED),
    'hw_vm_mode': dict.fromkeys(('xen', 'uml', 'exe'), _FILTERED),
    'img_hv_type': dict.fromkeys(
        ('baremetal', 'bhyve', 'docker', 'fake', 'hyperv', 'ironic',
         'kqemu', 'lxc', 'lxd', 'openvz', 'parallels', 'phyp', 'test',
         'uml', 'vbox', 'vz', 'vmware', 'xen', 'zvm', 'prsm'),
        _FILTERED),
}


def unseen(field: str, value: str) -> bool:
    """Return whether no guest shows that FIELD has VALUE."""
    return field in UNSEEN or f'{field}={value}' in UNSEEN


def outcome(field: str, value: str) -> str:
    """Return what is to become of a server whose FIELD has VALUE."""
    return OUTCOMES.get(field, {}).get(value, 'ACTIVE')
