"""Refusals as Nova faults, with the details that programs read."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nova import exception
from nova.api.openstack import wsgi
from oslo_serialization import jsonutils
import webob
import webob.dec
import webob.exc

from nova_image_override import errors
from nova_image_override.api import audit
from nova_image_override.api import operation as operations
from nova_image_override.nova_interfaces import interface


class Refused(exception.Forbidden):
    """Carries a refusal past Nova's controllers.

    They let ``Forbidden`` pass and make a 500 of exceptions that they do not
    expect (nova/api/openstack/wsgi.py expected_errors).
    """

    def __init__(self, error: errors.OverrideError) -> None:
        super().__init__(str(error))
        self.error = error


class OverrideFault(wsgi.Fault):
    """A Nova fault that carries the details alongside its message."""

    def __init__(self, error: errors.OverrideError) -> None:
        super().__init__(
            webob.exc.status_map[error.status](explanation=str(error)))
        self._error = error

    @interface.overrides
    def __str__(self) -> str:
        """Return what Nova logs (ResourceExceptionHandler): no values."""
        return self._error.logged

    @interface.overrides
    @webob.dec.wsgify(RequestClass=wsgi.Request)
    def __call__(self, req: wsgi.Request) -> webob.Response:
        """Generate the response of Nova's fault, with our details added."""
        response = super().__call__(req)
        body = jsonutils.loads(response.text)
        for fault in body.values():
            fault[errors.PARAMETER] = self._error.details()
        response.text = jsonutils.dumps(body)
        return response


class Resource(wsgi.Resource):
    """Nova's resource, which answers our refusals with their details.

    :param is_check: whether it answers checks, whose refusals are not logged
    """

    def __init__(
        self, controller: wsgi.Controller, is_check: bool = False,
    ) -> None:
        super().__init__(controller)
        self._is_check = is_check

    @interface.overrides
    def dispatch(
        self, method: Callable[..., Any],
        request: wsgi.Request, action_args: dict[str, Any],
    ) -> Any:
        """Call a controller's METHOD: refusals of every controller pass here.

        :raises OverrideFault: in place of an OverrideError
        """
        try:
            _require_taken(request, action_args.get('body'))
            return super().dispatch(method, request, action_args)
        except errors.OverrideError as exc:
            error = exc
        except Refused as exc:
            error = exc.error
        context = request.environ['nova.context']
        asked = operations.of(context).asked
        if asked is not None:
            error = asked.ascribing(error)
        if not self._is_check:
            # In the routes of a server's metadata, 'id' is one of its keys
            # (nova/api/openstack/compute/routes.py ROUTE_LIST).
            audit.refused(context, error, action_args.get(
                'server_id', action_args.get('id')))
        raise OverrideFault(error.bounded())


def _require_taken(req: wsgi.Request, body: Any) -> None:
    """Require that an action has the parameters only where it takes them.

    Nova lets most actions have any (nova/api/openstack/compute/schemas, such
    as shelve), and ignores them.

    :raises errors.Invalid: another action than a rebuild has some
    """
    _, route = req.environ['wsgiorg.routing_args']
    if route.get('action') == 'action' and isinstance(body, dict):
        names = [
            name for action, held in body.items() if action != 'rebuild'
            and isinstance(held, dict) for name in errors.PARAMETERS
            if name in held]
        if names:
            raise errors.Invalid.of(
                names, errors.NOT_HERE,
                f'{", ".join(body)} does not take it, only a create, a rebuild '
                'and an update do')
