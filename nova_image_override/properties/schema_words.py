"""The JSON Schema of a property, in words for people.

The operator's commands and the tools of tenants, which have neither Nova nor
jsonschema, thus say the same.
"""

from collections.abc import Mapping
from typing import Any

from nova_image_override.properties import book

Schema = Mapping[str, Any]

#: Patterns of values -> the same in words. A pattern that this table does not
#: have, from a cloud with a newer package, is shown as it is.
_PATTERNS = {limits.pattern: limits.expects for limits in (
    record.limits for record in book.RECORDS.values()) if limits.pattern}

#: Stands for the values of a property that can only be removed.
ONLY_REMOVAL = '(only removal)'


def kind(schema: Schema) -> str:
    """Return the type of a value: boolean, integer, enum or string."""
    return str(schema.get('contentSchema', {}).get('type') or (
        'enum' if 'enum' in schema else 'string'))


def is_removable(schema: Schema) -> bool:
    """Return whether null is accepted, which removes the image's property."""
    return 'null' in _types(schema)


def values(name: str, schema: Schema) -> list[str]:
    """Return the allowed values of a property, or phrases for them."""
    if _types(schema) == ['null']:
        return [ONLY_REMOVAL]
    if 'enum' in schema:
        return [value for value in schema['enum'] if value is not None]
    return [text(name, schema), *(
        # What the deployer's lists permit.
        f'not {limit["not"]["pattern"]}' if 'not' in limit
        else f'like {limit["pattern"]}' for limit in schema.get('allOf', ()))]


def _types(schema: Schema) -> list[str]:
    types = schema.get('type', [])
    return [types] if isinstance(types, str) else list(types)


def text(name: str, schema: Schema) -> str:
    """Return the allowed values of the property, in one phrase."""
    content = schema.get('contentSchema', {})
    if 'minimum' in content:
        return (f'an integer from {content["minimum"]} to '
                f'{content["maximum"]}')
    if 'enum' in schema:
        return 'true or false' if content else 'one of ' + ', '.join(
            schema['enum'])
    pattern = schema.get('pattern')
    if pattern is not None:
        return _PATTERNS.get(pattern) or f'like {pattern}'
    record = book.RECORDS.get(name)
    return (record and record.limits.expects) or 'text'
