"""The seams of nova-api."""

import functools

from nova.api.openstack import wsgi
from nova.api.openstack.compute import routes
from nova.api.openstack.compute import servers
from nova.api.openstack.compute.views import servers as views
from nova.compute import api
from nova.virt import hardware

from nova_image_override import seams

SEAMS: tuple[seams.Seam, ...] = (
    (api.API, '__init__', ('self',)),
    (api.API, 'get', ('self', 'context', 'instance_id', 'expected_attrs')),
    (api.API, 'get_all', ('self', 'context')),
    (api.API, '_get_image', ('self', 'context', 'image_href')),
    (api.API, '_validate_and_build_base_options',
     ('self', 'context', 'flavor', 'boot_meta')),
    (api.API, '_populate_instance_for_create',
     ('self', 'context', 'instance', 'image')),
    (api.API, '_validate_numa_rebuild', ('instance', 'image', 'flavor')),
    (api.API, '_record_action_start',
     ('self', 'context', 'instance', 'action')),
    (api.API, 'rebuild', ('self', 'context', 'instance', 'image_href')),
    (api.API, 'rescue', ('self', 'context', 'instance')),
    (api.API, 'resize', ('self', 'context', 'instance')),
    (api.API, '_check_quota_for_upsize',
     ('context', 'instance', 'current_flavor', 'new_flavor', 'is_bfv',
      'is_revert')),
    (api.API, '_allow_cross_cell_resize', ('self', 'context', 'instance')),
    (servers.ServersController, '__init__', ('self',)),
    (servers.ServersController, 'create', ('self', 'req', 'body')),
    (servers.ServersController, 'show', ('self', 'req', 'id')),
    (servers.ServersController, 'detail', ('self', 'req')),
    (servers.ServersController, 'update', ('self', 'req', 'id', 'body')),
    (views.ViewBuilder, 'show', ('self', 'request', 'instance')),
    (wsgi.Fault, '__call__', ('self', 'req')),
    (wsgi.Resource, 'dispatch', ('self', 'method', 'request', 'action_args')),
    (wsgi.Resource, 'register_subcontroller_actions',
     ('self', 'sub_controller')),
    (wsgi.Request, 'is_legacy_v2', ('self',)),
    (wsgi.Request, 'set_api_version_request', ('self',)),
    (hardware, 'numa_get_constraints', ('flavor', 'image_meta')),
    (hardware, 'get_best_cpu_topology', ('flavor', 'image_meta')),
)


def verify() -> None:
    """Check every seam of nova-api against the running release.

    :raises nova_image_override.errors.UnsupportedNova: naming the seam that
        has another shape
    """
    seams.verify(SEAMS)
    rebuild = servers.ServersController.wsgi_actions.get('rebuild')
    if rebuild is None:
        raise seams.unsupported('has no ServersController action rebuild')
    seams.verify([(
        servers.ServersController, rebuild, ('self', 'req', 'id', 'body'))])
    controller = routes.server_controller
    if not isinstance(controller, functools.partial) or (
            len(controller.args) != 2
            or controller.args[0] is not servers.ServersController):
        raise seams.unsupported(
            'builds routes.server_controller in another way')
