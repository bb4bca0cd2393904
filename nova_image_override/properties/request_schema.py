"""The JSON Schema of a whole request, in each API version.

It is made of the schemas of properties, both for what any caller of any
deployment can be permitted to send, which is published (tools/schemas.py), and
for what one caller may send.
"""

from collections.abc import Mapping

from nova_image_override import versions
from nova_image_override.properties.property import Schema

#: The most properties that one request may name.
PROPERTIES_MAX = 128

DIALECT = 'https://json-schema.org/draft/2020-12/schema'


def build(
    version: versions.Version, properties: Mapping[str, Schema],
) -> Schema:
    """Return the JSON Schema of ``image_props_override`` in VERSION.

    :param properties: property name, or regular expression (``^...$``) of
        the names of a family, -> schema of the value
    """
    return {
        '$schema': DIALECT,
        'title': f'image_props_override {version}',
        'description': 'Image properties to override for this server.',
        'type': 'object',
        'maxProperties': PROPERTIES_MAX,
        # Python's "$" again, for the names of families.
        'propertyNames': {'not': {'pattern': '[^A-Za-z0-9_.:]'}},
        'properties': {name: value for name, value in properties.items()
                       if not name.startswith('^')},
        'patternProperties': {name: value
                              for name, value in properties.items()
                              if name.startswith('^')},
        'additionalProperties': False,
    }
