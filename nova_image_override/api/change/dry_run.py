"""``POST /image-props-override/check``: an operation that ends with its plan.

A check goes the way of the create, rebuild or update that it asks about: Nova's
controller validates the body, Nova's compute API reads server, image, volume
and flavor, and the planner authorises and merges the overrides. Where the
operation would store anything, :class:`Checked` ends it with the answer.
"""
from __future__ import annotations

from typing import Any, NoReturn

from nova import exception
from nova import objects
from nova.api.openstack import api_version_request
from nova.api.openstack import wsgi
from nova.virt import hardware
from oslo_serialization import jsonutils

from nova_image_override import errors
from nova_image_override import policies
from nova_image_override.api.change.plan import Plan, Planner
from nova_image_override.api.guest import no_effect
from nova_image_override.api.guest.guest import boot_metadata

#: Names of the values that stand for a size in ``InstanceNUMACell.pagesize``.
_PAGE_SIZES = {
    hardware.MEMPAGES_SMALL: 'small',
    hardware.MEMPAGES_LARGE: 'large',
    hardware.MEMPAGES_ANY: 'any',
}

#: The key of a check that asks for hosts, and of the answer about them.
HOSTS = 'hosts'


class Checked(exception.Forbidden):
    """Ends an operation that is only a check, and carries the answer.

    Nova has not stored or reserved anything yet, and its controllers let
    ``Forbidden`` pass (nova/api/openstack/wsgi.py expected_errors).
    """

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__()
        self.answer = {errors.PARAMETER: answer}


def end(
    planner: Planner, context: Any, plan: Plan, **more: Any,
) -> NoReturn:
    """End an operation with the PLAN that it would store: raise Checked.

    :param more: what else the answer says
    """
    properties = plan.image['properties']
    raise Checked(_bounded({
        'properties': properties,
        'overridden': {
            each.name: {
                'value': properties.get(each.name),
                'image_value': each.image_value(plan.base),
                **({'drivers': outcomes} if (
                    outcomes := no_effect.by_driver(
                        planner.virt_drivers, each, properties)) else {}),
            } for each in plan.change.after},
        # It reveals extra specs of the flavor.
        **({'numa_topology': _numa_topology(hardware.numa_get_constraints(
            # A copy: ImageMeta.from_dict changes its argument.
            plan.change.flavor, objects.ImageMeta.from_dict(
                boot_metadata(plan.image))))}
           if planner.reads_specs(context) else {}),
        **more,
    }))


def _bounded(answer: dict[str, Any]) -> dict[str, Any]:
    """Return ANSWER without the properties that it has no room for.

    Those that are not overridden are left out first.
    """
    most = errors.ANSWER_MAX - 1024
    if len(jsonutils.dumps(answer)) <= most:
        return answer
    room = most - len(jsonutils.dumps(
        {**answer, 'properties': {}, 'overridden': {}}))
    count = 0
    for part in ('overridden', 'properties'):
        kept = {}
        for name, each in answer[part].items():
            room -= len(jsonutils.dumps({name: each}))
            if room > 0:
                kept[name] = each
        count += len(answer[part]) - len(kept)
        answer[part] = kept
    return {**answer, errors.LEFT_OUT: count}


def take_hosts(
    planner: Planner, context: Any, body: Any,
) -> tuple[bool, Any]:
    """Return whether a check asks for hosts, and its body without that.

    :raises errors.OverrideError: it may not, or not so
    """
    if not isinstance(body, dict) or HOSTS not in body:
        return False, body
    rest = {**body}
    asked = rest.pop(HOSTS)
    if not isinstance(asked, bool):
        raise errors.Invalid.of(
            [HOSTS], errors.INVALID_TYPE, 'must be true or false')
    if asked and of_existing(rest):
        raise errors.Invalid.of(
            [HOSTS], errors.NOT_HERE,
            'only a check of a create asks for hosts')
    if asked and not planner.callers.caller(context).can(policies.HOSTS):
        raise errors.Forbidden.of(
            [HOSTS], errors.POLICY,
            f'policy {policies.HOSTS} does not permit it')
    return asked, rest


def of_existing(body: Any) -> tuple[str, str, Any] | None:
    """Return what a check asks about a server that exists, if it does.

    :returns: the key of the operation's body, the server, and that body
    :raises errors.Invalid: it names the server by no string
    """
    for key in ('rebuild', 'server'):
        inner = body.get(key) if isinstance(body, dict) else None
        if isinstance(inner, dict) and (key == 'rebuild' or 'id' in inner):
            rest = {**inner}
            server = rest.pop('id', None)
            if not isinstance(server, str):
                raise errors.Invalid.of(
                    ['id'], errors.INVALID_TYPE,
                    f'must be a string in {key}, the ID of the server')
            return key, server, {**body, key: rest}
    return None


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


def _numa_topology(topology: Any) -> dict[str, Any] | None:
    """Return the guest's NUMA topology as Nova has derived it."""
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
