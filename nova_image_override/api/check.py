"""``POST /image-props-override/check``: what a create would get.

A check is a create that ends before Nova stores anything: Nova's servers
controller validates the body, Nova's compute API reads image, volume and
flavor, and the pipeline authorises and merges the overrides. Where a create
would store the server, :class:`Checked` ends it with what was about to be
stored.
"""

import collections.abc
import typing

from nova.api.openstack import api_version_request
from nova.api.openstack import wsgi
from nova.virt import hardware

from nova_image_override import errors
from nova_image_override.api import driver_effects
from nova_image_override.properties import catalog as catalog_module

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

    def __init__(self, answer: dict[str, typing.Any]) -> None:
        super().__init__()
        self.answer = {errors.PARAMETER: answer}


def body_of_create(req: wsgi.Request, body: typing.Any) -> typing.Any:
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
    catalog: catalog_module.Catalog, image: dict[str, typing.Any],
    instance: typing.Any,
    image_values: collections.abc.Mapping[str, str | None],
    virt_drivers: collections.abc.Set[str],
) -> dict[str, typing.Any]:
    """Return the answer about a server that a create was about to store.

    :param catalog: the properties that can be named
    :param image: boot metadata, with the merged properties
    :param instance: ``nova.objects.Instance``
    :param image_values: overridden property -> the image's own value
    :param virt_drivers: the drivers of the cloud's hosts
    """
    properties = image.get('properties') or {}
    return {
        'properties': properties,
        'overridden': {
            name: {
                'value': properties.get(name),
                'image_value': own,
                **_told(driver_effects.by_driver(
                    catalog, virt_drivers, name, properties)),
            } for name, own in image_values.items()},
        'numa_topology': _numa_topology(instance.numa_topology),
    }


def _told(by_driver: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return what drivers make of a property, if some do not act on it."""
    return {'drivers': by_driver} if by_driver else {}


def _numa_topology(
    topology: typing.Any,
) -> dict[str, typing.Any] | None:
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
