"""Names of Nova used by the operator's commands."""

from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import called, fields

INTERFACES: tuple[interface.Interface, ...] = (
    *common.INTERFACES,
    *common.RULES,
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
