"""Names of Nova used by the API part."""
from __future__ import annotations

import functools
from typing import Any

from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import called, fields
from nova_image_override.properties import book

_ROUTES = 'nova.api.openstack.compute.routes'
_CONTROLLER = 'nova.api.openstack.compute.servers:ServersController'
_METADATA = ('nova.api.openstack.compute.server_metadata:'
             'ServerMetadataController')

#: Function of nova.virt.hardware that checks flavor and image properties -> the
#: properties that it reads.
CHECKED: dict[str, list[str]] = {}
for _record in book.RECORDS.values():
    for _function in _record.checked_by:
        CHECKED.setdefault(_function, []).append(_record.name)

#: The same, as they are called. Some came with their image property.
CONSTRAINTS: tuple[interface.Called, ...] = tuple(
    interface.Called('nova.virt.hardware', function, 'flavor, image_meta',
                     image_property=fields[0])
    for function, fields in sorted(CHECKED.items()))

STATELESS_FIRMWARE = interface.Called(
    'nova.virt.hardware', 'get_stateless_firmware_constraint', 'image_meta',
    image_property='hw_firmware_stateless')

#: Adds the actions of another controller to a resource.
REGISTER_ACTIONS = interface.Called(
    'nova.api.openstack.wsgi:Resource', 'register_subcontroller_actions',
    '_', formerly='register_actions')


class RebuildAction(interface.Interface):
    """The method for a rebuild, which each release names differently."""

    expected = 'names the method of rebuild, called: (req=, id=, body=)'

    def _difference(self, owner: Any) -> str | None:
        method = getattr(owner, self.name).get('rebuild')
        if method is None:
            return f'has no rebuild in {self}'
        return interface.Called(
            self.owner, method, 'req=, id=, body=').problem()


class ServersRoutes(interface.Interface):
    """The routes; we serve those of servers with our controllers."""

    expected = (
        'routes (path, path) or (path, {method: [factory, action]}); servers '
        'by functools.partial(_create_controller, controller, action '
        'controllers)')

    def _difference(self, owner: Any) -> str | None:
        try:
            factories = {
                path: [factory for factory, action in methods.values()]
                for path, methods in getattr(owner, self.name)
                if not isinstance(methods, str)}
        except (TypeError, ValueError):
            return f'has another {self}, not {self.expected}'
        for path, is_ours in (
                *((f'/servers{each}', makes_servers)
                  for each in ('', '/{id}', '/{id}/action')),
                *((f'/servers/{{server_id}}/metadata{each}', makes_metadata)
                  for each in ('', '/{id}'))):
            if path not in factories:
                return f'has no {path} in {self}'
            if not all(map(is_ours, factories[path])):
                return f'makes the resource of {path} in another way'
        return None


def makes_servers(maker: Any, controller: str = _CONTROLLER) -> bool:
    """Return whether a controller of ``ROUTE_LIST`` makes a servers resource.

    :param maker: what Nova's router calls to make a resource
    :param controller: of another resource
    """
    return (
        isinstance(maker, functools.partial)
        and maker.func is interface.resolve(f'{_ROUTES}:_create_controller')
        and len(maker.args) == 2 and not maker.keywords
        and maker.args[0] is interface.resolve(controller))


def makes_metadata(maker: Any) -> bool:
    """Return whether it makes the resource of a server's metadata."""
    return makes_servers(maker, _METADATA)


INTERFACES: tuple[interface.Interface, ...] = (
    *common.INTERFACES,
    *common.RULES,
    # The resource: router.py, servers.py, discovery.py, faults.py,
    # client_compatibility.py.
    ServersRoutes(_ROUTES, 'ROUTE_LIST'),
    RebuildAction(_CONTROLLER, 'wsgi_actions'),
    *called('nova.api.wsgi:Router', __init__='mapper'),
    *called('nova.api.openstack', ProjectMapper=''),
    *called('nova.api.openstack:ProjectMapper',
            create_route='path, method, controller, action'),
    *called('nova.api.openstack.wsgi', Fault='exception', Request='_',
            Resource='controller', action='name', expected_errors='errors',
            response='code'),
    REGISTER_ACTIONS,
    *called('nova.api.openstack.wsgi:Request', is_legacy_v2='',
            set_api_version_request=''),
    *called('nova.api.openstack.api_version_request', is_supported='req, _'),
    interface.Shaped(
        'nova.api.validation.extra_specs.validators', 'VALIDATORS',
        'a mapping of extra specs', lambda value: 'hw:cpu_policy' in value),
    # compute_api.py and change/
    *called('nova.compute.api:API', __init__='',
            _validate_numa_rebuild='instance, image, flavor',
            _record_action_start='context, instance, action'),
    *called('nova.compute.utils', get_root_bdm='context, instance',
            EventReporter='context, event_name, host, _'),
    *called('nova.block_device', new_format_is_ephemeral='bdm',
            generate_device_name='prefix, index',
            new_format_is_swap='bdm', prepend_dev='device_name',
            strip_dev='device_name'),
    *called('nova.scheduler.client.query', SchedulerQueryClient=''),
    *called('nova.scheduler.client.query:SchedulerQueryClient',
            select_destinations='context, spec_obj, instance_uuids, '
                                'return_objects=, return_alternates='),
    *called('nova.scheduler.client.report', report_client_singleton=''),
    *called('nova.scheduler.client.report:SchedulerReportClient',
            get_allocs_for_consumer='context, consumer',
            get_provider_traits='context, rp_uuid'),
    *called('nova.scheduler.utils:ResourceRequest',
            from_request_spec='request_spec', get_request_group='ident'),
    # guest/
    *CONSTRAINTS,
    *called('nova.virt.hardware',
            get_cpu_policy_constraint='flavor, image_meta',
            get_cpu_thread_policy_constraint='flavor, image_meta',
            get_cpu_topology_constraints='flavor, image_meta',
            get_ephemeral_encryption_constraint='flavor, image_meta',
            get_ephemeral_encryption_format='flavor, image_meta',
            get_locked_memory_constraint='flavor, image_meta'),
    STATELESS_FIRMWARE,
    *called('nova.exception',
            InstanceUpdateConflict='instance_uuid=, expected=, actual=',
            ImageVCPULimitsRangeImpossible='vcpus=, sockets=, cores=, '
                                           'threads=',
            RequestedVRamTooHigh='req_vram=, max_vram='),
    *called('nova.exception:NovaException', format_message=''),
    # Nova's objects.
    *called('nova.objects', Destination='cell=',
            RequestSpec='flavor=, image='),
    *called('nova.objects.base', obj_equal_prims='obj_1, obj_2'),
    *called('nova.objects:BlockDeviceMapping', save=''),
    *called('nova.objects:ComputeNode',
            get_by_host_and_nodename='context, host, nodename'),
    *called('nova.objects:ComputeNodeList', get_all='context',
            get_all_by_host='context, host'),
    *called('nova.objects:ImageMeta', from_dict='image_meta'),
    *called('nova.objects:ImageMetaProps', from_dict='image_props'),
    *called('nova.objects:Instance',
            get_by_uuid='context, uuid, expected_attrs=', get_bdms='',
            get_flavor='', refresh='',
            save='expected_vm_state=, expected_task_state='),
    *called('nova.objects:InstanceActionList',
            get_by_instance_uuid='context, instance_uuid, limit='),
    *called('nova.objects:InstanceMapping',
            get_by_instance_uuid='context, instance_uuid'),
    *called('nova.objects:RequestSpec',
            ensure_network_information='instance',
            ensure_project_and_user_id='instance',
            get_by_instance_uuid='context, instance_uuid', save=''),
    *fields('nova.objects:BlockDeviceMapping', 'boot_index', 'device_name',
            'device_type', 'disk_bus'),
    *fields('nova.objects:ComputeNode', 'hypervisor_type', 'stats'),
    *fields('nova.objects:Flavor', 'extra_specs', 'memory_mb', 'vcpus'),
    *fields('nova.objects:ImageMeta', 'id', 'properties', 'updated_at'),
    *fields('nova.objects:Instance', 'auto_disk_config', 'config_drive',
            'default_ephemeral_device', 'default_swap_device', 'host',
            'image_meta', 'image_ref', 'instance_type_id', 'locked', 'node',
            'numa_topology', 'power_state', 'progress', 'root_device_name',
            'system_metadata', 'task_state', 'updated_at', 'uuid',
            'vm_state'),
    *fields('nova.objects:InstanceAction', 'action'),
    *fields('nova.objects:InstanceMapping', 'cell_mapping'),
    *fields('nova.objects:InstanceNUMACell', 'cpu_policy',
            'cpu_thread_policy', 'cpuset', 'id', 'memory', 'pagesize',
            'pcpuset'),
    *fields('nova.objects:InstanceNUMATopology', 'cells',
            'emulator_threads_policy'),
    *fields('nova.objects:RequestGroup', 'forbidden_traits', 'required_traits'),
    *fields('nova.objects:RequestSpec', 'force_hosts', 'force_nodes', 'id',
            'image', 'numa_topology', 'requested_destination',
            'scheduler_hints'),
)


def verify() -> None:
    """Check every name that nova-api needs against the running release.

    :raises nova_image_override.errors.UnsupportedNova: naming each that has a
        different shape
    """
    interface.verify(INTERFACES)
    compute_api = interface.load('nova_image_override.api.compute_api')
    faults = interface.load('nova_image_override.api.faults')
    servers = interface.load('nova_image_override.api.servers')
    held = interface.load('nova_image_override.api.change.held_instance')
    interface.verify_overridden(
        compute_api.API, compute_api.ComputeTaskAPI, faults.OverrideFault,
        faults.Resource, held.Instance, servers.ServersController,
        servers.ViewBuilder)
