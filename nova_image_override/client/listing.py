"""What a cloud offers, as a table: read from the JSON Schema of discovery."""

import collections.abc
import typing

Schema = collections.abc.Mapping[str, typing.Any]

HEAD = ('Property', 'Type', 'Values')
HEAD_LONG = (*HEAD, 'Removable', 'Names', 'Description')


def rows(schema: Schema, *, long: bool) -> list[tuple[str, ...]]:
    """Return the table of what a schema permits.

    :param schema: of ``image_props_override``
    :param long: with the columns of HEAD_LONG instead of HEAD
    """
    offered = [
        *((name, '', value)
          for name, value in schema.get('properties', {}).items()),
        *((value.get('title', pattern), pattern, value)
          for pattern, value in schema.get('patternProperties', {}).items())]
    return sorted(
        (name, _type(value), _values(value),
         *((_removable(value), pattern, value.get('description', ''))
           if long else ()))
        for name, pattern, value in offered)


def _types(value: Schema) -> list[str]:
    types = value.get('type', [])
    return [types] if isinstance(types, str) else list(types)


def _type(value: Schema) -> str:
    content = value.get('contentSchema', {}).get('type')
    return content or ('enum' if 'enum' in value else 'string')


def _removable(value: Schema) -> str:
    return 'yes' if 'null' in _types(value) else 'no'


def _values(value: Schema) -> str:
    if _types(value) == ['null']:
        return '(only removal)'
    if 'enum' in value:
        return ', '.join(each for each in value['enum'] if each is not None)
    content = value.get('contentSchema', {})
    words = [f'{content["minimum"]} to {content["maximum"]}'] \
        if 'minimum' in content else []
    for limit in value.get('allOf', ()):
        # What the deployer's lists leave (nova_image_override.rules.offer).
        words.append(f'not {limit["not"]["pattern"]}' if 'not' in limit
                     else f'like {limit["pattern"]}')
    return '; '.join(words)
