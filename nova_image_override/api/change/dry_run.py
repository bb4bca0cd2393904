"""``POST /image-props-override/check``: what a create would get.

A check is a create that ends before Nova stores anything: Nova's servers
controller validates the body, Nova's compute API reads image, volume and
flavor, and the planner authorises and merges the overrides. Where a create
would store the server, :class:`Checked` ends it with what was about to be
stored.
"""
from __future__ import annotations

from typing import Any

from nova.api.openstack import api_version_request
from nova.api.openstack import wsgi
from nova.virt import hardware

from nova_image_override import errors
from nova_image_override.api.change import plan as plan_module
from nova_image_override.api.guest import no_effect

#: Names of the values that stand for a size in ``InstanceNUMACell.pagesize``.
_PAGE_SIZES = {
    hardware.MEMPAGES_SMALL: 'small',
    hardware.MEMPAGES_LARGE: 'large',
    hardware.MEMPAGES_ANY: 'any',
}


class Checked(BaseException):
    """Ends a create that is only a check, and carries the answer.

    Not an Exception, because wsgi.expected_errors turns every Exception that
    it does not know into a 500. Nova's create has not stored or reserved
    anything yet.

    :ivar answer: the answer of the check
    """

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__()
        self.answer = {errors.PARAMETER: answer}


def body_of_create(req: wsgi.Request, body: Any) -> Any:
    """Turn the body of a check into the body of a create.

    What a create requires besides the image is filled in. Anything wrong is
    left for the create to refuse.
    """
    if not isinstance(body, dict) or not isinstance(body.get('server'), dict):
        return body
    defaults = {'name': 'check'}
    # nova/api/openstack/compute/schemas/servers.py create_v237
    if api_version_request.is_supported(req, '2.37'):
        defaults['networks'] = 'none'
    return {**body, 'server': {**defaults, **body['server']}}


def answer(
    planner: plan_module.Planner, plan: plan_module.Plan, instance: Any,
) -> dict[str, Any]:
    """Return the answer about a server that a create was about to store."""
    properties = plan.image['properties']
    return {
        'properties': properties,
        'overridden': {
            name: {
                'value': properties.get(name), 'image_value': own,
                **({'drivers': told} if (told := no_effect.by_driver(
                    planner.catalog, planner.virt_drivers, name, properties)
                ) else {}),
            } for name, own in plan.image_values.items()},
        'numa_topology': _numa_topology(instance.numa_topology),
    }


def _numa_topology(topology: Any) -> dict[str, Any] | None:
    """Return the guest's NUMA topology as Nova has derived it.

    :param topology: ``nova.objects.InstanceNUMATopology``, or None
    """
    if topology is None:
        return None
    return {
        'nodes': [{
            'id': cell.id,
            'cpus': sorted(cell.cpuset | cell.pcpuset),
            'dedicated_cpus': sorted(cell.pcpuset),
            'memory_mb': cell.memory,
            'page_size': _PAGE_SIZES.get(cell.pagesize, cell.pagesize),
            'cpu_policy': cell.cpu_policy,
            'cpu_thread_policy': cell.cpu_thread_policy,
        } for cell in topology.cells],
        'emulator_threads_policy': topology.emulator_threads_policy,
    }
