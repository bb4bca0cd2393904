"""The shape of Nova that this package leans on, checked at start.

Each seam is a function that is overridden or called with the arguments named
here. A Nova that has another shape stops the service with one line rather
than letting it run half.
"""

import functools
import inspect

from nova.api.openstack import wsgi
from nova.api.openstack.compute import routes
from nova.api.openstack.compute import servers
from nova.api.openstack.compute.views import servers as views
from nova.compute import api
from nova.virt import hardware

from nova_image_override import errors

#: What is overridden or called -> the parameters that must lead.
SIGNATURES = (
    (api.API, '__init__', ('self',)),
    (api.API, 'get', ('self', 'context', 'instance_id', 'expected_attrs')),
    (api.API, 'get_all', ('self', 'context')),
    (api.API, '_validate_and_build_base_options',
     ('self', 'context', 'flavor', 'boot_meta')),
    (api.API, '_populate_instance_for_create',
     ('self', 'context', 'instance', 'image')),
    (servers.ServersController, '__init__', ('self',)),
    (servers.ServersController, 'create', ('self', 'req', 'body')),
    (servers.ServersController, 'show', ('self', 'req', 'id')),
    (servers.ServersController, 'detail', ('self', 'req')),
    (servers.ServersController, 'update', ('self', 'req', 'id', 'body')),
    (views.ViewBuilder, 'show', ('self', 'request', 'instance')),
    (wsgi.Fault, '__call__', ('self', 'req')),
    (hardware, 'numa_get_constraints', ('flavor', 'image_meta')),
    (hardware, 'get_best_cpu_topology', ('flavor', 'image_meta')),
)


def _parameters(owner: object, name: str) -> tuple[str, ...]:
    function = inspect.getattr_static(owner, name)
    # webob.dec.wsgify keeps what it decorates in "func".
    function = getattr(function, 'func', function)
    return tuple(inspect.signature(function).parameters)


def verify() -> None:
    """Check every seam of nova-api against the running release.

    :raises errors.UnsupportedNova: naming the seam that has another shape
    """
    for owner, name, wanted in SIGNATURES:
        where = f'{getattr(owner, "__name__", owner)}.{name}'
        try:
            found = _parameters(owner, name)
        except AttributeError:
            raise errors.UnsupportedNova(
                f'This Nova has no {where}: nova-image-override does not '
                'support it.') from None
        if found[:len(wanted)] != wanted:
            raise errors.UnsupportedNova(
                f'This Nova\'s {where} takes ({", ".join(found)}), not '
                f'({", ".join(wanted)}, ...): nova-image-override does not '
                'support it.')
    if 'rebuild' not in servers.ServersController.wsgi_actions:
        raise errors.UnsupportedNova(
            'This Nova\'s ServersController has no action rebuild: '
            'nova-image-override does not support it.')
    if not isinstance(routes.server_controller, functools.partial) or (
            routes.server_controller.args[0]
            is not servers.ServersController):
        raise errors.UnsupportedNova(
            'This Nova builds routes.server_controller in another way: '
            'nova-image-override does not support it.')
