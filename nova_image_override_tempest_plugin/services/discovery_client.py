"""What a cloud says of the extension to one user."""

import json

from tempest.lib.common import rest_client
from tempest.lib.services.compute import base_compute_client

from nova_image_override import errors
from nova_image_override import versions

_VERSION = {'type': 'string', 'pattern': '^(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)$'}

_ANSWER = {
    'status_code': [200],
    'response_body': {
        'type': 'object',
        'properties': {
            errors.PARAMETER: {
                'type': 'object',
                'properties': {
                    'min_version': _VERSION,
                    'max_version': _VERSION,
                    'schema': {'type': 'object'}},
                'required': ['min_version', 'max_version', 'schema'],
                'additionalProperties': False}},
        'required': [errors.PARAMETER],
        'additionalProperties': False}}


class DiscoveryClient(base_compute_client.BaseComputeClient):
    """Asks without naming the extension."""

    def show_offer(self) -> rest_client.ResponseBody:
        """Return the versions, and the schema of what the user may send."""
        response, body = self.get(versions.PATH.lstrip('/'))
        body = json.loads(body)
        self.validate_response(_ANSWER, response, body)
        return rest_client.ResponseBody(response, body)
