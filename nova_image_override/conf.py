"""Options of the group ``[image_override]`` in nova.conf."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'image_override', title='Boot-time override of image properties',
    help='Which image properties tenants may override when they create a '
         'server (image_props_override). Read by nova-api at start.')

_ENTRY = """
Each entry is ``NAME`` or ``NAME=VALUE|VALUE...``; both parts are shell-style
globs (``*``, ``?``, ``[abc]``) matched against the whole name and the whole
value. Names are those of nova.objects.ImageMetaProps; ``hw_numa_cpus`` covers
``hw_numa_cpus.0`` and so on, ``traits_required`` covers ``trait:*``. A legacy
name or a malformed entry stops nova-api at start. A name that this Nova does
not know is logged as a warning, because lists outlive upgrades.
"""

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'allowed_properties', default=[],
        help='Image properties that may be overridden.\n' + _ENTRY + """
The default allows nothing: the extension does nothing until you set this.
Start with what your tenants ask for, for example::

    allowed_properties = os_command_line, hw_boot_menu, hw_disk_bus=virtio|scsi

Properties that steer scheduling (``img_hv_type``, ``hw_architecture``,
``trait:*``, and any property that your aggregates isolate by) let a tenant
choose or leave hosts; NUMA, pinning and huge page properties let a tenant ask
for what otherwise only flavors give. Changes need a restart of nova-api.
"""),
    cfg.ListOpt(
        'denied_properties', default=[],
        help='Image properties that must not be overridden.\n' + _ENTRY + """
Wins over ``allowed_properties``: use it to take single names or values out of
a glob there, for example::

    allowed_properties = hw_*
    denied_properties = hw_machine_type, hw_mem_page_size=large|any
"""),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on CONF."""
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return the options (entry point ``oslo.config.opts``)."""
    return [(GROUP, OPTS)]
