"""The overrides that are measured."""

ONE = {'hw_boot_menu': 'true'}

#: What a tenant may well ask for; every flavor and host can give it.
TEN = {
    'hw_boot_menu': 'true',
    'hw_cdrom_bus': 'sata',
    'hw_cpu_cores': '2',
    'hw_cpu_sockets': '2',
    'hw_disk_bus': 'scsi',
    'hw_scsi_model': 'virtio-scsi',
    'hw_video_model': 'virtio',
    'hw_vif_model': 'virtio',
    'hw_watchdog_action': 'reset',
    'os_type': 'linux',
}

#: As many as one request may name: the ten, and traits, of which there is no
#: end.
MOST = TEN | {f'trait:CUSTOM_BENCH_{n:03}': 'required' for n in range(118)}

#: The image's own properties.
IMAGE = {'hw_disk_bus': 'virtio', 'hw_rng_model': 'virtio'}
