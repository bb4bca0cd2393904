"""What users send: requests that are accepted, and one mistake in each."""

from tests.unit.api.guest import guests

UEFI = {'hw_firmware_type': 'uefi'}
PINNED = {'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'require'}
NODES = {'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0-1',
         'hw_numa_cpus.1': '2-3', 'hw_numa_mem.0': '512',
         'hw_numa_mem.1': '512'}
SEV = {**UEFI, 'hw_mem_encryption': 'true', 'hw_machine_type': 'q35'}
SNP = {**SEV, 'hw_mem_encryption_model': 'amd-sev-snp',
       'hw_firmware_stateless': 'true'}
REALTIME = {'hw:cpu_realtime': 'yes', 'hw:cpu_policy': 'dedicated'}

#: Requests that are accepted: overrides, and the flavor's extra specs.
RIGHT = [
    # --- NFV ---
    ({'hw_numa_nodes': '2'}, {}),
    ({'hw_numa_nodes': '1', 'hw_numa_cpus.0': '0-3',
      'hw_numa_mem.0': '1024'}, {}),
    (NODES, {}),
    (PINNED, {}),
    ({**PINNED, **NODES}, {}),
    ({**PINNED, 'hw_numa_nodes': '4'}, {}),
    ({**NODES, 'hw_mem_page_size': 'large'}, {'hw:mem_page_size': 'any'}),
    ({**PINNED, **NODES, 'hw_mem_page_size': '2048',
      'hw_locked_memory': 'true'}, {'hw:mem_page_size': 'large'}),
    ({'hw_mem_page_size': '1048576'}, {'hw:mem_page_size': 'any'}),
    ({'hw_locked_memory': 'true'}, {'hw:mem_page_size': 'small'}),
    ({'hw_cpu_policy': 'mixed', 'hw_cpu_thread_policy': 'isolate'},
     {'hw:cpu_dedicated_mask': '0-1'}),
    ({'hw_cpu_realtime_mask': '^0'}, REALTIME),
    ({'hw_cpu_policy': 'dedicated', 'hw_cpu_realtime_mask': '1-3'},
     {'hw:cpu_realtime': 'yes'}),
    ({'hw_cpu_policy': 'mixed', 'hw_cpu_realtime_mask': '2-3'},
     {'hw:cpu_realtime': 'yes'}),
    ({'hw_cpu_thread_policy': 'require', 'hw_numa_nodes': '2'},
     {'hw:cpu_policy': 'dedicated'}),
    ({'hw_pci_numa_affinity_policy': 'required', **PINNED}, {}),
    ({'hw_cpu_policy': 'dedicated'},
     {'hw:cpu_policy': 'dedicated', 'hw:emulator_threads_policy': 'isolate'}),
    # --- topology ---
    ({'hw_cpu_sockets': '2', 'hw_cpu_cores': '2', 'hw_cpu_threads': '1'}, {}),
    ({'hw_cpu_max_sockets': '1', 'hw_cpu_max_cores': '4',
      'hw_cpu_cores': '4'}, {}),
    ({'hw_cpu_max_sockets': '1', 'hw_cpu_max_cores': '2',
      'hw_cpu_max_threads': '2'}, {}),
    ({'hw_cpu_sockets': '2', 'hw_cpu_max_sockets': '2'},
     {'hw:cpu_max_sockets': '2'}),
    # --- firmware ---
    ({**UEFI, 'os_secure_boot': 'required'}, {}),
    ({**UEFI, 'hw_firmware_stateless': 'true', 'hw_machine_type': 'q35'}, {}),
    ({**UEFI, 'hw_tpm_version': '2.0', 'hw_tpm_model': 'tpm-crb'}, {}),
    ({'hw_tpm_model': 'tpm-tis'}, {'hw:tpm_version': '1.2'}),
    ({'os_secure_boot': 'optional', 'hw_architecture': 'aarch64'}, {}),
    # --- encryption ---
    (SEV, {}),
    ({**SEV, 'hw_mem_encryption_model': 'amd-sev'}, {}),
    (SNP, {}),
    ({**SNP, 'hw_mem_encryption_model': 'intel-tdx',
      'hw_video_model': 'none'}, {}),
    (UEFI, {'hw:mem_encryption': 'true'}),
    ({'hw_ephemeral_encryption': 'true',
      'hw_ephemeral_encryption_format': 'luks'}, {}),
    # --- devices ---
    ({'hw_serial_port_count': '2'}, {'hw:serial_port_count': '3'}),
    ({'hw_video_ram': '16', 'hw_video_model': 'qxl'},
     {'hw_video:ram_max_mb': '64'}),
    ({'hw_usb_model': 'qemu-xhci', 'hw_disk_bus': 'virtio',
      'hw_input_bus': 'virtio'}, {}),
    ({'hw_redirected_usb_ports': '2', 'hw_sound_model': 'ich9'}, {}),
    ({'hw_usb_model': 'nec-xhci', 'hw_input_bus': 'virtio',
      'hw_redirected_usb_ports': '2', 'hw_sound_model': 'usb'}, {}),
    ({'hw_vif_multiqueue_enabled': 'true', 'hw_vif_model': 'virtio'}, {}),
    ({'hw_mem_page_size': 'large', 'hw_locked_memory': 'true'},
     {'hw:mem_page_size': 'large', 'hw:cpu_realtime': 'yes',
      'hw:cpu_policy': 'dedicated', 'hw:cpu_realtime_mask': '^0'}),
    ({'hw_vif_multiqueue_enabled': 'true', 'hw_pmu': 'false',
      'hw_virtio_packed_ring': 'true'}, {}),
    ({'hw_pointer_model': 'usbtablet', 'hw_input_bus': 'usb'}, {}),
    ({'hw_maxphysaddr_mode': 'emulate', 'hw_maxphysaddr_bits': '42'}, {}),
    ({'hw_viommu_model': 'virtio', 'hw_rng_model': 'virtio',
      'img_hide_hypervisor_id': 'true'}, {'hw_rng:allowed': 'True'}),
    ({'hw_time_hpet': 'true', 'hw_architecture': 'x86_64'}, {}),
    ({'img_hv_requested_version': '>=6.0', 'img_hv_type': 'kvm'}, {}),
    ({**SEV, 'hw_mem_page_size': 'large', 'hw_locked_memory': 'true'},
     {'hw:mem_page_size': 'any'}),
    ({'trait:HW_CPU_X86_AVX2': 'required', **UEFI,
      'os_secure_boot': 'required'}, {'trait:CUSTOM_GOLD': 'forbidden'}),
]

#: What one entry is changed into.
WRONG = {
    'hw_architecture': ['aarch64', 'x86_64'],
    'hw_cpu_cores': ['3', '8'], 'hw_cpu_max_cores': ['1'],
    'hw_cpu_max_sockets': ['1', '4'], 'hw_cpu_max_threads': ['1'],
    'hw_cpu_policy': ['shared', 'mixed', 'dedicated'],
    'hw_cpu_realtime_mask': ['0-3', '^0-3', '9'],
    'hw_cpu_sockets': ['3', '4'], 'hw_cpu_threads': ['3'],
    'hw_cpu_thread_policy': ['prefer'],
    'hw_disk_bus': ['usb'], 'hw_firmware_type': ['bios'],
    'hw_input_bus': ['virtio', 'usb'], 'hw_locked_memory': ['false'],
    'hw_machine_type': ['pc'], 'hw_mem_encryption': ['false'],
    'hw_mem_encryption_model': ['intel-tdx', 'amd-sev-snp'],
    'hw_mem_page_size': ['small'],
    'hw_numa_cpus.0': ['0', '0-2', '0-9'], 'hw_numa_cpus.1': ['1-3', '3'],
    'hw_numa_mem.0': ['100'], 'hw_numa_mem.1': ['1024'],
    'hw_numa_nodes': ['1', '3', '5'], 'hw_serial_port_count': ['3'],
    'hw_tpm_model': ['tpm-crb'], 'hw_tpm_version': ['1.2'],
    'hw_usb_model': ['none'], 'hw_vif_model': ['e1000'],
    'hw_video_model': ['none', 'qxl', 'virtio'], 'hw_video_ram': ['128'],
    'hw_ephemeral_encryption': ['false'],
}

#: What the flavor is changed into, one at a time.
FLAVORS = [
    {'hw:cpu_policy': 'shared'}, {'hw:cpu_policy': 'dedicated'},
    {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '0'},
    {'hw:cpu_policy': 'dedicated', 'hw:cpu_thread_policy': 'isolate'},
    {'hw:cpu_realtime': 'no'},
    {'hw:numa_nodes': '4'},
    {'hw:numa_nodes': '2', 'hw:numa_cpus.0': '0', 'hw:numa_cpus.1': '1-3',
     'hw:numa_mem.0': '256', 'hw:numa_mem.1': '768'},
    {'hw:mem_page_size': 'small'}, {'hw:locked_memory': 'false',
                                    'hw:mem_page_size': 'large'},
    {'hw:pci_numa_affinity_policy': 'legacy'},
    {'hw:cpu_max_sockets': '1'}, {'hw:cpu_max_cores': '1'},
    {'os:secure_boot': 'disabled'}, {'hw:tpm_version': '1.2'},
    {'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-spapr'},
    {'hw:mem_encryption': 'false'}, {'hw:mem_encryption_model': 'amd-sev-es'},
    {'hw:ephemeral_encryption': 'false'},
    {'hw:ephemeral_encryption_format': 'plain'},
    {'hw:serial_port_count': '1'}, {'hw_video:ram_max_mb': '8'},
    {'hw:usb_model': 'piix3-uhci'}, {'hw:redirected_usb_ports': '3'},
    {'hw:sound_model': 'ac97'}, {'hw:vif_multiqueue_enabled': 'false'},
    {'hw:pmu': 'true'}, {'hw:virtio_packed_ring': 'false'},
    {'hw:maxphysaddr_mode': 'passthrough'}, {'hw:maxphysaddr_bits': '40'},
    {'hw:viommu_model': 'intel'}, {'hw_rng:allowed': 'False'},
    {'hide_hypervisor_id': 'false', 'hw:hide_hypervisor_id': 'true'},
    {'trait:COMPUTE_SECURITY_UEFI_SECURE_BOOT': 'forbidden'},
    {'trait:HW_CPU_X86_AVX2': 'forbidden'},
]


RIGHT = [case for case in RIGHT if guests.known(case[0])]


def mistakes():
    """Yield requests with one mistake, at most, and where it is.

    :returns: overrides, extra specs, and the override that was dropped or
        changed, or None
    """
    for right, specs in RIGHT:
        for name in right:
            rest = {key: value for key, value in right.items() if key != name}
            if rest:
                yield rest, specs, name
            for value in WRONG.get(name, ()):
                changed = {**right, name: value}
                if value != right[name] and guests.known(changed):
                    yield changed, specs, name
        for other in FLAVORS:
            yield right, {**specs, **other}, None
        for gone in specs:
            yield right, {name: value for name, value in specs.items()
                          if name != gone}, None
