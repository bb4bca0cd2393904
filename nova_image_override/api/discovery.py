"""``GET /image-props-override``: what this caller may send."""

from typing import Any

from nova.api.openstack import wsgi

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api import asked
from nova_image_override.api.change.plan import Planner


def resource(planner: Planner) -> wsgi.Resource:
    """Return the discovery resource."""

    class Controller(wsgi.Controller):
        @wsgi.expected_errors(())
        def show(self, req: wsgi.Request) -> dict[str, Any]:
            context = req.environ['nova.context']
            caller = planner.callers.caller(context)
            version = asked.version_of(req) or versions.MAX
            return {errors.PARAMETER: {
                'min_version': str(versions.MIN),
                'max_version': str(versions.MAX),
                'schema': planner.schema(caller, version),
                'presets': {preset.name: {
                    'description': preset.description,
                    'properties': preset.overrides.values,
                    'flavors': list(preset.flavors),
                    'digest': preset.digest,
                } for preset in planner.usable(caller)},
            }}

    return wsgi.Resource(Controller())
