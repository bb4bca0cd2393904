"""Names of Nova used by nova-api, nova-compute and the commands."""

from collections.abc import Mapping
from typing import Any

from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import called, fields, Shaped


def _maps_names(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(each, str) for pair in value.items() for each in pair)


#: Needed by all of them.
INTERFACES: tuple[interface.Interface, ...] = (
    interface.REGISTRATION,
    *fields('nova.objects:Instance', 'system_metadata'),
    Shaped('nova.objects.image_meta:ImageMetaProps', 'NUMA_NODES_MAX',
           'an integer', lambda value: isinstance(value, int)),
    Shaped('nova.objects.image_meta:ImageMetaProps', '_legacy_property_map',
           'a mapping of names to names', _maps_names),
    *called('nova.utils', get_image_from_system_metadata='system_meta',
            instance_sys_meta='instance'),
)

#: Needed to read the deployer's rules and to check against them.
RULES: tuple[interface.Interface, ...] = (
    *called('nova.policies', list_rules=''),
    *called('nova.context:RequestContext', to_policy_values=''),
    *called('nova.api.openstack.api_version_request',
            APIVersionRequest='version_string', max_api_version='',
            min_api_version=''),
    *called('nova.api.openstack.api_version_request:APIVersionRequest',
            get_string='', matches='min_version, max_version'),
)

#: Needed by the operator's commands.
COMMANDS: tuple[interface.Interface, ...] = (
    *INTERFACES,
    *RULES,
    *called('nova.config', parse_args='argv, configure_db=, init_rpc='),
    *called('nova.context', RequestContext='user_id=, project_id=, roles=',
            get_admin_context='', target_cell='context, cell_mapping'),
    *called('nova.objects:CellMappingList', get_all='context'),
    *fields('nova.objects:CellMapping', 'name', 'uuid'),
    *called('nova.objects:ComputeNodeList', get_all='context'),
    *called('nova.objects:FlavorList', get_all='context'),
    *fields('nova.objects:ComputeNode', 'host', 'hypervisor_hostname', 'stats'),
    *called('nova.objects:InstanceList',
            get_by_filters='context, filters, limit=, marker=, '
                           'expected_attrs=, sort_keys=, sort_dirs='),
    *fields('nova.objects:Instance', 'project_id', 'user_id', 'uuid'),
)
