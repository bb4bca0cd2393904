"""Names of Nova's scheduler, used where hosts are asked for.

Not needed by nova-api, which starts without them.
"""

from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import called

_STEPS = "Hosts are asked for by the steps of Nova's scheduler."

INTERFACES: tuple[interface.Interface, ...] = (
    *called('nova.scheduler.manager:SchedulerManager', _STEPS,
            select_destinations='context, spec_obj=, instance_uuids=, '
                                'return_objects='),
    *called('nova.scheduler.host_manager:HostManager', _STEPS, __init__='',
            get_filtered_hosts='hosts, spec_obj',
            get_host_states_by_uuids='context, compute_uuids, spec_obj'),
    *called('nova.scheduler.client.report:SchedulerReportClient', _STEPS,
            __init__='', get='url, version='),
    interface.Shaped(
        'nova.scheduler.client.report', 'SAME_SUBTREE_VERSION', _STEPS,
        'a microversion of Placement', lambda value: isinstance(value, str)),
    *called('nova.scheduler.utils', _STEPS,
            setup_instance_group='context, request_spec'),
    *called('nova.scheduler.utils:ResourceRequest', _STEPS,
            from_request_spec='request_spec', to_querystring=''),
    *called('nova.objects:RequestSpec', 'The request of a create.',
            from_components='context, instance_uuid, image, flavor, '
            'numa_topology, pci_requests, filter_properties, instance_group, '
            'availability_zone, project_id=, user_id=',
            get_by_instance_uuid='context, instance_uuid'),
    *called('nova.pci.request', 'The request of a create.',
            get_pci_requests_from_flavor='flavor, affinity_policy='),
    *called('nova.virt.hardware', 'The request of a create.',
            numa_get_constraints='flavor, image_meta',
            get_pci_numa_policy_constraint='flavor, image_meta'),
)


def verify() -> None:
    """Check every name of the scheduler against the running release.

    :raises nova_image_override.errors.UnsupportedNova: naming each that has a
        different shape
    """
    interface.verify(INTERFACES)
    interface.verify_overridden(
        interface.classes('nova_image_override.hosts'))
