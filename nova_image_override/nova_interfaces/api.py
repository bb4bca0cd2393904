"""What the API part uses of nova-api."""

import functools
import typing

from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import Called
from nova_image_override.nova_interfaces.interface import called
from nova_image_override.nova_interfaces.interface import instance_attributes
from nova_image_override.nova_interfaces.interface import Interface
from nova_image_override.nova_interfaces.interface import names
from nova_image_override.nova_interfaces.interface import Overridden
from nova_image_override.nova_interfaces.interface import overridden

_ROUTES = 'nova.api.openstack.compute.routes'
_CONTROLLER = 'nova.api.openstack.compute.servers:ServersController'

#: Functions of nova.virt.hardware that check (flavor, image_meta).
CONSTRAINTS: tuple[Called, ...] = (
    *(Called('nova.virt.hardware', name, 'flavor, image_meta') for name in (
        'get_maxphysaddr_mode',
        'get_mem_encryption_constraint',
        'get_number_of_serial_ports',
        'get_packed_virtqueue_constraint',
        'get_pci_numa_policy_constraint',
        'get_pmu_constraint',
        'get_realtime_cpu_constraint',
        'get_secure_boot_constraint',
        'get_vif_multiqueue_constraint',
        'get_vtpm_constraint',
        'numa_get_constraints')),
    # Nova 31 has neither these image properties nor the functions.
    *(Called('nova.virt.hardware', name, 'flavor, image_meta',
             image_property=image_property) for name, image_property in (
        ('get_redirected_usb_ports', 'hw_redirected_usb_ports'),
        ('get_sound_model', 'hw_sound_model'),
        ('get_usb_model', 'hw_usb_model'))),
)


class RebuildAction(Interface):
    """The method for a rebuild, which each release names differently."""

    @property
    def expected(self) -> str:
        """What is expected of it, in words."""
        return 'names the method of rebuild, overridden: (self, req, id, body)'

    def _difference(self, owner: typing.Any) -> str | None:
        method = getattr(owner, self.name).get('rebuild')
        if method is None:
            return f'has no rebuild in {self}'
        return Overridden(
            self.owner, method, 'self, req, id, body').problem()


class ServersRoutes(Interface):
    """The routes; we serve those of servers with our controllers."""

    @property
    def expected(self) -> str:
        """What is expected of it, in words."""
        return ('routes (path, path) or (path, {method: [factory, action]}); '
                'servers by functools.partial(_create_controller, controller, '
                'action controllers with a compute_api)')

    def _difference(self, owner: typing.Any) -> str | None:
        try:
            factories = {
                path: [factory for factory, action in methods.values()]
                for path, methods in getattr(owner, self.name)
                if not isinstance(methods, str)}
        except (TypeError, ValueError):
            return f'has another {self}, not {self.expected}'
        for path in ('/servers', '/servers/{id}', '/servers/{id}/action'):
            if path not in factories:
                return f'has no {path} in {self}'
        for path, makers in factories.items():
            for maker in makers:
                if makes_servers(maker):
                    for action in maker.args[1]:
                        if not interface.sets(action, 'compute_api'):
                            return f'has no {action.__name__}.compute_api'
                elif path in (
                        '/servers', '/servers/{id}', '/servers/{id}/action'):
                    return f'makes the resource of {path} in another way'
        return None


def makes_servers(maker: typing.Any) -> bool:
    """Return whether a controller of ``ROUTE_LIST`` makes a servers resource.

    :param maker: what Nova's router calls to make a resource
    """
    return (
        isinstance(maker, functools.partial)
        and maker.func is interface.resolve(f'{_ROUTES}:_create_controller')
        and len(maker.args) == 2 and not maker.keywords
        and maker.args[0] is interface.resolve(_CONTROLLER))


INTERFACES: tuple[Interface, ...] = (
    *common.INTERFACES,
    *common.RULES,
    # router.py
    *names(_ROUTES, 'APIRouterV21', '_create_controller'),
    ServersRoutes(_ROUTES, 'ROUTE_LIST'),
    *overridden(f'{_ROUTES}:APIRouterV21', __init__='self, ...',
                __call__='self, req', factory='global_config, ...'),
    *instance_attributes(f'{_ROUTES}:APIRouterV21', '_router', 'map'),
    *called('nova.api.wsgi:Router', __init__='mapper'),
    *names('nova.api.wsgi', 'Request', 'Router'),
    *called('nova.api.openstack', ProjectMapper=''),
    *called('nova.api.openstack:ProjectMapper',
            create_route='path, method, controller, action'),
    # Controllers: servers.py, discovery.py, faults.py,
    # client_compatibility.py.
    *names('nova.api.openstack.wsgi', 'Controller', 'ResponseObject'),
    *called('nova.api.openstack.wsgi', Fault='exception', Request='_',
            Resource='controller', action='name', expected_errors='errors',
            response='code'),
    *instance_attributes('nova.api.openstack.wsgi:ResponseObject', 'obj'),
    *overridden('nova.api.openstack.wsgi:Fault', __call__='self, req'),
    *instance_attributes('nova.api.openstack.wsgi:Fault', 'wrapped_exc'),
    *overridden('nova.api.openstack.wsgi:Resource',
                dispatch='self, method, request, action_args'),
    *called('nova.api.openstack.wsgi:Resource',
            register_subcontroller_actions='sub_controller'),
    *called('nova.api.openstack.wsgi:Request', is_legacy_v2='',
            set_api_version_request=''),
    *instance_attributes('nova.api.openstack.wsgi:Request',
                         'api_version_request'),
    *called('nova.api.openstack.api_version_request', is_supported='req, _'),
    *names('nova.api.openstack.compute.servers', 'ServersController'),
    *overridden(_CONTROLLER, __init__='self', create='self, req, body',
                show='self, req, id', index='self, req', detail='self, req',
                update='self, req, id, body'),
    RebuildAction(_CONTROLLER, 'wsgi_actions'),
    *names(_CONTROLLER, '_view_builder_class'),
    *instance_attributes(_CONTROLLER, 'compute_api'),
    *names('nova.api.openstack.compute.views.servers', 'ViewBuilder'),
    *overridden('nova.api.openstack.compute.views.servers:ViewBuilder',
                show='self, request, instance, ...',
                _get_next_link='self, request, ...'),
    # compute_api.py
    *names('nova.compute.api', 'API'),
    *called('nova.compute.api:API', __init__=''),
    *overridden(
        'nova.compute.api:API',
        get='self, context, instance_id, expected_attrs, ...',
        get_all='self, context, search_opts, limit, marker, ...',
        create='self, context, ...',
        _get_image='self, context, image_href',
        _handle_kernel_and_ramdisk='self, context, kernel_id, ramdisk_id, '
                                   'image',
        _validate_and_build_base_options='self, context, flavor, boot_meta, '
                                         '...',
        _populate_instance_for_create='self, context, instance, image, ...',
        _record_action_start='self, context, instance, action, ...',
        rebuild='self, context, instance, image_href, ...',
        update_instance='self, context, instance, updates',
        rescue='self, context, instance, ...',
        resize='self, context, instance, ...',
        _check_quota_for_upsize='context, instance, current_flavor, '
                                'new_flavor, is_bfv, is_revert',
        _allow_cross_cell_resize='self, context, instance, ...'),
    *called('nova.compute.api:API',
            _validate_numa_rebuild='instance, image, flavor'),
    *instance_attributes('nova.compute.api:API', 'compute_task_api', 'host',
                         'volume_api'),
    *names('nova.compute.instance_actions', 'REBUILD'),
    *names('nova.conductor', 'ComputeTaskAPI'),
    *overridden('nova.conductor:ComputeTaskAPI',
                rebuild_instance='self, context, instance, orig_image_ref, '
                                 'image_ref, injected_files, new_pass, '
                                 'orig_sys_metadata, bdms, ...'),
    *called('nova.compute.utils', get_root_bdm='context, instance',
            EventReporter='context, event_name, host, _'),
    # update.py
    *instance_attributes('nova.context:RequestContext', 'is_admin'),
    *names('nova.compute.power_state', 'RUNNING'),
    *names('nova.compute.task_states', 'RESIZE_PREP'),
    *names('nova.compute.vm_states', 'BUILDING', 'RESCUED', 'RESIZED',
           'SHELVED', 'SHELVED_OFFLOADED', 'STOPPED'),
    # disk_buses.py
    *called('nova.block_device', prepend_dev='device_name',
            strip_dev='device_name'),
    *called('nova.virt.libvirt.blockinfo',
            find_disk_dev_for_disk_bus='mapping, bus, assigned_devices',
            is_disk_bus_valid_for_virt='virt_type, disk_bus'),
    *called('nova.objects:BlockDeviceMapping', save=''),
    *called('nova.objects:BlockDeviceMappingList',
            get_by_instance_uuid='context, instance_uuid'),
    *instance_attributes('nova.objects:BlockDeviceMapping', 'boot_index',
                         'device_name', 'device_type', 'disk_bus', 'id'),
    # host_scheduling.py
    *called('nova.scheduler.client.query', SchedulerQueryClient=''),
    *called('nova.scheduler.client.query:SchedulerQueryClient',
            select_destinations='context, spec_obj, instance_uuids, '
                                'return_objects=, return_alternates='),
    *called('nova.scheduler.client.report', report_client_singleton=''),
    *called('nova.scheduler.client.report:SchedulerReportClient',
            get_allocs_for_consumer='context, consumer',
            get_provider_traits='context, rp_uuid'),
    *names('nova.scheduler.utils', 'ResourceRequest'),
    *called('nova.scheduler.utils:ResourceRequest',
            from_request_spec='request_spec', get_request_group='ident'),
    # flavor/
    *CONSTRAINTS,
    *called('nova.virt.hardware',
            get_cpu_policy_constraint='flavor, image_meta',
            get_cpu_thread_policy_constraint='flavor, image_meta',
            get_cpu_topology_constraints='flavor, image_meta',
            get_ephemeral_encryption_constraint='flavor, image_meta',
            get_ephemeral_encryption_format='flavor, image_meta',
            get_locked_memory_constraint='flavor, image_meta',
            get_stateless_firmware_constraint='image_meta',
            is_realtime_enabled='flavor'),
    *names('nova.exception', 'ComputeHostNotFound',
           'ConsumerAllocationRetrievalFailed',
           'ImageNUMATopologyMemoryOutOfRange', 'InstanceUpdateConflict',
           'NoValidHost',
           'NovaException', 'ResourceProviderTraitRetrievalFailed',
           'TooManyDiskDevices'),
    *called('nova.exception', Invalid='message',
            ImageVCPULimitsRangeImpossible='vcpus=, sockets=, cores=, '
                                           'threads=',
            RequestedVRamTooHigh='req_vram=, max_vram='),
    *called('nova.exception:NovaException', format_message=''),
    # check.py
    *names('nova.virt.hardware', 'MEMPAGES_ANY', 'MEMPAGES_LARGE',
           'MEMPAGES_SMALL'),
    *instance_attributes('nova.objects:InstanceNUMATopology', 'cells',
                         'emulator_threads_policy'),
    *instance_attributes('nova.objects:InstanceNUMACell', 'cpu_policy',
                         'cpu_thread_policy', 'cpuset', 'id', 'memory',
                         'pagesize', 'pcpuset'),
    # server_filter.py
    *names('nova.db.main.models', 'InstanceSystemMetadata'),
    *names('nova.db.main.models:InstanceSystemMetadata', 'key', 'value'),
    *names('nova.objects', 'BuildRequestList'),
    *called('nova.objects', InstanceList='objects='),
    *called('nova.objects:BuildRequestList', get_all='context'),
    *instance_attributes('nova.objects:BuildRequest', 'instance'),
    # Nova's objects.
    *names('nova.objects', 'BlockDeviceMapping', 'BlockDeviceMappingList',
           'ComputeNode', 'ComputeNodeList', 'Flavor', 'ImageMeta',
           'ImageMetaProps', 'InstanceMapping'),
    *called('nova.objects', Destination='cell=',
            RequestSpec='flavor=, image='),
    *instance_attributes('nova.objects:ImageMeta', 'id', 'updated_at'),
    *instance_attributes('nova.objects:ImageMetaProps', 'fields'),
    *called('nova.objects:InstanceMapping',
            get_by_instance_uuid='context, instance_uuid'),
    *instance_attributes('nova.objects:InstanceMapping', 'cell_mapping'),
    *names('nova.objects.fields', 'Architecture', 'FirmwareType', 'HVType',
           'InputBus', 'SecureBoot', 'VideoModel'),
    *names('nova.objects.fields:Architecture', 'AARCH64', 'I686', 'X86_64'),
    *names('nova.objects.fields:FirmwareType', 'UEFI'),
    *names('nova.objects.fields:HVType', 'VMWARE'),
    *names('nova.objects.fields:InputBus', 'USB'),
    *names('nova.objects.fields:SecureBoot', 'DISABLED'),
    *names('nova.objects.fields:VideoModel', 'NONE'),
    *called('nova.objects:ComputeNode',
            get_by_host_and_nodename='context, host, nodename'),
    *instance_attributes('nova.objects:ComputeNode', 'stats'),
    *called('nova.objects:ComputeNodeList', get_all='context',
            get_all_by_host='context, host'),
    *instance_attributes('nova.objects:Flavor', 'extra_specs', 'memory_mb',
                         'vcpus'),
    *called('nova.objects:ImageMeta', from_dict='image_meta'),
    *instance_attributes('nova.objects:ImageMeta', 'properties'),
    *called('nova.objects:ImageMetaProps', from_dict='image_props'),
    *called('nova.objects:Instance', get_by_uuid='context, uuid',
            get_flavor='',
            save='expected_vm_state=, expected_task_state='),
    *instance_attributes(
        'nova.objects:Instance', 'architecture', 'default_ephemeral_device',
        'default_swap_device', 'host', 'image_ref', 'instance_type_id',
        'locked', 'node', 'numa_topology', 'os_type', 'power_state',
        'root_device_name', 'task_state', 'uuid', 'vm_mode', 'vm_state'),
    *called('nova.objects:RequestSpec',
            ensure_network_information='instance',
            ensure_project_and_user_id='instance',
            get_by_instance_uuid='context, instance_uuid', save=''),
    *instance_attributes('nova.objects:RequestSpec', 'force_hosts',
                         'force_nodes', 'id', 'image', 'numa_topology',
                         'requested_destination', 'scheduler_hints'),
    *instance_attributes('nova.objects:RequestGroup', 'forbidden_traits',
                         'required_traits'),
)


def verify() -> None:
    """Check every name that nova-api needs against the running release.

    :raises nova_image_override.errors.UnsupportedNova: naming each that has a
        different shape
    """
    interface.verify(INTERFACES)
