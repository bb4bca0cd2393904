"""Overrides that do nothing, what makes them act, and those always accepted."""

import dataclasses

from testing import release
from testing.harness import base


@dataclasses.dataclass(frozen=True)
class Case:
    """An override that does nothing, and what makes it act.

    :ivar specs: extra specs of the flavor, with '__' for ':'
    :ivar image: properties of the image, with '__' for '.'
    :ivar need: what the reason says is missing
    :ivar acts: overrides that make it act
    :ivar acts_specs: extra specs that make it act
    :ivar acts_image: properties of the image that make it act
    :ivar vcpus: vCPUs of the flavor
    :ivar acts_vcpus: vCPUs of the flavor with which it acts
    :ivar boots: whether Nova's fake host can build the guest in which it acts
        and the one without it, and they differ
    """

    name: str
    value: str
    need: str
    specs: dict[str, str] = dataclasses.field(default_factory=dict)
    image: dict[str, str] = dataclasses.field(default_factory=dict)
    vcpus: int = 2
    acts: dict[str, str] = dataclasses.field(default_factory=dict)
    acts_specs: dict[str, str] = dataclasses.field(default_factory=dict)
    acts_image: dict[str, str] = dataclasses.field(default_factory=dict)
    acts_vcpus: int = 2
    boots: bool = True

    def __str__(self) -> str:
        return f'{self.name}={self.value}'

    @property
    def field(self) -> str:
        return self.name.partition('.')[0]


REALTIME = {'hw__cpu_policy': 'dedicated', 'hw__cpu_realtime': 'yes',
            'hw__cpu_realtime_mask': '^0'}

IDLE = (
    Case('hw_numa_cpus.0', '0-1', 'it needs hw_numa_nodes',
         acts={'hw_numa_nodes': '1', 'hw_numa_mem.0': '1024'}, boots=False),
    Case('hw_numa_mem.0', '1024', 'it needs hw_numa_nodes',
         acts={'hw_numa_nodes': '1', 'hw_numa_cpus.0': '0-1'}, boots=False),
    # To Nova, a flavor's page size or CPU policy makes one node.
    Case('hw_numa_mem.0', '1024', 'it needs hw_numa_nodes',
         acts={'hw_numa_cpus.0': '0-1'},
         acts_specs={'hw__mem_page_size': 'small'}, boots=False),
    Case('hw_cpu_realtime_mask', '0', 'hw:cpu_realtime=yes',
         acts_specs=REALTIME),
    Case('hw_cpu_realtime_mask', '0', 'hw:cpu_realtime=yes',
         specs={'hw__cpu_policy': 'dedicated'}, acts_specs=REALTIME),
    Case('hw_locked_memory', 'false', 'without hw:cpu_realtime',
         specs={**REALTIME, 'hw__mem_page_size': 'small'},
         acts_specs={'hw__mem_page_size': 'small'}, boots=False),
    Case('hw_cpu_sockets', '3', 'number of vCPUs', acts_vcpus=6),
    Case('hw_cpu_cores', '65536', 'number of vCPUs', acts_vcpus=0),
    Case('hw_cpu_threads', '2', 'number of vCPUs', vcpus=3),
    Case('hw_cpu_threads', '2', 'number of vCPUs',
         specs={'hw__cpu_max_threads': '2', 'hw__cpu_max_cores': '1',
                'hw__cpu_max_sockets': '3'}, vcpus=3, acts_vcpus=4),
    Case('hw_cpu_cores', '2', 'number of vCPUs',
         image={'hw_cpu_sockets': '2', 'hw_cpu_threads': '1'},
         acts={'hw_cpu_sockets': '1'},
         acts_image={'hw_cpu_sockets': '2', 'hw_cpu_threads': '1'},
         boots=False),
    Case('os_secure_boot', 'required', 'hw_firmware_type=uefi',
         acts={'hw_firmware_type': 'uefi'}, boots=False),
    Case('os_secure_boot', 'optional', 'hw_firmware_type=uefi',
         image={'hw_firmware_type': 'bios'},
         acts_image={'hw_architecture': 'aarch64'}, boots=False),
    Case('os_secure_boot', 'required', 'hw_firmware_type=uefi',
         image={'hw_firmware_type': 'bios', 'hw_architecture': 'aarch64'},
         acts={'hw_firmware_type': 'uefi'}, boots=False),
    Case('hw_tpm_model', 'tpm-crb', 'hw_tpm_version',
         acts={'hw_tpm_version': '2.0'}, boots=False),
    Case('hw_tpm_model', 'tpm-crb', 'hw_tpm_version',
         acts_specs={'hw__tpm_version': '2.0'}, boots=False),
    Case('hw_mem_encryption_model', 'amd-sev', 'hw_mem_encryption=true',
         acts={'hw_mem_encryption': 'true', 'hw_firmware_type': 'uefi',
               'hw_machine_type': 'q35'}, boots=False),
    # No libvirt host encrypts disks.
    Case('hw_ephemeral_encryption_format', 'luks', 'encrypts no disks',
         acts_vcpus=0),
    Case('hw_vif_multiqueue_enabled', 'true', 'at least 2 vCPUs', vcpus=1,
         boots=False),
    Case('hw_vif_multiqueue_enabled', 'true', 'hw_vif_model=virtio',
         image={'hw_vif_model': 'e1000'}, acts={'hw_vif_model': 'virtio'},
         boots=False),
    Case('hw_pointer_model', 'usbtablet', 'hw_input_bus=usb',
         image={'hw_input_bus': 'virtio'},
         acts={'hw_input_bus': 'usb'}, boots=False),
    Case('hw_maxphysaddr_bits', '42', 'hw_maxphysaddr_mode',
         acts={'hw_maxphysaddr_mode': 'emulate'}, boots=False),
    Case('hw_usb_model', 'qemu-xhci', 'another bus than usb',
         image={'hw_disk_bus': 'usb'}, acts={'hw_disk_bus': 'virtio'},
         boots=False),
    Case('hw_usb_model', 'qemu-xhci', 'hw_input_bus=virtio',
         image={'hw_input_bus': 'usb'}, acts={'hw_input_bus': 'virtio'}),
    Case('hw_usb_model', 'qemu-xhci', 'hw_input_bus=virtio',
         image={'hw_pointer_model': 'usbtablet'},
         acts={'hw_input_bus': 'virtio'}),
    Case('hw_usb_model', 'qemu-xhci', 'no PPC guest',
         image={'hw_architecture': 'ppc64le'},
         acts={'hw_architecture': 'x86_64'}, boots=False),
    Case('hw_time_hpet', 'true', 'x86',
         image={'hw_architecture': 'aarch64'},
         acts={'hw_architecture': 'x86_64'}),
    Case('hw_time_hpet', 'true', 'x86',
         image={'hw_emulation_architecture': 'ppc64le'},
         acts={'hw_emulation_architecture': 'x86_64'}),
    Case('os_command_line', 'quiet', 'kernel_id',
         acts_image={'kernel_id': base.IMAGE}),
    Case('os_command_line', 'quiet', 'kernel_id',
         image={'kernel_id': 'nokernel'},
         acts_image={'kernel_id': base.IMAGE}),
    Case('hw_video_ram', '16', 'hw_video_model=vga, qxl, vmvga or bochs',
         specs={'hw_video__ram_max_mb': '64'},
         image={'hw_video_model': 'virtio'},
         acts={'hw_video_model': 'vga'},
         acts_specs={'hw_video__ram_max_mb': '64'}),
    Case('hw_video_ram', '16', 'hw_video_model=vga, qxl, vmvga or bochs',
         specs={'hw_video__ram_max_mb': '64'},
         image={'hw_video_model': 'none', 'img_hv_type': 'vmware'},
         acts={'hw_video_model': 'qxl'},
         acts_specs={'hw_video__ram_max_mb': '64'}, boots=False),
    # The default is virtio, but vga for PPC.
    Case('hw_video_ram', '16', 'hw_video_model=vga, qxl, vmvga or bochs',
         specs={'hw_video__ram_max_mb': '64'},
         acts={'hw_video_model': 'bochs'},
         acts_specs={'hw_video__ram_max_mb': '64'}),
    Case('hw_video_ram', '16', 'hw_video_model=vga, qxl, vmvga or bochs',
         specs={'hw_video__ram_max_mb': '64'},
         image={'hw_architecture': 'aarch64'},
         acts_image={'hw_emulation_architecture': 'ppc64le'},
         acts_specs={'hw_video__ram_max_mb': '64'}, boots=False),
    Case('img_hv_requested_version', '>=1.0',
         'hw_architecture, img_hv_type or hw_vm_mode',
         acts={'img_hv_type': 'kvm'}, boots=False),
    Case('img_hv_requested_version', '>=1.0', 'img_hv_type or hw_vm_mode',
         acts={'hw_vm_mode': 'hvm'}, boots=False),
    Case('img_hv_requested_version', '>=1.0', 'img_hv_type or hw_vm_mode',
         image={'hw_emulation_architecture': 'x86_64'},
         acts_image={'architecture': 'x86_64'}, boots=False),
)

#: A case that some releases refuse themselves: 31 to 33 do, 34 ignores it.
STATELESS = Case('hw_firmware_stateless', 'true', 'hw_firmware_type=uefi',
                 acts={'hw_firmware_type': 'uefi'}, boots=False)

#: Overrides whose requested state holds anyway: overrides, flavor, image.
HELD = (
    # The image's own value, which Nova ignores as it always has.
    ({'os_command_line': 'quiet'}, {}, {'os_command_line': 'quiet'}),
    ({'hw_numa_cpus.0': '0-1'}, {}, {'hw_numa_cpus__0': '0-1'}),
    ({'os_secure_boot': 'required'}, {}, {'os_secure_boot': 'required'}),
    ({'hw_vif_multiqueue_enabled': 'true'}, {'vcpus': 1},
     {'hw_vif_multiqueue_enabled': 'YES'}),
    ({'hw_cpu_policy': 'shared'}, {'hw__cpu_policy': 'dedicated'},
     {'hw_cpu_policy': 'shared'}),
    # The default.
    ({'hw_cpu_policy': 'shared'}, {}, {}),
    ({'os_secure_boot': 'disabled'}, {}, {}),
    ({'hw_boot_menu': 'false'}, {}, {}),
    ({'hw_firmware_stateless': 'false'}, {}, {}),
    ({'hw_locked_memory': 'false'}, {}, {}),
    ({'hw_vif_multiqueue_enabled': 'false'}, {'vcpus': 1}, {}),
    ({'hw_time_hpet': 'false'}, {}, {'hw_architecture': 'aarch64'}),
    ({'img_hide_hypervisor_id': 'false'}, {}, {}),
    ({'hw_serial_port_count': '1'}, {}, {}),
    ({'hw_rng_model': 'virtio'}, {}, {}),
    ({'hw_pointer_model': 'usbtablet'}, {}, {'hw_input_bus': 'usb'}),
    ({'hw_cpu_sockets': '2'}, {}, {}),
    ({'hw_cpu_max_threads': '7'}, {}, {}),
    # The flavor's own.
    ({'hw_cpu_policy': 'dedicated'}, {'hw__cpu_policy': 'dedicated'}, {}),
    ({'hw_viommu_model': 'virtio'}, {'hw__viommu_model': 'virtio'}, {}),
    ({'img_hide_hypervisor_id': 'true'},
     {'hw__hide_hypervisor_id': 'true'}, {}),
    ({'hw_maxphysaddr_bits': '42'},
     {'hw__maxphysaddr_mode': 'emulate', 'hw__maxphysaddr_bits': '42'}, {}),
    # What is removed might as well never have been there.
    ({'os_command_line': None}, {}, {}),
    ({'os_command_line': None}, {}, {'os_command_line': 'quiet'}),
    ({'hw_numa_cpus.0': None}, {}, {'hw_numa_cpus__0': '0-1'}),
    ({'hw_cpu_policy': None}, {'hw__cpu_policy': 'dedicated'}, {}),
)

#: A flavor that silently wins over the image: override, flavor, image, and
#: what the reason quotes.
WINNERS = (
    ({'hw_cpu_policy': 'shared'}, {'hw__cpu_policy': 'dedicated'}, {},
     'hw:cpu_policy=dedicated'),
    ({'hw_cpu_policy': 'mixed'}, {'hw__cpu_policy': 'dedicated'}, {},
     'hw:cpu_policy=dedicated'),
    ({'hw_cpu_policy': 'shared'},
     {'hw__cpu_policy': 'mixed', 'hw__cpu_dedicated_mask': '0'}, {},
     'hw:cpu_policy=mixed'),
    ({'hw_cpu_thread_policy': 'isolate'},
     {'hw__cpu_policy': 'dedicated', 'hw__cpu_thread_policy': 'prefer'}, {},
     'hw:cpu_thread_policy=prefer'),
    ({'hw_viommu_model': 'intel'}, {'hw__viommu_model': 'virtio'}, {},
     'hw:viommu_model=virtio'),
    ({'img_hide_hypervisor_id': 'false'},
     {'hw__hide_hypervisor_id': 'true'}, {'img_hide_hypervisor_id': 'true'},
     'hw:hide_hypervisor_id=true'),
    ({'img_hide_hypervisor_id': 'false'},
     {'hide_hypervisor_id': 'true'}, {}, 'hide_hypervisor_id=true'),
    ({'hw_maxphysaddr_bits': '40'},
     {'hw__maxphysaddr_mode': 'emulate', 'hw__maxphysaddr_bits': '42'}, {},
     'hw:maxphysaddr_bits=42'),
    ({'hw_redirected_usb_ports': '0'},
     {'hw__redirected_usb_ports': '3'}, {}, 'hw:redirected_usb_ports=3'),
    ({'hw_rng_model': 'virtio'}, {'hw_rng__allowed': 'False'}, {},
     'hw_rng:allowed=False'),
)

#: What could be taken for idle but is not: a driver, the host, the network or
#: a later request decides, or Nova builds it whatever else there is.
OPEN = (
    # A controller of the model, with disks on any bus.
    {'hw_scsi_model': 'virtio-scsi'},
    {'os_admin_user': 'admin'},
    {'os_require_quiesce': 'true'},
    {'hw_rescue_bus': 'scsi'},
    {'hw_cdrom_bus': 'sata'},
    {'hw_pci_numa_affinity_policy': 'preferred'},
    {'hw_video_ram': '16', 'hw_video_model': 'vga'},
    {'hw_auto_disk_config': 'true'},
)


KNOWN = tuple(case for case in IDLE if not release.lacking(
    [case.name, *case.acts]))
