"""The options that tell the tests what discovery cannot about the cloud."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'image_props_override', title='Boot-time override of image properties')

AVAILABLE = cfg.BoolOpt(
    GROUP.name, default=True,
    help='Whether nova-api is extended by nova-image-override. If so, a cloud '
         'that does not answer discovery fails the tests.')

OPTIONS = [
    cfg.DictOpt(
        'overrides',
        default={'hw_boot_menu': 'true', 'hw_disk_bus': 'virtio',
                 'hw_rng_model': 'virtio', 'os_type': 'linux'},
        help='Overrides with which a guest of [compute] image_ref boots, as '
             'NAME:VALUE, the value in its canonical spelling. Tests take '
             'from them what discovery offers to the test user; most need '
             'one, some need two, and are skipped without.'),
    cfg.StrOpt(
        'kernel_arguments',
        default='root=/dev/vda console=tty0 console=ttyS0',
        help='What the kernel of [compute] image_ref needs on its command '
             'line to boot and to write to the console that '
             '"openstack console log show" shows. An override of '
             'os_command_line replaces the whole command line; the default '
             'is what Nova gives otherwise. Matters only when the image has '
             'a kernel of its own (kernel_id).'),
    cfg.DictOpt(
        'guest_overrides', default={},
        help='Overrides that change what a guest of [compute] image_ref '
             'writes to its console, as NAME:VALUE; for example '
             'hw_disk_bus:scsi,hw_scsi_model:virtio-scsi. Empty: the tests '
             'that look for it are skipped.'),
    cfg.StrOpt(
        'guest_pattern', default=r'\[sda\]',
        help='Regular expression of what the guest writes to its console '
             'only with guest_overrides.'),
    cfg.StrOpt(
        'guest_pattern_without', default=r'\[vda\]',
        help='Regular expression of what the guest writes to its console '
             'only without guest_overrides.'),
    cfg.BoolOpt(
        'rebuild', default=True,
        help='Whether every compute host runs the compute part of the '
             'extension, without which Nova refuses to rebuild a server '
             'whose overrides change.'),
]


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group, for sample files and documentation."""
    return [(GROUP.name, OPTIONS), ('service_available', [AVAILABLE])]
