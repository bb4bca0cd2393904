"""Names of Nova used by the API part."""
from __future__ import annotations

import functools
from typing import Any

from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import called
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

_CHECKS = "Nova's checks of a flavor with an image, which overrides must pass."

#: The same, as they are called.
CONSTRAINTS: tuple[interface.Called, ...] = tuple(
    interface.Called('nova.virt.hardware', function, _CHECKS,
                     'flavor, image_meta', tuple(checked))
    for function, checked in sorted(CHECKED.items()))

STATELESS_FIRMWARE = interface.Called(
    'nova.virt.hardware', 'get_stateless_firmware_constraint', _CHECKS,
    'image_meta', ('hw_firmware_stateless',))

#: What Nova's own api-paste.ini names.
APPLICATION = interface.Called(
    'nova.api.openstack.compute:APIRouterV21', 'factory',
    "check recognises Nova's own application in api-paste.ini by it.",
    'global_config')

#: Adds the actions of another controller to a resource.
REGISTER_ACTIONS = interface.Called(
    'nova.api.openstack.wsgi:Resource', 'register_subcontroller_actions',
    "Our servers resource has the actions of Nova's.", '_',
    formerly='register_actions')


class RebuildAction(interface.Interface):
    """The method for a rebuild, which each release names differently."""

    def _difference(self, owner: Any) -> str | None:
        method = getattr(owner, self.name).get('rebuild')
        if method is None:
            return f'has no rebuild in {self}'
        return interface.Called(
            self.owner, method, self.why, 'req=, id=, body=').problem()


class ServersRoutes(interface.Interface):
    """The routes; we serve those of servers with our controllers."""

    def _difference(self, owner: Any) -> str | None:
        try:
            factories = {
                path: [factory for factory, action in methods.values()]
                for path, methods in getattr(owner, self.name)
                if not isinstance(methods, str)}
        except (TypeError, ValueError):
            return f'has another {self}, not {self.shape}'
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
    """Return whether MAKER of ``ROUTE_LIST`` makes a resource of CONTROLLER.

    Or one of a subclass, as Nova 33 and 34 do for ``/os-volumes_boot``.
    """
    return (
        isinstance(maker, functools.partial)
        and maker.func is interface.resolve(f'{_ROUTES}:_create_controller')
        and len(maker.args) == 2 and not maker.keywords
        and isinstance(maker.args[0], type)
        and issubclass(maker.args[0], interface.resolve(controller)))


def makes_metadata(maker: Any) -> bool:
    """Return whether it makes the resource of a server's metadata."""
    return makes_servers(maker, _METADATA)


_IMAGE = 'What overrides make of an image, as Nova will read it.'
_ROUTER = "Our application is Nova's router with other controllers of servers."
_HOST = ('A rebuild or an update asks the scheduler and placement whether the '
         'host of the server can build it.')
_DISKS = ('Nova records the bus and the name of each disk at the first boot: '
          'where overrides change hw_disk_bus, disks are moved.')
_GROUP = 'A check asks for the quota of a server group, as a create does.'

INTERFACES: tuple[interface.Interface, ...] = (
    ServersRoutes(
        _ROUTES, 'ROUTE_LIST',
        'Each of the action controllers has a compute API of its own, which we '
        'replace with ours.',
        'routes (path, path) or (path, {method: [factory, action]}); servers '
        'by functools.partial(_create_controller, controller, action '
        'controllers)'),
    RebuildAction(
        _CONTROLLER, 'wsgi_actions',
        'Finds the method of rebuild, which each release names differently.',
        'names the method of rebuild, called: (req=, id=, body=)'),
    *called('nova.api.wsgi:Router', _ROUTER, __init__='mapper'),
    *called('nova.api.openstack', _ROUTER, ProjectMapper=''),
    *called('nova.api.openstack:ProjectMapper', _ROUTER,
            create_route='path, method, controller, action'),
    *called('nova.api.openstack.wsgi',
            "Our controllers and faults are made of Nova's.",
            Fault='exception', Request='_', Resource='controller',
            action='name', expected_errors='errors', response='code'),
    REGISTER_ACTIONS,
    APPLICATION,
    *called('nova.api.openstack.wsgi:Request',
            'compute_microversion compares the microversion that Nova reads; '
            'the legacy API has none.',
            is_legacy_v2='', set_api_version_request=''),
    *called('nova.api.openstack.api_version_request',
            'A check fills in networks where its microversion requires them.',
            is_supported='req, _'),
    # Imported by a request, which must not fail for a hint.
    interface.Shaped(
        'nova.api.validation.extra_specs.validators', 'VALIDATORS',
        'Refuses the name of an extra spec with the advice to put it into a '
        'flavor.',
        'a mapping of extra specs', lambda value: 'hw:cpu_policy' in value),
    *called('nova.compute.api:API', 'Ours has its own conductor API.',
            __init__=''),
    *called('nova.limit.local', _GROUP,
            enforce_db_limit='context, entity_type, entity_scope=, delta='),
    interface.Shaped('nova.limit.local', 'SERVER_GROUP_MEMBERS', _GROUP,
                     'a string', lambda value: isinstance(value, str)),
    *called('nova.objects:Quotas', _GROUP,
            check_deltas='context, deltas, _, _'),
    *called('nova.compute.api:API',
            'Nova calls it in a rebuild from a new image; we also do in one '
            'from the same image, and in an update.',
            _validate_numa_rebuild='instance, image, flavor'),
    *called('nova.compute.api:API', 'An update is an action of the server.',
            _record_action_start='context, instance, action'),
    *called('nova.compute.utils',
            "An update reports its event as Nova's conductor does; a server on "
            'a volume has its image there.',
            EventReporter='context, event_name, host, _',
            get_root_bdm='context, instance'),
    *called('nova.block_device', _DISKS,
            generate_device_name='prefix, index',
            new_format_is_ephemeral='bdm', new_format_is_swap='bdm',
            prepend_dev='device_name', strip_dev='device_name'),
    *called('nova.objects:BlockDeviceMapping', _DISKS, save=''),
    *called('nova.db.main.api',
            'Whether anything is recorded with a server that Nova has read '
            'without it; and to store some keys of its system metadata alone.',
            instance_system_metadata_get='context, instance_uuid',
            pick_context_manager_writer='f'),
    *called('nova.scheduler.client.query', _HOST, SchedulerQueryClient=''),
    *called('nova.scheduler.client.query:SchedulerQueryClient', _HOST,
            select_destinations='context, spec_obj, instance_uuids, '
                                'return_objects=, return_alternates='),
    *called('nova.scheduler.client.report', _HOST, report_client_singleton=''),
    *called('nova.scheduler.client.report:SchedulerReportClient', _HOST,
            get_allocs_for_consumer='context, consumer',
            get_provider_traits='context, rp_uuid'),
    *called('nova.scheduler.utils:ResourceRequest', _HOST,
            from_request_spec='request_spec', get_request_group='ident'),
    *called('nova.objects', _HOST, Destination='cell='),
    *called('nova.objects:InstanceMapping', _HOST,
            get_by_instance_uuid='context, instance_uuid'),
    *CONSTRAINTS,
    STATELESS_FIRMWARE,
    *called('nova.virt.hardware',
            'What a guest gets of its properties, as Nova itself decides it.',
            get_cpu_policy_constraint='flavor, image_meta',
            get_cpu_thread_policy_constraint='flavor, image_meta',
            get_cpu_topology_constraints='flavor, image_meta',
            get_ephemeral_encryption_constraint='flavor, image_meta',
            get_ephemeral_encryption_format='flavor, image_meta',
            get_locked_memory_constraint='flavor, image_meta',
            parse_cpu_spec='spec'),
    interface.Shaped(
        'nova.conf', 'CONF', 'Whether the scheduler compares the version of '
        'the hypervisor with nothing beside it.',
        'options with image_properties_default_architecture',
        lambda conf: 'image_properties_default_architecture'
        in conf.filter_scheduler),
    *called('nova.exception', 'Refusals as Nova makes them.',
            InstanceUpdateConflict='instance_uuid=, expected=, actual=',
            ImageVCPULimitsRangeImpossible='vcpus=, sockets=, cores=, '
                                           'threads=',
            RequestedVRamTooHigh='req_vram=, max_vram='),
    *called('nova.exception:NovaException', "Nova's sentence about a refusal.",
            format_message=''),
    *called('nova.objects:ComputeNode', 'The hypervisor type of a host.',
            get_by_host_and_nodename='context, host, nodename'),
    *called('nova.objects:ComputeNodeList',
            'Which hosts have the compute part, as their stats say.',
            get_all='context', get_all_by_host='context, host'),
    *called('nova.objects:ImageMeta', _IMAGE, from_dict='image_meta'),
    *called('nova.objects:ImageMetaProps', _IMAGE, from_dict='image_props'),
    *called('nova.objects:Instance', 'Reads and stores a server.',
            get_by_uuid='context, uuid, expected_attrs=', get_bdms='',
            get_flavor='',
            save='expected_vm_state=, expected_task_state='),
    *called('nova.objects:InstanceActionList',
            "Whether an update holds a server's task state, or Nova's resize; "
            'and whether its guest has been built since.',
            get_by_instance_uuid='context, instance_uuid, limit='),
    *called('nova.objects:RequestSpec', 'The scheduler reads what we store.',
            ensure_network_information='instance',
            ensure_project_and_user_id='instance',
            get_by_instance_uuid='context, instance_uuid', save=''),
    *called('nova.objects.base', 'Whether a request spec needs no change.',
            obj_equal_prims='obj_1, obj_2'),
)


def verify() -> None:
    """Check every name that nova-api needs against the running release.

    :raises nova_image_override.errors.UnsupportedNova: naming each that has a
        different shape
    """
    interface.verify(common.INTERFACES, common.RULES, INTERFACES)
    interface.verify_overridden(interface.classes('nova_image_override.api'))
