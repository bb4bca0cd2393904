"""``GET /image-props-override``: what this caller may send."""

import typing

from nova.api.openstack import wsgi

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api import extension as extension_module
from nova_image_override.api import servers
from nova_image_override.authorization import overridable


def resource(extension: extension_module.Extension) -> wsgi.Resource:
    """Return the discovery resource."""

    class Controller(wsgi.Controller):
        @wsgi.expected_errors(())
        def show(self, req: wsgi.Request) -> dict[str, typing.Any]:
            version = req.environ.get(servers.VERSION, versions.MAX)
            caller = extension.caller(req.environ['nova.context'])
            return {errors.PARAMETER: {
                'min_version': str(versions.MIN),
                'max_version': str(versions.MAX),
                'schema': overridable.schema_for(
                    extension.enforcer, caller, version),
            }}

    return wsgi.Resource(Controller())
