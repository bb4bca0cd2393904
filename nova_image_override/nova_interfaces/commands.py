"""What the operator's commands use of Nova."""

from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import called
from nova_image_override.nova_interfaces.interface import instance_attributes
from nova_image_override.nova_interfaces.interface import names

INTERFACES: tuple[interface.Interface, ...] = (
    *common.INTERFACES,
    *common.RULES,
    *called('nova.config', parse_args='argv, configure_db=, init_rpc='),
    *called('nova.context', RequestContext='user_id=, project_id=, roles=',
            get_admin_context='', target_cell='context, cell_mapping'),
    *names('nova.exception', 'InstanceMappingNotFound'),
    *names('nova.objects', 'CellMappingList', 'ComputeNodeList',
           'InstanceMapping'),
    *called('nova.objects:CellMappingList', get_all='context'),
    *instance_attributes('nova.objects:CellMapping', 'name', 'uuid'),
    *called('nova.objects:ComputeNodeList', get_all='context'),
    *instance_attributes('nova.objects:ComputeNode', 'host',
                         'hypervisor_hostname', 'hypervisor_type', 'stats'),
    *called('nova.objects', Flavor='name=, vcpus=, memory_mb=, root_gb=, '
                                   'ephemeral_gb=, swap=, extra_specs='),
    *instance_attributes('nova.objects:Flavor', 'name'),
    *called('nova.objects:InstanceMapping',
            get_by_instance_uuid='context, instance_uuid'),
    *instance_attributes('nova.objects:InstanceMapping', 'cell_mapping'),
    # server_pages.py
    *called('nova.objects', Instance='uuid=, project_id=, user_id=, '
                                     'system_metadata='),
    *names('nova.db.main.api', 'pick_context_manager_reader'),
    *names('nova.db.main.models', 'Instance', 'InstanceSystemMetadata'),
    *names('nova.db.main.models:Instance', 'deleted', 'hidden', 'id',
           'project_id', 'user_id', 'uuid'),
    *names('nova.db.main.models:InstanceSystemMetadata', 'deleted',
           'instance_uuid', 'key', 'value'),
    *called('nova.version', version_string=''),
)


def verify() -> None:
    """Check every name that the commands use against the running release.

    :raises nova_image_override.errors.UnsupportedNova: naming each that has a
        different shape
    """
    interface.verify(INTERFACES)
