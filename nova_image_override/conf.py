"""Options of the group ``[image_override]`` in nova.conf."""

from oslo_config import cfg
from oslo_config import types

from nova_image_override.properties.book import vocabulary

GROUP = cfg.OptGroup(
    'image_override', title='Boot-time override of image properties',
    help='Which image properties tenants may override when they create a '
         'server (image_props_override). Read by nova-api at start: changes '
         'need a restart.')

_ENTRY = """
Each entry is ``NAME`` or ``NAME=VALUE|VALUE...``; both parts are shell-style
globs (``*``, ``?``, ``[abc]``) matched against the whole name and value. Names
are those of nova.objects.ImageMetaProps; ``hw_numa_cpus`` covers
``hw_numa_cpus.0`` and so on, ``traits_required`` covers ``trait:*``. A legacy
name or a malformed entry stops nova-api at start; a name that this Nova does
not know is logged as a warning, because lists outlive upgrades.
"""

_COPY = """
Paths are absolute, and files readable by the user that nova-api runs as. One
that is missing, unreadable, empty or malformed stops nova-api at start. Copy
again whenever Glance's files change.
"""

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'allowed_properties', default=[],
        help='Image properties that may be overridden.\n' + _ENTRY + """
The default allows nothing. Start with what tenants ask for, for example::

    allowed_properties = os_command_line, hw_disk_bus=virtio|scsi,
        hw_scsi_model=virtio-scsi

Properties that steer scheduling (``img_hv_type``, ``hw_architecture``,
``trait:*``, and any property that your aggregates isolate by) let a tenant
choose or leave hosts; NUMA, pinning and huge page properties let a tenant ask
for what otherwise only flavors give.
"""),
    cfg.ListOpt(
        'denied_properties', default=[],
        help='Image properties that must not be overridden.\n' + _ENTRY + """
Wins over ``allowed_properties``: it takes names or values out of a glob::

    allowed_properties = hw_*
    denied_properties = hw_machine_type, hw_mem_page_size=large|any
"""),
    cfg.StrOpt(
        'presets_file',
        help="""
A file of presets: named sets of overrides, which a request asks for by name
(``image_props_override_preset``). For example::

    windows:
      description: Windows 11 and Server 2025, with Secure Boot and a TPM
      properties:
        hw_firmware_type: uefi
        os_secure_boot: required
        hw_tpm_version: '2.0'
        os_type: windows
      flavors: [m1.large]

The flavors are shown to users, and not enforced. What a preset gives a property
needs no entry in ``allowed_properties``; all other rules apply. Who may use one
is decided by the policy
``os_compute_api:servers:create:image_props_override:preset:NAME`` where
policy.yaml defines it.

The path is absolute, and the file readable by the user that nova-api runs as.
One that is missing, unreadable, empty or malformed stops nova-api at start. A
change counts at once, without a restart; a file that cannot be used then leaves
what was read before in force, and nova-api logs an error.
"""),
    cfg.ListOpt(
        'glance_image_import_files', default=[],
        help="""
Copies of Glance's configuration files that configure injection on import
(``inject_image_metadata``), in the order in which Glance reads them: an option
in a later file wins.

With them set, whoever gets a property injected into the images that they
import cannot override it at boot, in any of its names; without them an
override silently undoes what you inject. Start with the two that Glance reads::

    glance_image_import_files = /etc/nova/glance/glance-image-import.conf, \
/etc/nova/glance/glance-api.conf

They commonly hold passwords and are closed to Nova: copy only the groups
``[image_import_opts]`` and ``[inject_metadata_properties]``.
""" + _COPY),
    cfg.StrOpt(
        'property_protection_file',
        help="""
A copy of the file that Glance's ``property_protection_file`` names.

With it set, overriding a property needs what Glance demands of the same user:
``create`` where the image lacks the property, ``update`` where it has it,
``delete`` to remove it, in each of the property's names; the user's own roles
count, a service token's do not. Without it a tenant can change at boot what
only an administrator may set on an image. A property that no section matches
is closed to everybody, in Glance and here. An expression that could take too
long to match stops nova-api at start.
""" + _COPY),
    cfg.StrOpt(
        'property_protection_rule_format', default='roles',
        choices=[('roles', 'permissions are lists of roles'),
                 ('policies', 'permissions are names of policies')],
        help="""
What Glance's ``property_protection_rule_format`` says. With the wrong one,
nearly everything is refused.
"""),
    cfg.StrOpt(
        'property_protection_policy_file',
        help="""
A copy of Glance's policy.yaml, which defines the policies that the protections
file names. Only for ``property_protection_rule_format = policies``.

A policy that is not defined in it denies everybody, and is logged as a warning
at start. (In Glance itself such a policy permits everybody: check the file
with ``nova-image-override check``.) Of the rules that Glance defines in code,
only ``default``, ``context_is_admin`` and ``service_api`` are known.
""" + _COPY),
    cfg.ListOpt(
        'virt_drivers', default=['libvirt'],
        item_type=types.String(choices=list(vocabulary.DRIVERS)),
        help=f"""
The virt drivers of the cloud's hosts, in all cells:
{', '.join(vocabulary.DRIVERS)}. For example::

    virt_drivers = libvirt, ironic

An override that none of them acts on is refused (``no_effect``), unless the
scheduler or nova-api acts on the property; what is always refused is not
offered, either.

A driver that is missing here has its properties refused; one too many lets
overrides through that do nothing. ``nova-image-override check
--compute-nodes`` compares the list with the hosts. Leave it empty to refuse
nothing for want of a driver: for hosts with another driver, or where host
aggregates name properties that no driver acts on (the filter
``AggregateImagePropertiesIsolation``). Another name stops nova-api at start.
"""),
    cfg.BoolOpt(
        'accept_scheduler_hint', default=False,
        help="""
Whether a create request may carry overrides as scheduler hints.

For clients that can send neither the parameter nor the header entry
(Terraform, Horizon, the ``server`` module of Ansible): the hint
``image_props_override``, an object or one string of JSON, or
``image_props_override:<property>`` with one value each; also by the legacy
``/v2``. They are checked as the parameter is, in the version that the header
names or else in the newest, and neither the scheduler nor Nova's database sees
them. When this is off, hints of these names are refused.
"""),
    cfg.BoolOpt(
        'accept_server_metadata', default=False,
        help="""
Whether a create request may carry overrides as server metadata.

For clients that can send neither the parameter nor a scheduler hint, but
metadata (installers of Kubernetes clusters): the keys
``image_props_override_preset``, with the name of a preset, and
``image_props_override:<property>``, with one value each. They are checked as
the parameter is, and taken out of the metadata before Nova stores it. When
this is off, keys of these names are refused; metadata of a server that exists
never takes them.
"""),
    cfg.StrOpt(
        'compute_microversion', sample_default='2.96',
        help="""
The compute microversion from which the header entry is not needed, for clients
that can send only the compute microversion in the header.

A request in this one, or a newer one, that does not name
``image-props-override`` in its header is taken as if it named its newest
version: answers show it ``image_props_override`` in servers, which a client
that forbids keys that it does not know (Tempest) refuses. Unset, the entry is
always needed. A microversion that this Nova does not have stops nova-api at
start.
"""),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on CONF."""
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return the options (entry point ``oslo.config.opts``)."""
    return [(GROUP, OPTS)]
