"""The application for api-paste.ini: Nova's routes, with servers extended."""

import collections.abc
import functools
import typing

from nova.api import wsgi as base_wsgi
from nova.api.openstack import ProjectMapper
from nova.api.openstack import wsgi
from nova.api.openstack.compute import routes
import nova.conf
from oslo_log import log as logging
import webob
import webob.dec
import webob.exc

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api import client_compatibility
from nova_image_override.api import compute_api
from nova_image_override.api import discovery
from nova_image_override.api import faults
from nova_image_override.api import pipeline as pipeline_module
from nova_image_override.api import request as request_module
from nova_image_override.api import servers
from nova_image_override.api import startup
from nova_image_override.nova_interfaces import api as api_interfaces

LOG = logging.getLogger(__name__)


class APIRouterV21(routes.APIRouterV21):
    """Nova's router with the servers resource replaced by subclasses.

    :param pipeline: merges overrides into image properties
    :param compatibility: which clients need not send the header entry
    """

    def __init__(
        self, pipeline: pipeline_module.Pipeline,
        compatibility: client_compatibility.ClientCompatibility,
    ) -> None:
        # Not super().__init__: it connects Nova's own ROUTE_LIST, and the
        # first route that matches wins.
        base_wsgi.Router.__init__(self, ProjectMapper())
        self._compatibility = compatibility
        for path, methods in routes.ROUTE_LIST:
            if isinstance(methods, str):
                self.map.redirect(path, methods)
                continue
            for method, (maker, action) in methods.items():
                controller = _servers(
                    pipeline, compatibility, maker.args[1]
                ) if api_interfaces.makes_servers(maker) else maker()
                self.map.create_route(path, method, controller, action)
        self.map.create_route(
            versions.PATH, 'GET', discovery.resource(
                pipeline.enforcer, pipeline.callers), 'show')
        self.map.create_route(
            versions.CHECK_PATH, 'POST',
            _servers(pipeline, compatibility, ()), 'check')

    @classmethod
    def factory(
        cls, global_config: dict[str, str], **local_config: str,
    ) -> 'APIRouterV21':
        """Make the application (``paste.app_factory``).

        :raises errors.StartupError: Nova has a different shape, or a rule is
            malformed; nova-api must not start
        """
        try:
            api_interfaces.verify()
            read = startup.read(nova.conf.CONF)
            application = cls(
                pipeline_module.Pipeline(
                    read.enforcer, read.callers, read.virt_drivers),
                read.compatibility)
            startup.announce(read)
            return application
        except errors.StartupError as exc:
            for line in str(exc).split('\n'):
                _tell_why(line)
            raise

    @webob.dec.wsgify(RequestClass=base_wsgi.Request)
    def __call__(self, req: webob.Request) -> typing.Any:
        """Route a request, in the version that it names, if any."""
        named_by = request_module.NamedBy.HEADER
        try:
            version = versions.negotiate(req.headers)
        except versions.NotAcceptable as exc:
            return _refused(webob.exc.HTTPNotAcceptable(explanation=str(exc)))
        except versions.Malformed as exc:
            return _refused(webob.exc.HTTPBadRequest(explanation=str(exc)))
        if version is None:
            version = self._compatibility.version_of(req.environ)
            named_by = request_module.NamedBy.COMPUTE_MICROVERSION
        if version is None:
            return self._router
        context = req.environ.get('nova.context')
        if context is not None:
            request_module.attach(context, request_module.OverrideRequest(
                named_by, version))
        response = req.get_response(self._router)
        name_version(response, version)
        return response


# uWSGI and mod_wsgi try again in the same process.
@functools.lru_cache
def _tell_why(line: str) -> None:
    """Log why nova-api does not start, once in each process."""
    LOG.critical('nova-image-override: %s', line)


def _servers(
    pipeline: pipeline_module.Pipeline,
    compatibility: client_compatibility.ClientCompatibility,
    actions: collections.abc.Iterable[type[wsgi.Controller]],
) -> wsgi.Resource:
    """Make a servers resource as routes._create_controller does."""
    result: wsgi.Resource = faults.Resource(
        servers.ServersController(pipeline, compatibility))
    for action in actions:
        result.register_subcontroller_actions(
            _with_our_api(action, pipeline))
    return result


def _with_our_api(
    controller: type[wsgi.Controller], pipeline: pipeline_module.Pipeline,
) -> wsgi.Controller:
    """Make one of Nova's action controllers (rescue, migrate, ...).

    They create a compute API of their own, through which an operation could
    lose a server's overrides.
    """
    result = controller()
    result.compute_api = compute_api.API(pipeline)
    return result


def _refused(exception: webob.exc.WSGIHTTPException) -> wsgi.Fault:
    exception.headers['Vary'] = versions.HEADER
    return wsgi.Fault(exception)


def name_version(
        response: webob.Response, version: versions.Version) -> None:
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
