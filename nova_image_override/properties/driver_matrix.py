"""What each part of Nova does with an image property: the matrix.

Rows are the fields of ``ImageMetaProps``, columns the virt drivers, the
scheduler and nova-api. A cell names the Nova function that reads the property
and the operations in which it acts; a column that a row does not name does
not read the property. The cells hold for Nova 31 to 34:
tests/unit/properties/test_driver_matrix.py compares them with the running
Nova's source, and fails when a part begins to read a property.

Discovery, commands, documentation and the checks of nova-api learn from here
which drivers act on what.
"""

import collections.abc
import dataclasses
import types

#: Virt drivers: module in nova/virt -> what people call the driver.
DRIVERS: collections.abc.Mapping[str, str] = types.MappingProxyType({
    'libvirt': 'libvirt (KVM, QEMU)', 'vmwareapi': 'VMware vSphere',
    'ironic': 'Ironic (bare metal)', 'zvm': 'IBM z/VM',
    'fake': 'fake (tests)'})

SCHEDULER = 'scheduler'
API = 'nova-api'

#: Every column.
PARTS = (*DRIVERS, SCHEDULER, API)

#: ``compute_nodes.hypervisor_type`` -> driver. Nothing is known about others:
#: libvirt also reports LXC or Parallels, whose guests have little of this.
HYPERVISOR_TYPES: collections.abc.Mapping[str, str] = types.MappingProxyType({
    'QEMU': 'libvirt', 'VMware vCenter Server': 'vmwareapi',
    'ironic': 'ironic', 'zvm': 'zvm', 'fake': 'fake'})

# --- outcomes ---------------------------------------------------------------
#: It does what the property says.
ACTS = 'acts'
#: Scheduler: only hosts that can do it are chosen. The driver does the rest.
REQUIRES = 'requires'
#: It reads the property, and checks or carries it for others.
CHECKS = 'checks'
#: Nothing comes of it.
IGNORED = 'ignored'
#: The server ends in ERROR, or is never built.
ERROR = 'error'

# --- operations -------------------------------------------------------------
_ANEW = ('create', 'rebuild', 'unshelve')
#: Whenever libvirt defines the guest.
_GUEST = (*_ANEW, 'resize', 'evacuate', 'rescue', 'reboot')
_PLACED = ('create', 'unshelve', 'resize', 'evacuate', 'live migration')
_SCHEDULED = ('create', 'rebuild', *_PLACED[1:])


@dataclasses.dataclass(frozen=True)
class Cell:
    """What one part of Nova does with one property.

    :ivar reads: Nova's function that reads it, or what Nova has made of it
    :ivar at: operations in which it acts
    :ivar outcome: what comes of a value
    :ivar values: the values that have OUTCOME; None for all
    :ivar otherwise: what comes of any other value
    :ivar needs: value ('' for any) -> another property, and the value that it
        must have ('' for any), without which the outcome is OTHERWISE
    :ivar formerly: the name of the function in older releases of Nova
    :ivar note: a limit, or a fault of Nova, in words
    """

    reads: str
    at: tuple[str, ...]
    outcome: str = ACTS
    values: tuple[str, ...] | None = None
    otherwise: str = IGNORED
    needs: collections.abc.Mapping[str, tuple[str, str]] = dataclasses.field(
        default_factory=dict)
    note: str = ''
    formerly: str = ''

    def comes_of(
        self, value: str, properties: collections.abc.Mapping[str, object],
    ) -> str:
        """Return the outcome of VALUE with a server's other PROPERTIES."""
        if self.values is not None and value not in self.values:
            return self.otherwise
        for name, wanted in (each for key, each in self.needs.items()
                             if key in ('', value)):
            if properties.get(name) is None or wanted not in (
                    '', str(properties[name])):
                return self.otherwise
        return self.outcome


Row = collections.abc.Mapping[str, Cell]


def _libvirt(reads: str, at: tuple[str, ...] = _GUEST) -> dict[str, Cell]:
    return {'libvirt': Cell(reads, at)}


def _required(
    reads: str, at: tuple[str, ...] = _PLACED, note: str = '',
) -> dict[str, Cell]:
    return {SCHEDULER: Cell(reads, at, REQUIRES, note=note)}


def _checked(reads: str, *at: str) -> dict[str, Cell]:
    return {API: Cell(reads, at, CHECKS)}


def _chosen(reads: str, note: str = '') -> dict[str, Cell]:
    """Hosts are picked by it, whatever their driver."""
    return {SCHEDULER: Cell(reads, _SCHEDULED, note=note)}


_IMAGE_FILTER = 'ImagePropertiesFilter._instance_supported'
_PREFILTER = _required(
    'request_filter.transform_image_metadata',
    note='with [scheduler] image_metadata_prefilter')
_BUS = 'blockinfo.get_disk_bus_for_device_type'
_FLAVOR = _checked(
    'API._validate_flavor_image_numa_pci', 'create', 'rebuild', 'resize')
#: nova-api makes instance.numa_topology from these, and libvirt builds it.
_NUMA: Row = {
    **_libvirt('LibvirtDriver._get_guest_config'),
    **_required('NUMATopologyFilter.host_passes',
                note='where the filter is enabled'), **_FLAVOR}
_TOPOLOGY: Row = {
    **_libvirt('LibvirtDriver._get_guest_cpu_config'),
    'vmwareapi': Cell('VMwareVMOps._get_extra_specs', _ANEW,
                      note='only the cores per socket reach the guest'),
    **_FLAVOR}
_TPM: Row = {**_libvirt('LibvirtDriver._add_vtpm_device'),
             **_required('ResourceRequest._translate_vtpm_request')}
_MEMORY: Row = {
    'libvirt': Cell('LibvirtDriver._get_mem_encryption_config', _GUEST,
                    formerly='LibvirtDriver._sev_enabled'),
    SCHEDULER: Cell(
        'ResourceRequest._translate_mem_encryption_request', _PLACED, REQUIRES,
        formerly='ResourceRequest._translate_memory_encryption'),
    **_FLAVOR}
_PINNING: Row = {**_NUMA, **_required(
    'ResourceRequest._translate_pinning_policies')}
_DISKS: Row = {**_required('request_filter.ephemeral_encryption_filter'),
               **_libvirt('Image.libvirt_info'),
               **_checked('API._update_ephemeral_encryption_bdms', 'create')}
_RESCUE = _checked('API.rescue', 'rescue')
_SIGNATURE: Row = _checked(
    'GlanceImageServiceV2._get_verifier', 'create', 'rebuild')
_VMWARE_IMAGE = 'VMwareImage.from_image'
_CONFIG_DRIVE = 'API._validate_flavor_image_nostatus'

#: Field -> the cells of the parts that read it; {} where no code of Nova does.
ROWS: collections.abc.Mapping[str, Row] = {
    'hw_architecture': {
        **_libvirt('utils.get_arch'), **_chosen(_IMAGE_FILTER),
        **_checked('API._check_image_arch', 'create', 'rebuild')},
    'hw_auto_disk_config': {API: Cell(
        'API._inherit_properties_from_image', ('create', 'rebuild', 'resize'),
        note='what the server says of itself; no driver asks for it')},
    'hw_boot_menu': _libvirt('LibvirtDriver._configure_guest_by_virt_type'),
    'hw_cdrom_bus': {**_libvirt(_BUS), **_PREFILTER},
    'hw_cpu_cores': _TOPOLOGY,
    'hw_cpu_max_cores': _TOPOLOGY,
    'hw_cpu_max_sockets': _TOPOLOGY,
    'hw_cpu_max_threads': {**_TOPOLOGY, 'vmwareapi': Cell(
        'VMwareVMOps._get_extra_specs', _ANEW, IGNORED,
        note='a guest has one thread per core')},
    'hw_cpu_policy': _PINNING,
    'hw_cpu_realtime_mask': {
        **_libvirt('LibvirtDriver._get_guest_numa_config'),
        **_required('ResourceRequest._translate_pinning_policies'),
        **_FLAVOR},
    'hw_cpu_sockets': _TOPOLOGY,
    'hw_cpu_thread_policy': _PINNING,
    'hw_cpu_threads': {**_TOPOLOGY, 'vmwareapi': Cell(
        'VMwareVMOps._get_extra_specs', _ANEW, IGNORED,
        note='a guest has one thread per core')},
    'hw_device_id': {},
    'hw_disk_bus': {
        **_libvirt(_BUS, (*_GUEST, 'attach')), **_PREFILTER,
        'vmwareapi': Cell(
            _VMWARE_IMAGE, _ANEW, values=('ide', 'scsi'),
            needs={'scsi': ('hw_scsi_model', '')},
            note='any other bus leaves the adapter lsiLogic, and scsi without '
                 'hw_scsi_model names none')},
    'hw_disk_type': {'vmwareapi': Cell(
        _VMWARE_IMAGE, ('create', 'rebuild', 'rescue'), values=(
            'eagerZeroedThick', 'preallocated', 'sparse', 'streamOptimized',
            'thick', 'thin'), otherwise=ERROR,
        note='VMware\'s cache of images is by image: where the datastore has '
             'it already, the disk has the type of the first boot')},
    'hw_emulation_architecture': {
        **_libvirt('LibvirtDriver._check_emulation_arch'), **_PREFILTER},
    'hw_ephemeral_encryption': _DISKS,
    'hw_ephemeral_encryption_format': _DISKS,
    'hw_ephemeral_encryption_secret_uuid': {},
    'hw_firmware_stateless': {
        **_libvirt('LibvirtDriver._configure_guest_by_virt_type'),
        **_required('ResourceRequest._translate_stateless_firmware_request')},
    'hw_firmware_type': {
        **_libvirt('LibvirtDriver._configure_guest_by_virt_type'),
        'vmwareapi': Cell('VMwareVMOps._get_extra_specs', _ANEW)},
    'hw_floppy_bus': _libvirt(_BUS, ('rescue',)),
    'hw_input_bus': _libvirt('LibvirtDriver._get_pointer_bus_and_model'),
    'hw_ipxe_boot': {},
    'hw_locked_memory': {
        **_libvirt('LibvirtDriver._get_guest_memory_backing_config'),
        **_FLAVOR},
    'hw_machine_type': _libvirt('utils.get_machine_type'),
    'hw_maxphysaddr_bits': {
        **_libvirt('LibvirtDriver._get_guest_cpu_config_maxphysaddr'),
        **_required(
            'ImagePropertiesFilter._instance_supported.'
            '_compare_maxphysaddr_bits', _SCHEDULED)},
    'hw_maxphysaddr_mode': {
        **_libvirt('LibvirtDriver._get_guest_cpu_config_maxphysaddr'),
        **_required('ResourceRequest._translate_maxphysaddr_request')},
    'hw_mem_encryption': _MEMORY,
    'hw_mem_encryption_model': _MEMORY,
    'hw_mem_page_size': _NUMA,
    'hw_numa_cpus': _NUMA,
    'hw_numa_mem': _NUMA,
    'hw_numa_nodes': _NUMA,
    'hw_pci_numa_affinity_policy': {
        # Only libvirt has PCI devices to give out.
        **_libvirt('PciDeviceStats._filter_pools_for_numa_cells', _PLACED),
        **_required('ResourceRequest._translate_pci_numa_affinity_policy'),
        **_checked('API._validate_and_build_base_options', 'create')},
    'hw_pmu': {**_libvirt('LibvirtDriver._set_features'), **_FLAVOR},
    'hw_pointer_model': _libvirt('LibvirtDriver._get_pointer_bus_and_model'),
    'hw_qemu_guest_agent': _libvirt(
        'LibvirtDriver._set_qemu_guest_agent',
        (*_GUEST, 'snapshot', 'password')),
    'hw_redirected_usb_ports': _libvirt(
        'LibvirtDriver._add_redirected_usb_ports'),
    'hw_rescue_bus': {
        **_libvirt('blockinfo.get_rescue_bus', ('rescue',)), **_RESCUE},
    'hw_rescue_device': {
        **_libvirt('blockinfo.get_rescue_device', ('rescue',)), **_RESCUE},
    # LibvirtDriver._add_rng_device does not read it: virtio, the only value,
    # is what guests have anyway.
    'hw_rng_model': {},
    'hw_scsi_model': {
        **_libvirt('LibvirtDriver._get_scsi_controller',
                   (*_GUEST, 'attach')),
        'vmwareapi': Cell(
            _VMWARE_IMAGE, _ANEW, values=(
                'buslogic', 'lsilogic', 'lsisas1068', 'vmpvscsi'),
            needs={'': ('hw_disk_bus', 'scsi')})},
    'hw_serial_port_count': {
        **_libvirt('LibvirtDriver._create_consoles_qemu_kvm'), **_FLAVOR},
    'hw_sound_model': {
        **_libvirt('LibvirtDriver._add_sound_device'),
        **_required('request_filter.virtio_sound_filter'),
        **_checked('API._checks_for_create_and_rebuild',
                   'create', 'rebuild')},
    'hw_time_hpet': _libvirt('LibvirtDriver._set_kvm_timers'),
    'hw_tpm_model': _TPM,
    'hw_tpm_version': _TPM,
    'hw_usb_model': _libvirt('LibvirtDriver._guest_add_usb_root_controller'),
    'hw_video_model': {
        **_libvirt('LibvirtDriver._get_video_type'), **_PREFILTER},
    'hw_video_ram': {
        **_libvirt('LibvirtDriver._add_video_driver'),
        'vmwareapi': Cell(
            'VMwareVMOps._get_extra_specs', _ANEW, ERROR,
            note='Nova sends vSphere 32768.0 where it takes whole numbers of '
                 'KiB only')},
    'hw_vif_model': {
        **_libvirt('LibvirtGenericVIFDriver.get_vif_model',
                   (*_GUEST, 'attach')), **_PREFILTER,
        'vmwareapi': Cell(
            _VMWARE_IMAGE, (*_ANEW, 'attach', 'live migration'), values=(
                'e1000', 'e1000e', 'pcnet', 'sriov', 'vmxnet', 'vmxnet3'),
            otherwise=ERROR)},
    'hw_vif_multiqueue_enabled': {
        **_libvirt('LibvirtGenericVIFDriver._get_virtio_mq_settings',
                   (*_GUEST, 'attach')), **_FLAVOR},
    'hw_viommu_model': {
        **_libvirt('LibvirtDriver._get_iommu_model'), **_PREFILTER},
    'hw_virtio_packed_ring': {
        **_libvirt('LibvirtGenericVIFDriver._get_packed_virtqueue_settings'),
        **_required('request_filter.packed_virtqueue_filter')},
    'hw_vm_mode': _chosen(_IMAGE_FILTER),
    'hw_watchdog_action': _libvirt(
        'LibvirtDriver._guest_add_watchdog_action'),
    'img_bdm_v2': {},
    'img_bittorrent': {},
    'img_block_device_mapping': _RESCUE,
    'img_cache_in_nova': {},
    'img_compression_level': {},
    'img_config_drive': {
        **_libvirt('LibvirtDriver._create_configdrive'),
        'vmwareapi': Cell(
            'VMwareVMOps.spawn', _ANEW, values=('optional',), otherwise=ERROR,
            note='Nova cannot send vSphere a config drive'),
        'ironic': Cell('IronicDriver.spawn', ('create', 'rebuild')),
        'zvm': Cell('utils.generate_configdrive', _ANEW),
        **_checked(_CONFIG_DRIVE, 'create', 'rebuild')},
    'img_hide_hypervisor_id': _libvirt('LibvirtDriver._set_features'),
    'img_hv_requested_version': _chosen(
        f'{_IMAGE_FILTER}._compare_product_version',
        'beside hw_architecture, img_hv_type or hw_vm_mode'),
    'img_hv_type': _chosen(_IMAGE_FILTER),
    'img_linked_clone': {'vmwareapi': Cell(_VMWARE_IMAGE, _ANEW)},
    'img_mappings': {},
    'img_owner_id': {},
    'img_root_device_name': {},
    'img_signature': _SIGNATURE,
    'img_signature_certificate_uuid': _SIGNATURE,
    'img_signature_hash_method': _SIGNATURE,
    'img_signature_key_type': _SIGNATURE,
    'img_use_agent': {},
    'img_version': {},
    'os_admin_user': _libvirt('LibvirtDriver.set_admin_password',
                              ('password',)),
    'os_command_line': _libvirt('LibvirtDriver._set_guest_for_inst_kernel'),
    'os_distro': {
        'libvirt': Cell(
            'LibvirtGenericVIFDriver.get_vif_model', _GUEST,
            note='the default disk bus and network card, on hosts that have '
                 'libosinfo'),
        'vmwareapi': Cell(_VMWARE_IMAGE, _ANEW, note='the guest id, in '
                          'vSphere\'s own names, such as centos64Guest'),
        'zvm': Cell('ZVMDriver.spawn', _ANEW,
                    note='z/VM imports an image once, with the value of the '
                         'first boot')},
    'os_require_quiesce': _libvirt(
        'LibvirtDriver._requires_quiesce', ('snapshot',)),
    'os_secure_boot': {
        **_libvirt('LibvirtDriver._configure_guest_by_virt_type'),
        **_required('ResourceRequest._translate_secure_boot_request')},
    'os_skip_agent_inject_files_at_boot': {},
    'os_skip_agent_inject_ssh': {},
    'os_type': {
        **_libvirt('LibvirtDriver._get_guest_config', (*_GUEST, 'password')),
        **_checked('API._inherit_properties_from_image',
                   'create', 'rebuild')},
    'traits_required': {
        **_chosen('ResourceRequest._process_image_meta'),
        'ironic': Cell(
            'GenericDriverFields.get_deploy_patch', ('create', 'rebuild'),
            note='without the compute part a rebuild takes none of the '
                 'node\'s traits away')},
}
