"""Nova's functions that read each image property, and when they do.

What comes of a property with a driver is in the book
(:mod:`nova_image_override.properties.book`), because overrides are refused by
it. The rest is only documentation: nothing here decides anything.
``tests/unit/properties/test_book.py`` compares it with Nova's source.
"""
from __future__ import annotations

import typing

from nova_image_override.properties.book import vocabulary

# --- outcomes besides those of the book -------------------------------------
#: Only hosts that can do it are chosen. The driver does the rest.
REQUIRES = 'requires'
#: Nova checks the property, or carries it for others.
CHECKS = 'checks'

# --- operations -------------------------------------------------------------
ANEW = ('create', 'rebuild', 'unshelve')
#: Whenever libvirt defines the guest.
GUEST = (*ANEW, 'resize', 'evacuate', 'rescue', 'reboot')
ATTACHED = (*GUEST, 'attach')
PLACED = ('create', 'unshelve', 'resize', 'evacuate', 'live migration')
SCHEDULED = ('create', 'rebuild', *PLACED[1:])


class Row(typing.NamedTuple):
    """A function of Nova that reads a property, or what Nova has made of it.

    :ivar part: the part of Nova, of vocabulary.PARTS
    :ivar function: the function
    :ivar at: operations in which it acts
    :ivar outcome: REQUIRES, CHECKS, or '' where the book has the outcome
    :ivar note: a limit, or a fault of Nova, in words
    :ivar formerly: the name of the function in older releases of Nova
    """

    part: str
    function: str
    at: tuple[str, ...]
    outcome: str = ''
    note: str = ''
    formerly: str = ''


Rows = tuple[Row, ...]


def libvirt(
    function: str, at: tuple[str, ...] = GUEST, **kwargs: str,
) -> Row:
    """Return the function of libvirt's driver."""
    return Row('libvirt', function, at, **kwargs)


def vmware(function: str, at: tuple[str, ...] = ANEW, note: str = '') -> Row:
    """Return the function of VMware's driver."""
    return Row('vmwareapi', function, at, note=note)


def chooses(function: str, note: str = '') -> Row:
    """Return the function that picks hosts, whatever their driver."""
    return Row(vocabulary.SCHEDULER, function, SCHEDULED, note=note)


def requires(
    function: str, at: tuple[str, ...] = PLACED, **kwargs: str,
) -> Row:
    """Return the function by which only hosts that can do it are chosen."""
    return Row(vocabulary.SCHEDULER, function, at, REQUIRES, **kwargs)


def checks(function: str, *at: str) -> Row:
    """Return the function of nova-api that checks it, or carries it."""
    return Row(vocabulary.API, function, at, CHECKS)


_BUS = 'blockinfo.get_disk_bus_for_device_type'
_IMAGE_FILTER = 'ImagePropertiesFilter._instance_supported'
_VMWARE_IMAGE = 'VMwareImage.from_image'

PREFILTER = requires(
    'request_filter.transform_image_metadata',
    note='with [scheduler] image_metadata_prefilter')
CHECKED_WITH_FLAVOR = checks(
    'API._validate_flavor_image_numa_pci', 'create', 'rebuild', 'resize')

_TOPOLOGY = (
    libvirt('LibvirtDriver._get_guest_cpu_config'),
    vmware('VMwareVMOps._get_extra_specs',
           note='only the cores per socket reach the guest'),
    CHECKED_WITH_FLAVOR)
_THREADS = (
    _TOPOLOGY[0], vmware('VMwareVMOps._get_extra_specs'), CHECKED_WITH_FLAVOR)
#: Builds the guest from instance.numa_topology, which nova-api makes.
_NUMA_GUEST = libvirt('LibvirtDriver._get_guest_config')
_PINNING = (
    _NUMA_GUEST, CHECKED_WITH_FLAVOR,
    requires('ResourceRequest._translate_pinning_policies'))
_NUMA = (
    _NUMA_GUEST,
    requires('NUMATopologyFilter.host_passes',
             note='where the filter is enabled'),
    CHECKED_WITH_FLAVOR)
_MEMORY = (
    libvirt('LibvirtDriver._get_mem_encryption_config',
            formerly='LibvirtDriver._sev_enabled'),
    requires('ResourceRequest._translate_mem_encryption_request',
             formerly='ResourceRequest._translate_memory_encryption'),
    CHECKED_WITH_FLAVOR)
_DISKS = (
    requires('request_filter.ephemeral_encryption_filter'),
    checks('API._update_ephemeral_encryption_bdms', 'create'),
    libvirt('Image.libvirt_info'))
_TPM = (
    libvirt('LibvirtDriver._add_vtpm_device'),
    requires('ResourceRequest._translate_vtpm_request'))
_SIGNATURE = (
    checks('GlanceImageServiceV2._get_verifier', 'create', 'rebuild'),)

#: Field of ``ImageMetaProps`` -> the functions that read it.
READERS: dict[str, Rows] = {
    'hw_architecture': (
        libvirt('utils.get_arch'),
        chooses(_IMAGE_FILTER),
        checks('API._check_image_arch', 'create', 'rebuild')),
    'hw_auto_disk_config': (
        Row(
            'nova-api', 'API._inherit_properties_from_image',
            ('create', 'rebuild', 'resize'),
            note='what the server says of itself; no driver asks for it'),),
    'hw_boot_menu': (libvirt('LibvirtDriver._configure_guest_by_virt_type'),),
    'hw_cdrom_bus': (libvirt(_BUS), PREFILTER),
    'hw_cpu_cores': _TOPOLOGY,
    'hw_cpu_max_cores': _TOPOLOGY,
    'hw_cpu_max_sockets': _TOPOLOGY,
    'hw_cpu_max_threads': _THREADS,
    'hw_cpu_policy': _PINNING,
    'hw_cpu_realtime_mask': (
        libvirt('LibvirtDriver._get_guest_numa_config'),
        requires('ResourceRequest._translate_pinning_policies'),
        CHECKED_WITH_FLAVOR),
    'hw_cpu_sockets': _TOPOLOGY,
    'hw_cpu_thread_policy': _PINNING,
    'hw_cpu_threads': _THREADS,
    'hw_disk_bus': (
        libvirt(_BUS, ATTACHED),
        PREFILTER,
        vmware(
            _VMWARE_IMAGE,
            note='any other bus leaves the adapter lsiLogic, and scsi '
                 'without hw_scsi_model names none')),
    'hw_disk_type': (
        vmware(
            _VMWARE_IMAGE, ('create', 'rebuild', 'rescue'),
            note='VMware\'s cache of images is by image: where the '
                 'datastore has it already, the disk has the type of the '
                 'first boot'),),
    'hw_emulation_architecture': (
        libvirt('LibvirtDriver._check_emulation_arch'), PREFILTER),
    'hw_ephemeral_encryption': _DISKS,
    'hw_ephemeral_encryption_format': _DISKS,
    'hw_firmware_stateless': (
        libvirt('LibvirtDriver._configure_guest_by_virt_type'),
        requires('ResourceRequest._translate_stateless_firmware_request')),
    'hw_firmware_type': (
        libvirt('LibvirtDriver._configure_guest_by_virt_type'),
        vmware('VMwareVMOps._get_extra_specs')),
    'hw_floppy_bus': (libvirt(_BUS, ('rescue',)),),
    'hw_input_bus': (libvirt('LibvirtDriver._get_pointer_bus_and_model'),),
    'hw_locked_memory': (
        libvirt('LibvirtDriver._get_guest_memory_backing_config'),
        CHECKED_WITH_FLAVOR),
    'hw_machine_type': (libvirt('utils.get_machine_type'),),
    'hw_maxphysaddr_bits': (
        libvirt('LibvirtDriver._get_guest_cpu_config_maxphysaddr'),
        requires(
            f'{_IMAGE_FILTER}._compare_maxphysaddr_bits', at=SCHEDULED)),
    'hw_maxphysaddr_mode': (
        libvirt('LibvirtDriver._get_guest_cpu_config_maxphysaddr'),
        requires('ResourceRequest._translate_maxphysaddr_request')),
    'hw_mem_encryption': _MEMORY,
    'hw_mem_encryption_model': _MEMORY,
    'hw_mem_page_size': _NUMA,
    'hw_numa_cpus': _NUMA,
    'hw_numa_mem': _NUMA,
    'hw_numa_nodes': _NUMA,
    'hw_pci_numa_affinity_policy': (
        libvirt('PciDeviceStats._filter_pools_for_numa_cells', PLACED),
        requires('ResourceRequest._translate_pci_numa_affinity_policy'),
        checks('API._validate_and_build_base_options', 'create')),
    'hw_pmu': (libvirt('LibvirtDriver._set_features'), CHECKED_WITH_FLAVOR),
    'hw_pointer_model': (libvirt('LibvirtDriver._get_pointer_bus_and_model'),),
    'hw_qemu_guest_agent': (
        libvirt(
            'LibvirtDriver._set_qemu_guest_agent',
            (*GUEST, 'snapshot', 'password')),),
    'hw_redirected_usb_ports': (
        libvirt('LibvirtDriver._add_redirected_usb_ports'),),
    'hw_rescue_bus': (
        libvirt('blockinfo.get_rescue_bus', ('rescue',)),
        checks('API.rescue', 'rescue')),
    'hw_rescue_device': (
        libvirt('blockinfo.get_rescue_device', ('rescue',)),
        checks('API.rescue', 'rescue')),
    'hw_scsi_model': (
        libvirt('LibvirtDriver._get_scsi_controller', ATTACHED),
        vmware(_VMWARE_IMAGE)),
    'hw_serial_port_count': (
        libvirt('LibvirtDriver._create_consoles_qemu_kvm'),
        CHECKED_WITH_FLAVOR),
    'hw_sound_model': (
        libvirt('LibvirtDriver._add_sound_device'),
        requires('request_filter.virtio_sound_filter'),
        checks('API._checks_for_create_and_rebuild', 'create', 'rebuild')),
    'hw_time_hpet': (libvirt('LibvirtDriver._set_kvm_timers'),),
    'hw_tpm_model': _TPM,
    'hw_tpm_version': _TPM,
    'hw_usb_model': (libvirt('LibvirtDriver._guest_add_usb_root_controller'),),
    'hw_video_model': (libvirt('LibvirtDriver._get_video_type'), PREFILTER),
    'hw_video_ram': (
        libvirt('LibvirtDriver._add_video_driver'),
        vmware('VMwareVMOps._get_extra_specs')),
    'hw_vif_model': (
        libvirt('LibvirtGenericVIFDriver.get_vif_model', ATTACHED),
        PREFILTER,
        vmware(_VMWARE_IMAGE, (*ANEW, 'attach', 'live migration'))),
    'hw_vif_multiqueue_enabled': (
        libvirt('LibvirtGenericVIFDriver._get_virtio_mq_settings', ATTACHED),
        CHECKED_WITH_FLAVOR),
    'hw_viommu_model': (libvirt('LibvirtDriver._get_iommu_model'), PREFILTER),
    'hw_virtio_packed_ring': (
        libvirt('LibvirtGenericVIFDriver._get_packed_virtqueue_settings'),
        requires('request_filter.packed_virtqueue_filter')),
    'hw_vm_mode': (chooses(_IMAGE_FILTER),),
    'hw_watchdog_action': (
        libvirt('LibvirtDriver._guest_add_watchdog_action'),),
    'img_block_device_mapping': (checks('API.rescue', 'rescue'),),
    'img_config_drive': (
        libvirt('LibvirtDriver._create_configdrive'),
        vmware(
            'VMwareVMOps.spawn',
            note='Nova cannot send vSphere a config drive'),
        Row('ironic', 'IronicDriver.spawn', ('create', 'rebuild')),
        Row('zvm', 'utils.generate_configdrive', ANEW),
        checks('API._validate_flavor_image_nostatus', 'create', 'rebuild')),
    'img_hide_hypervisor_id': (libvirt('LibvirtDriver._set_features'),),
    'img_hv_requested_version': (
        chooses(
            f'{_IMAGE_FILTER}._compare_product_version',
            note='beside hw_architecture, img_hv_type or hw_vm_mode'),),
    'img_hv_type': (chooses(_IMAGE_FILTER),),
    'img_linked_clone': (vmware(_VMWARE_IMAGE),),
    'img_signature': _SIGNATURE,
    'img_signature_certificate_uuid': _SIGNATURE,
    'img_signature_hash_method': _SIGNATURE,
    'img_signature_key_type': _SIGNATURE,
    'os_admin_user': (
        libvirt('LibvirtDriver.set_admin_password', ('password',)),),
    'os_command_line': (libvirt('LibvirtDriver._set_guest_for_inst_kernel'),),
    'os_distro': (
        libvirt(
            'LibvirtGenericVIFDriver.get_vif_model',
            note='the default disk bus and network card, on hosts that '
                 'have libosinfo'),
        vmware(
            _VMWARE_IMAGE,
            note='the guest id, in vSphere\'s own names, such as '
                 'centos64Guest'),
        Row(
            'zvm', 'ZVMDriver.spawn', ANEW,
            note='z/VM imports an image once, with the value of the first '
                 'boot')),
    'os_require_quiesce': (
        libvirt('LibvirtDriver._requires_quiesce', ('snapshot',)),),
    'os_secure_boot': (
        libvirt('LibvirtDriver._configure_guest_by_virt_type'),
        requires('ResourceRequest._translate_secure_boot_request')),
    'os_type': (
        libvirt('LibvirtDriver._get_guest_config', (*GUEST, 'password')),
        checks('API._inherit_properties_from_image', 'create', 'rebuild')),
    'traits_required': (
        chooses('ResourceRequest._process_image_meta'),
        Row(
            'ironic', 'GenericDriverFields.get_deploy_patch',
            ('create', 'rebuild'),
            note='without the compute part a rebuild takes none of the '
                 'node\'s traits away')),
}
