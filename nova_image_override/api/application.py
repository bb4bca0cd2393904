"""The application: Nova's routes, with servers extended."""

from collections.abc import Iterable
from typing import Any

from nova.api import wsgi as base_wsgi
from nova.api.openstack import ProjectMapper
from nova.api.openstack import wsgi
from nova.api.openstack.compute import routes
from nova.compute import api as compute
import nova.conf
import webob
import webob.dec
import webob.exc

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api import asked
from nova_image_override.api import compute_api
from nova_image_override.api import startup
from nova_image_override.api.change.plan import Planner
from nova_image_override.api.faults import Resource
from nova_image_override.api.servers import ServersController
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.nova_interfaces import interface


class APIRouterV21(routes.APIRouterV21):
    """Nova's router with the servers resource replaced by subclasses."""

    def __init__(self, read: startup.Startup) -> None:
        # Not super().__init__: it connects Nova's own ROUTE_LIST, and the
        # first route that matches wins.
        base_wsgi.Router.__init__(self, ProjectMapper())
        self._compatibility = read.compatibility
        planner = read.planner
        api = compute_api.API(planner)
        servers = ServersController(
            api, planner, asked.Reader(planner, read.compatibility))
        for path, methods in routes.ROUTE_LIST:
            if isinstance(methods, str):
                self.map.redirect(path, methods)
                continue
            for method, (maker, action) in methods.items():
                if api_interfaces.makes_servers(maker):
                    base, actions = maker.args
                    controller = _with_actions(servers.extending(base), actions)
                elif api_interfaces.makes_metadata(maker):
                    controller = Resource(with_our_api(maker.args[0], api))
                else:
                    controller = maker()
                self.map.create_route(path, method, controller, action)
        self.map.create_route(
            versions.PATH, 'GET',
            wsgi.Resource(DiscoveryController(planner)), 'show')
        self.map.create_route(
            versions.CHECK_PATH, 'POST',
            Resource(servers, is_check=True), 'check')

    @interface.overrides
    @webob.dec.wsgify(RequestClass=base_wsgi.Request)
    def __call__(self, req: webob.Request) -> Any:
        """Route a request, in the version that it names, if any."""
        try:
            version = versions.negotiate(req.headers)
        except versions.Unusable as exc:
            return wsgi.Fault(webob.exc.status_map[exc.status](
                explanation=str(exc), headers={'Vary': versions.HEADER}))
        if version is None:
            version = self._compatibility.version_of(req.environ)
        if version is None:
            return self._router
        asked.set_version(req, version)
        response = req.get_response(self._router)
        name_version(response, version)
        return response


class DiscoveryController(wsgi.Controller):
    """``GET /image-props-override``: what this caller may send."""

    def __init__(self, planner: Planner) -> None:
        super().__init__()
        self._planner = planner

    @wsgi.expected_errors(())
    def show(self, req: wsgi.Request) -> dict[str, Any]:
        """Answer by the rules as they are now."""
        caller = self._planner.callers.caller(req.environ['nova.context'])
        version = asked.version_of(req) or versions.MAX
        return {errors.PARAMETER: {
            'min_version': str(versions.MIN),
            'max_version': str(versions.MAX),
            'schema': self._planner.schema(caller, version),
            'presets': {preset.name: {
                'description': preset.description,
                'properties': preset.overrides.values,
                'flavors': list(preset.flavors),
                'digest': preset.digest,
            } for preset in self._planner.usable(caller)},
        }}


def make() -> APIRouterV21:
    """Make the application from the options of ``[image_override]``.

    :raises errors.StartupError: an option, or a rule, is malformed
    """
    read = startup.read(nova.conf.CONF)
    result = APIRouterV21(read)
    startup.announce(read)
    return result


def _with_actions(
    controller: ServersController, actions: Iterable[type[wsgi.Controller]],
) -> wsgi.Resource:
    """Make a servers resource as routes._create_controller does."""
    result: wsgi.Resource = Resource(controller)
    register = api_interfaces.REGISTER_ACTIONS.get()
    for action in actions:
        register(result, with_our_api(action, controller.compute_api))
    return result


def with_our_api(
    controller: type[wsgi.Controller], api: compute.API,
) -> wsgi.Controller:
    """Make one of Nova's action controllers (rescue, migrate, ...).

    They, and that of metadata, create a compute API of their own, through
    which an operation could lose a server's overrides.
    """
    result = controller()
    interface.require(result, 'compute_api')
    result.compute_api = api
    return result


def name_version(response: webob.Response, version: versions.Version) -> None:
    """Name the version that answered, next to Nova's own entry.

    Nova writes the header after its controllers have run
    (nova/api/openstack/wsgi.py Resource._process_stack), so this happens out
    here.
    """
    entry = f'{versions.SERVICE_TYPE} {version}'
    nova_entry = response.headers.get(versions.HEADER)
    response.headers[versions.HEADER] = (
        f'{nova_entry}, {entry}' if nova_entry else entry)
    vary = ', '.join(response.headers.getall('Vary'))
    if versions.HEADER.lower() not in vary.lower():
        response.headers.add('Vary', versions.HEADER)
