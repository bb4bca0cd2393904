"""What Tempest compares the extension's own answers with."""

import typing

from nova_image_override import errors


def answer(
    content: dict[str, typing.Any], **optional: typing.Any,
) -> dict[str, typing.Any]:
    """Return the schema of an answer that has CONTENT under our name.

    :param content: key -> JSON Schema; each must be there
    :param optional: the same of the only other ones that may be there
    """
    return {
        'status_code': [200],
        'response_body': _object({errors.PARAMETER: _object(
            content, **optional)})}


def _object(
    properties: dict[str, typing.Any], **optional: typing.Any,
) -> dict[str, typing.Any]:
    return {'type': 'object', 'properties': {**properties, **optional},
            'required': list(properties), 'additionalProperties': False}
