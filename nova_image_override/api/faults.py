"""Refusals as Nova faults, with the details that programs read."""

import typing

from nova.api.openstack import wsgi
from oslo_serialization import jsonutils
import webob
import webob.dec
import webob.exc

from nova_image_override import errors

_STATUS = {
    400: webob.exc.HTTPBadRequest,
    403: webob.exc.HTTPForbidden,
    409: webob.exc.HTTPConflict,
}


def as_http(error: errors.OverrideError) -> webob.exc.WSGIHTTPException:
    """Return ERROR as the exception that passes Nova's expected_errors.

    nova/api/openstack/wsgi.py expected_errors turns everything it does not
    know into a 500, so refusals travel through Nova's methods as webob's.
    """
    result = _STATUS[error.status](explanation=str(error))
    result.image_props_override = error.details()
    return result


class OverrideFault(wsgi.Fault):
    """A Nova fault that carries ``image_props_override`` beside its message.

    :param exception: made by :func:`as_http`
    """

    @webob.dec.wsgify(RequestClass=wsgi.Request)
    def __call__(self, req: wsgi.Request) -> webob.Response:
        """Generate the response that Nova's fault makes, with our details."""
        response = super().__call__(req)
        body = jsonutils.loads(response.text)
        for fault in body.values():
            fault['image_props_override'] = (
                self.wrapped_exc.image_props_override)
        response.text = jsonutils.dumps(body)
        return response


def fault(error: errors.OverrideError) -> OverrideFault:
    """Return ERROR as the fault that answers the request."""
    return OverrideFault(as_http(error))


def detailed(exception: webob.exc.WSGIHTTPException) -> typing.Any:
    """Return EXCEPTION as an OverrideFault when :func:`as_http` made it."""
    if hasattr(exception, 'image_props_override'):
        return OverrideFault(exception)
    return exception
