"""Refusals as Nova faults, with the details that programs read."""

from collections.abc import Callable, Iterator
import contextlib
from typing import Any

from nova.api.openstack import wsgi
from oslo_serialization import jsonutils
import webob
import webob.dec
import webob.exc

from nova_image_override import errors
from nova_image_override.api import audit
from nova_image_override.api import request as request_module
from nova_image_override.nova_interfaces import interface


class Refused(BaseException):
    """Carries a refusal past Nova's controllers.

    Not an Exception, because nova/api/openstack/wsgi.py expected_errors turns
    every Exception that a controller does not expect into a 500.

    :ivar error: the refusal
    """

    def __init__(self, error: errors.OverrideError) -> None:
        super().__init__()
        self.error = error


@contextlib.contextmanager
def carried() -> Iterator[None]:
    """Let refusals pass through Nova's controllers.

    :raises Refused: in place of an OverrideError
    """
    try:
        yield
    except errors.OverrideError as exc:
        raise Refused(exc) from None


class OverrideFault(wsgi.Fault):
    """A Nova fault that carries the details alongside its message."""

    def __init__(self, error: errors.OverrideError) -> None:
        super().__init__(
            webob.exc.status_map[error.status](explanation=str(error)))
        self._details = error.details()

    @interface.overrides
    @webob.dec.wsgify(RequestClass=wsgi.Request)
    def __call__(self, req: wsgi.Request) -> webob.Response:
        """Generate the response of Nova's fault, with our details added."""
        response = super().__call__(req)
        body = jsonutils.loads(response.text)
        for fault in body.values():
            fault[errors.PARAMETER] = self._details
        response.text = jsonutils.dumps(body)
        return response


class Resource(wsgi.Resource):
    """Nova's resource, which answers our refusals with their details."""

    @interface.overrides
    def dispatch(
        self, method: Callable[..., Any],
        request: wsgi.Request, action_args: dict[str, Any],
    ) -> Any:
        """Call a controller's METHOD.

        :raises OverrideFault: in place of an OverrideError
        """
        try:
            return super().dispatch(method, request, action_args)
        except errors.OverrideError as exc:
            error = exc
        except Refused as exc:
            error = exc.error
        context = request.environ['nova.context']
        asked = request_module.of(context)
        if asked is not None and asked.preset is not None:
            preset = asked.preset
            error = error.telling(preset.name, {
                name for name, value in (asked.overrides or {}).items()
                if preset.covers(name, value)})
        if asked is None or not asked.is_check:
            audit.refused(context, error.details(), action_args.get('id'))
        raise OverrideFault(error)
