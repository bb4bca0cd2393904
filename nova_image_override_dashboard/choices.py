"""What a user may override, as a form needs it.

Made from the JSON Schema that the cloud gives this user, so that the browser
needs to know nothing about schemas, and no list of properties is kept here.
"""

import re
import typing

from django.utils import translation

from nova_image_override.properties import book
from nova_image_override.properties import schema_words

#: What stands for the rest of a member's name in a family's title.
_PLACEHOLDER = re.compile('(N|NAME)$')

Schema = dict[str, typing.Any]


def choices(schema: Schema) -> list[Schema]:
    """Return what each property's row shows and takes, by purpose and name.

    :param schema: that of ``image_props_override``
    :returns: for each property or family: ``name``, ``prefix``,
        ``name_pattern`` and ``numbered`` (for families: whether members have
        numbers for names), ``purpose``, ``description``, ``kind``,
        ``can_set`` and ``removable``, ``values`` (for enumerations and
        booleans), ``minimum`` and ``maximum`` (for integers), ``like`` and
        ``unlike`` (regular expressions of a value), ``expects``
    """
    purposes = list(book.PURPOSES)
    found = [_choice(name, value) for name, value in (
        *schema.get('properties', {}).items(),
        *schema.get('patternProperties', {}).items())]
    found.sort(key=lambda choice: (
        purposes.index(choice['purpose']), choice['name']))
    for choice in found:
        purpose = choice['purpose']
        choice['purpose'] = translation.gettext(purpose)
    return found


def _choice(name: str, schema: Schema) -> Schema:
    is_family = name.startswith('^')
    shown = schema.get('title', name) if is_family else name
    values = schema_words.values(shown, schema)
    can_set = values != [schema_words.ONLY_REMOVAL]
    kind = schema_words.kind(schema)
    content = schema.get('contentSchema', {})
    limits = [schema, *schema.get('allOf', ())]
    return {
        'name': shown,
        'prefix': _PLACEHOLDER.sub('', shown) if is_family else None,
        'name_pattern': name if is_family else None,
        'numbered': is_family and shown.endswith('.N'),
        'purpose': book.purpose_of(book.field_of(shown)),
        'description': schema.get('description', ''),
        'kind': kind,
        'can_set': can_set,
        'removable': schema_words.is_removable(schema),
        'values': values if can_set and 'enum' in schema else None,
        'minimum': content.get('minimum'),
        'maximum': content.get('maximum'),
        'like': [limit['pattern'] for limit in limits if 'pattern' in limit
                 and not _has_other_spellings(name)],
        'unlike': [limit['not']['pattern'] for limit in limits
                   if 'not' in limit],
        'expects': ', '.join(values),
    }


def _has_other_spellings(name: str) -> bool:
    """Return whether the cloud takes more than the schema: 2MB for 2048."""
    record = book.RECORDS.get(name)
    return record is not None and record.limits.size
