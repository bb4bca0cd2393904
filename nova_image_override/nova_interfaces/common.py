"""Names of Nova used by nova-api, nova-compute and the commands."""

from collections.abc import Mapping

from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import called, Shaped

#: Needed by all of them.
INTERFACES: tuple[interface.Interface, ...] = (
    interface.REGISTRATION,
    Shaped('nova.objects.image_meta:ImageMetaProps', 'NUMA_NODES_MAX',
           'How many hw_numa_cpus.N and hw_numa_mem.N there can be.',
           'an integer', lambda value: isinstance(value, int)),
    Shaped('nova.objects.image_meta:ImageMetaProps', '_legacy_property_map',
           'Refuses a legacy name with the name to use.',
           'a mapping of names to names',
           lambda value: isinstance(value, Mapping) and all(
               isinstance(each, str) for pair in value.items()
               for each in pair)),
    *called('nova.utils', 'How Nova stores image properties with a server.',
            get_image_from_system_metadata='system_meta',
            safe_truncate='value, length'),
)

_VERSIONS = 'compute_microversion is a microversion that Nova has.'

#: Needed to read the deployer's rules and to check against them.
RULES: tuple[interface.Interface, ...] = (
    *called('nova.policies', "Our rules can refer to Nova's.", list_rules=''),
    *called('nova.context:RequestContext', 'A rule looks at the caller.',
            to_policy_values=''),
    *called('nova.api.openstack.api_version_request', _VERSIONS,
            APIVersionRequest='version_string', max_api_version='',
            min_api_version=''),
    *called('nova.api.openstack.api_version_request:APIVersionRequest',
            _VERSIONS, get_string='', matches='min_version, max_version'),
)

#: Needed by the operator's commands.
COMMANDS: tuple[interface.Interface, ...] = (
    *called('nova.config', 'Reads nova.conf as Nova does.',
            parse_args='argv, configure_db=, init_rpc='),
    *called('nova.context', 'Reads each cell; tries rules as a user.',
            RequestContext='user_id=, project_id=, roles=',
            get_admin_context='', target_cell='context, cell_mapping'),
    *called('nova.api.wsgi', 'Finds api-paste.ini as nova-api does.',
            Loader='config_path'),
    *called('nova.exception', 'No api-paste.ini; no such server.',
            ConfigNotFound='', MarkerNotFound=''),
    *called('nova.objects:CellMappingList', 'The cells.', get_all='context'),
    *called('nova.objects:ComputeNodeList', 'Their compute part and driver.',
            get_all='context'),
    *called('nova.objects:FlavorList', 'The flavors of presets.',
            get_all='context'),
    *called('nova.objects:InstanceList', 'The servers of a cell.',
            get_by_filters='context, filters, limit=, marker=, '
                           'expected_attrs=, sort_keys=, sort_dirs='),
)
