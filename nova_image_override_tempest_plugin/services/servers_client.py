"""Servers with overrides."""

import copy
import json
import typing

from tempest.lib.common import rest_client
from tempest.lib.services.compute import base_compute_client
from tempest.lib.services.compute import servers_client

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override_tempest_plugin.services import schemas

#: What an answer shows of one server.
_SHOWN = {
    errors.PARAMETER: {
        'type': 'object',
        'additionalProperties': {'type': ['string', 'null']}},
    errors.PRESET: {
        'type': ['object', 'null'], 'required': ['name', 'digest'],
        'properties': {'name': {'type': 'string'},
                       'digest': {'type': 'string'}},
        'additionalProperties': False}}

_CHECKED = schemas.answer({
    'properties': {'type': 'object'},
    'overridden': {'type': 'object'}},
    # It reveals extra specs of the flavor, which the user may not read.
    numa_topology={'type': ['object', 'null']},
    left_out={'type': 'integer'})


class ServersClient(servers_client.ServersClient):
    """Tempest's client, which names the extension in every request.

    Methods take ``image_props_override`` as they take everything else that
    Nova does. An answer that shows a server must show its overrides, and
    the preset that they came with.

    :ivar version: of the extension; the newest that we know, unless changed
    """

    def __init__(self, *args: typing.Any, **kwargs: typing.Any) -> None:
        super().__init__(*args, **kwargs)
        self.version = str(versions.MAX)

    def get_headers(self) -> dict[str, str]:
        """Return Tempest's headers, with our entry next to Nova's."""
        headers = super().get_headers()
        # A global of Tempest's, set by each test's fixture.
        compute = base_compute_client.COMPUTE_MICROVERSION
        entries = [f'compute {compute}'] if compute else []
        entries.append(f'{versions.SERVICE_TYPE} {self.version}')
        headers[versions.HEADER] = ', '.join(entries)
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
        super().validate_response(_showing(schema), resp, body)


def _showing(schema: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """Return SCHEMA with the overrides of every server that it shows."""
    result = copy.deepcopy(schema)
    body = result.get('response_body', {}).get('properties', {})
    for server in body.get('server'), body.get('servers', {}).get('items'):
        # Answers to create, and lists without details, show less of it.
        if server and 'status' in server['properties']:
            server['properties'].update(_SHOWN)
            server['required'] += _SHOWN
    return result
