"""``GET /image-props-override``: what this caller may send."""

from typing import Any

from nova.api.openstack import wsgi

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api import request as request_module
from nova_image_override.authorization.caller import Callers
from nova_image_override.authorization.enforcer import Enforcer


def resource(enforcer: Enforcer, callers: Callers) -> wsgi.Resource:
    """Return the discovery resource."""

    class Controller(wsgi.Controller):
        @wsgi.expected_errors(())
        def show(self, req: wsgi.Request) -> dict[str, Any]:
            context = req.environ['nova.context']
            request = request_module.naming(context)
            caller = callers.caller(context)
            version = request.version if request else versions.MAX
            return {errors.PARAMETER: {
                'min_version': str(versions.MIN),
                'max_version': str(versions.MAX),
                'schema': enforcer.schema(caller, version),
                'presets': {preset.name: {
                    'description': preset.description,
                    'properties': preset.properties,
                    'flavors': list(preset.flavors),
                    'digest': preset.used.digest,
                } for preset in enforcer.usable(caller)},
            }}

    return wsgi.Resource(Controller())
