"""What Tempest compares the extension's own answers with."""

import typing

from nova_image_override import errors


def answer(content: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """Return the schema of an answer that has CONTENT under our name.

    :param content: key -> JSON Schema; each must be there, and no other
    """
    return {
        'status_code': [200],
        'response_body': _object({errors.PARAMETER: _object(content)})}


def _object(properties: dict[str, typing.Any]) -> dict[str, typing.Any]:
    return {'type': 'object', 'properties': properties,
            'required': list(properties), 'additionalProperties': False}
