"""What a cloud says about the extension to one user."""

import json

from tempest.lib.common import rest_client
from tempest.lib.services.compute import base_compute_client

from nova_image_override import versions
from nova_image_override_tempest_plugin.services import schemas

_VERSION = {'type': 'string', 'pattern': '^(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)$'}

_ANSWER = schemas.answer({
    'min_version': _VERSION,
    'max_version': _VERSION,
    'schema': {'type': 'object'},
    'presets': {'type': 'object'}})


class DiscoveryClient(base_compute_client.BaseComputeClient):
    """Asks without naming the extension."""

    def show_offer(self) -> rest_client.ResponseBody:
        """Return the versions, and the schema of what the user may send."""
        response, body = self.get(versions.PATH.lstrip('/'))
        body = json.loads(body)
        self.validate_response(_ANSWER, response, body)
        return rest_client.ResponseBody(response, body)
