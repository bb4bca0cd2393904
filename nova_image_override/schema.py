"""The JSON Schema of each API version, made from the catalogue.

The same per-property schemas validate requests, are published in
``api_schemas/`` and answer discovery. They describe the canonical spelling of
a value; :meth:`nova_image_override.catalog.Property.canonical` folds the other
spellings that Nova reads as the same value before a request is validated.
"""

import typing

from nova_image_override import catalog as catalog_module
from nova_image_override import record
from nova_image_override import versions

#: Most properties that one request may name.
PROPERTIES_MAX = 128

DIALECT = 'https://json-schema.org/draft/2020-12/schema'

#: Characters that neither XML 1.0 (the guest's libvirt definition) nor a log
#: line can carry, and those that Nova's tables have no room for: MySQL's
#: utf8mb3 ends at U+FFFF.
UNSAFE = (r'[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff\ufffe\uffff]'
          r'|[^\u0000-\uffff]')

Schema = dict[str, typing.Any]


def property_schema(
        prop: catalog_module.Property, *, removal: bool = False) -> Schema:
    """Return the JSON Schema of the value of one property.

    Values are strings; ``contentSchema`` says what the string spells.

    :param removal: whether null is taken, which removes the image's property
    """
    result: Schema = {'type': 'string', 'description': prop.row.text}
    if prop.name_pattern:
        # The names of a family are a regular expression, which says little.
        result['title'] = prop.spelling
    if prop.kind == catalog_module.INTEGER:
        maximum = prop.row.maximum or 0
        result['pattern'] = f'^(0|[1-9][0-9]{{0,{len(str(maximum)) - 1}}})$'
        result['contentMediaType'] = 'application/json'
        result['contentSchema'] = {
            'type': 'integer', 'minimum': prop.row.minimum,
            'maximum': maximum}
    elif prop.values:
        result['enum'] = list(prop.values)
        if prop.kind == catalog_module.BOOLEAN:
            result['contentMediaType'] = 'application/json'
            result['contentSchema'] = {'type': 'boolean'}
    else:
        result['minLength'] = 1
        # In characters; the limit of 255 bytes of UTF-8 is checked beside.
        result['maxLength'] = record.VALUE_BYTES_MAX
        if prop.row.pattern:
            result['pattern'] = prop.row.pattern
    if 'enum' not in result:
        # Also ends the one difference between Python's and ECMA's "$", which
        # in Python matches before a trailing newline. The type is named
        # because null, which a pattern does not judge, is not unsafe.
        result['not'] = {'type': 'string', 'pattern': UNSAFE}
    if removal:
        result['type'] = ['string', 'null']
        if 'enum' in result:
            result['enum'].append(None)
    return result


def request_schema(
    version: versions.Version, properties: typing.Mapping[str, Schema],
) -> Schema:
    """Return the JSON Schema of ``image_props_override`` in VERSION.

    :param version: the extension's API version
    :param properties: property name, or regular expression (``^...$``) of
        the names of a family, -> schema of the value
    """
    result: Schema = {
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
    return result


def published(
    version: versions.Version, catalog: catalog_module.Catalog,
) -> Schema:
    """Return what any caller of any deployment can be permitted to send."""
    removal = versions.takes_null(version)
    return request_schema(version, {
        prop.name_pattern or field: property_schema(prop, removal=removal)
        for field, prop in catalog.items() if not prop.never})
