"""The clients of the extension, and what they compare answers with."""

import copy
import json
import typing

from tempest.lib.common import rest_client
from tempest.lib.services.compute import base_compute_client
from tempest.lib.services.compute import servers_client

from nova_image_override import errors
from nova_image_override import versions


def _object(
    properties: dict[str, typing.Any], **optional: typing.Any,
) -> dict[str, typing.Any]:
    """Return the schema of an object with PROPERTIES, and perhaps OPTIONAL."""
    return {'type': 'object', 'properties': {**properties, **optional},
            'required': list(properties), 'additionalProperties': False}


def _answer(schema: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """Return what an answer is compared with that has SCHEMA under our name."""
    return {'status_code': [200],
            'response_body': _object({errors.PARAMETER: schema})}


_VERSION = {'type': 'string', 'pattern': '^(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)$'}

_OFFER = _answer(_object({
    'min_version': _VERSION, 'max_version': _VERSION,
    'schema': {'type': 'object'}, 'presets': {'type': 'object'}}))

_CHECKED = _answer(_object(
    {'properties': {'type': 'object'}, 'overridden': {'type': 'object'}},
    # It reveals extra specs of the flavor, which the user may not read.
    numa_topology={'type': ['object', 'null']},
    left_out={'type': 'integer'}))

#: What an answer shows of one server.
_SHOWN = {
    errors.PARAMETER: {
        'type': 'object',
        'additionalProperties': {'type': ['string', 'null']}},
    errors.PRESET: {
        **_object({'name': {'type': 'string'}, 'digest': {'type': 'string'}}),
        'type': ['object', 'null']}}


class DiscoveryClient(base_compute_client.BaseComputeClient):
    """Asks without naming the extension."""

    def show_offer(self) -> rest_client.ResponseBody:
        """Return the versions, and the schema of what the user may send."""
        response, body = self.get(versions.PATH.lstrip('/'))
        body = json.loads(body)
        self.validate_response(_OFFER, response, body)
        return rest_client.ResponseBody(response, body)


class ServersClient(servers_client.ServersClient):
    """Tempest's client, which names the extension in every request.

    Methods take ``image_props_override`` as they take everything else that
    Nova does. An answer that shows a server must show its overrides, and
    the preset that they came with.

    :ivar version: of the extension; the newest that we know, unless changed
    """

    version = str(versions.MAX)

    def get_headers(self) -> dict[str, str]:
        """Return Tempest's headers, with our entry next to Nova's."""
        headers = super().get_headers()
        # A global of Tempest's, set by each test's fixture.
        compute = base_compute_client.COMPUTE_MICROVERSION
        headers[versions.HEADER] = ', '.join((
            *([f'compute {compute}'] if compute else []),
            f'{versions.SERVICE_TYPE} {self.version}'))
        return headers

    def check_server(self, **server: typing.Any) -> rest_client.ResponseBody:
        """Return what a create of SERVER would get."""
        response, body = self.post(
            versions.CHECK_PATH.lstrip('/'), json.dumps({'server': server}))
        body = json.loads(body)
        super().validate_response(_CHECKED, response, body)
        return rest_client.ResponseBody(response, body)

    @classmethod
    def validate_response(
        cls, schema: dict[str, typing.Any], resp: typing.Any,
        body: typing.Any,
    ) -> None:
        """Check an answer against Tempest's schema and ours.

        :raises InvalidHTTPResponseBody: it does not fit, or shows a server
            without its overrides
        """
        schema = copy.deepcopy(schema)
        keys = schema.get('response_body', {}).get('properties', {})
        for server in keys.get('server'), keys.get('servers', {}).get('items'):
            # Answers to create, and lists without details, show less of it.
            if server and 'status' in server['properties']:
                server['properties'].update(_SHOWN)
                server['required'] += _SHOWN
        super().validate_response(schema, resp, body)
