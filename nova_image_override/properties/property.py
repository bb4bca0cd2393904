"""One image property: its type, its limits, and everything made from them.

A property folds the spellings of a value that Nova reads as the same, checks
the value, and describes its values as a JSON Schema. The same schema validates
requests, is published in ``api_schemas/`` and answers discovery.
"""
from __future__ import annotations

import abc
from collections.abc import Mapping
import dataclasses
import functools
import re
import string
from typing import Any, ClassVar

import jsonschema
from oslo_utils import strutils
from oslo_versionedobjects import fields as field_types

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.properties import cpu_lists
from nova_image_override.properties import families
from nova_image_override.properties import schema_words
from nova_image_override.properties.book.vocabulary import Limits, Record
from nova_image_override.properties.families import Family

#: Characters that neither XML 1.0 (the guest's libvirt definition) nor a log
#: line can carry, and those that Nova's tables cannot hold: MySQL's utf8mb3
#: ends at U+FFFF.
UNSAFE = (r'[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff\ufffe\uffff]'
          r'|[^\u0000-\uffff]')

#: A JSON Schema (draft 2020-12), or a part of one.
Schema = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Property(abc.ABC):
    """One image property, or one family of them.

    :ivar field: the field of ``ImageMetaProps``: the canonical name, to which
        rules refer
    :ivar values: allowed values, where they can be listed
    :ivar family: the family, if its members have names of their own
    :ivar legacy: other names under which Nova reads the field -> all the
        fields that it reads from each
    """

    field: str
    record: Record
    values: tuple[str, ...] = ()
    family: Family | None = None
    legacy: Mapping[str, tuple[str, ...]] = dataclasses.field(
        default_factory=dict)
    nova_field: Any = dataclasses.field(default=None, compare=False, repr=False)

    #: The characters that a stored value can have, where they are few.
    characters: ClassVar[str] = ''

    @property
    def spelling(self) -> str:
        """The name in requests: the field, or a form such as ``trait:NAME``."""
        return self.family.spelling if self.family else self.field

    @property
    def expects(self) -> str:
        """Valid values, in words."""
        return schema_words.text(self.field, self._limits())

    def read(self, name: str, value: str) -> str | errors.Problem:
        """Return the spelling of VALUE that is stored, or what is wrong.

        :param name: the name under which a problem is reported
        """
        value = self.canonical(value)
        for fault in self._validator.iter_errors(value):
            return self._explained(name, value, fault)
        # Lone surrogates, which UTF-8 does not have, are among UNSAFE.
        size = len(value.encode('utf-8'))
        if size > metadata_keys.VALUE_BYTES_MAX:
            return _too_long(name, f'{size} bytes of UTF-8')
        reason = self.wrong_with(value)
        if reason:
            return errors.Problem(name, errors.INVALID_VALUE, reason)
        return value

    def canonical(self, value: str) -> str:
        """Return the spelling of VALUE that is stored.

        Folds only what Nova reads as the same value: spellings of booleans
        (oslo.utils' strict ones), leading zeros, case and aliases of
        enumerations (``amd64`` is ``x86_64``), units of sizes. A value that
        cannot be folded comes back as it is, for the schema to refuse.
        """
        # Lower case would fold look-alikes: the Kelvin sign becomes a "k".
        return self._folded(value) if value.isascii() else value

    def _folded(self, value: str) -> str:
        return value

    def wrong_with(self, value: str) -> str | None:
        """Return what no JSON Schema can find wrong with a canonical VALUE."""
        return None

    def schema(self, *, removal: bool = False) -> Schema:
        """Return the JSON Schema of the value, in its canonical spelling.

        Values are strings; ``contentSchema`` has the type that one represents.
        The parts of Nova that act on the property are under a keyword of our
        own, which validators ignore.

        :param removal: whether null is accepted
        """
        result: Schema = {
            'type': 'string', 'description': self.record.description}
        if self.family:
            # The names of a family are a regular expression, which says
            # little.
            result['title'] = self.spelling
        result |= self._limits()
        if 'enum' not in result:
            # Also removes the one difference between Python's and ECMA's "$",
            # which in Python matches before a trailing newline. The type is
            # named because null, which a pattern does not check, is not
            # unsafe.
            result['not'] = {'type': 'string', 'pattern': UNSAFE}
        if removal:
            result['type'] = ['string', 'null']
            if 'enum' in result:
                result['enum'].append(None)
        result['drivers'] = self.record.acting
        return result

    @abc.abstractmethod
    def _limits(self) -> Schema:
        """Return the keywords of the schema that limit the value."""

    @functools.cached_property
    def _validator(self) -> jsonschema.Draft202012Validator:
        return jsonschema.Draft202012Validator(self.schema())

    def _explained(
        self, name: str, value: str, fault: jsonschema.ValidationError,
    ) -> errors.Problem:
        if len(value) > metadata_keys.VALUE_BYTES_MAX:
            return _too_long(name, f'{len(value)} characters')
        if fault.validator == 'not':
            reason = 'must not hold control characters, nor any beyond U+FFFF'
        elif value.lower() in ('', 'null', 'none'):
            reason = (
                f'must not be {value or "empty"}; to remove the image\'s '
                f'property, send null without quotes (openstack: {name}=; '
                f'metadata: image_props_override={{"{name}": null}})')
        else:
            reason = f'must be {self.expects}, not {errors.printable(value)}'
        return errors.Problem(name, errors.INVALID_VALUE, reason)


def _too_long(name: str, size: str) -> errors.Problem:
    return errors.Problem(
        name, errors.TOO_LONG,
        f'at most {metadata_keys.VALUE_BYTES_MAX} bytes of UTF-8, not {size}')


class Boolean(Property):
    """A property that is true or false."""

    def _folded(self, value: str) -> str:
        lowered = value.lower()
        if lowered in strutils.TRUE_STRINGS:
            return 'true'
        return 'false' if lowered in strutils.FALSE_STRINGS else value

    def _limits(self) -> Schema:
        return {'enum': list(self.values),
                'contentMediaType': 'application/json',
                'contentSchema': {'type': 'boolean'}}


class Integer(Property):
    """A property that is a whole number."""

    characters = string.digits

    def _folded(self, value: str) -> str:
        if re.fullmatch('0+[1-9][0-9]*|00+', value):
            return value.lstrip('0') or '0'
        return value

    def wrong_with(self, value: str) -> str | None:
        """Check that VALUE is in range."""
        # The schema's pattern has bounded the number of digits.
        limits = self.record.limits
        return None if limits.minimum <= int(value) <= limits.maximum \
            else f'must be {self.expects}, not {value}'

    def _limits(self) -> Schema:
        limits = self.record.limits
        digits = len(str(limits.maximum)) - 1
        return {'pattern': f'^(0|[1-9][0-9]{{0,{digits}}})$',
                'contentMediaType': 'application/json',
                'contentSchema': {'type': 'integer', 'minimum': limits.minimum,
                                  'maximum': limits.maximum}}


class Enumeration(Property):
    """A property that is one of several words; Nova's field knows aliases."""

    def _folded(self, value: str) -> str:
        if not isinstance(self.nova_field, field_types.BaseEnumField):
            return value
        try:
            return str(self.nova_field.coerce(None, self.field, value))
        except ValueError:
            return value

    def _limits(self) -> Schema:
        return {'enum': list(self.values)}


class Text(Property):
    """A property whose value is text."""

    def _limits(self) -> Schema:
        # In characters; the limit of 255 bytes of UTF-8 is checked separately.
        result: Schema = {
            'minLength': 1, 'maxLength': metadata_keys.VALUE_BYTES_MAX}
        if self.record.limits.pattern:
            result['pattern'] = self.record.limits.pattern
        return result


class CpuList(Text):
    """A property whose value is a list of CPUs, such as ``0-3,^2``."""

    characters = f'{string.digits},-^'

    def wrong_with(self, value: str) -> str | None:
        """Check the size and the ranges of the list, without expanding it."""
        fault = cpu_lists.extent(value).fault
        if fault:
            return fault
        for item in value.split(','):
            first, _, last = item.removeprefix('^').partition('-')
            if int(first) > int(last or first):
                return f'range {item} ends before it begins'
        return None


class Size(Text):
    """A property whose value may be a size with a unit, stored in KiB."""

    characters = string.ascii_lowercase + string.digits

    def _folded(self, value: str) -> str:
        # nova/virt/hardware.py _get_numa_pagesize_constraint: units are
        # powers of 1024 with or without the "i".
        size = re.fullmatch('([1-9][0-9]{0,5})([KMG])i?B', value)
        return str(int(size[1]) << 10 * 'KMG'.index(size[2])) if size \
            else value


class Parsed(Text):
    """Text with a grammar that only Nova's field knows."""

    def wrong_with(self, value: str) -> str | None:
        """Check that Nova can read VALUE."""
        try:
            self.nova_field.coerce(None, self.field, value)
        except ValueError:
            return f'must be {self.expects}'
        return None


def make(nova_field: Any, **common: Any) -> Property:
    """Return the property of one of Nova's fields."""
    values: tuple[str, ...] = ()
    limits: Limits = common['record'].limits
    kind: type[Property] = Text
    if common['field'] == families.TRAITS.field:
        kind, values = Enumeration, ('required',)
    elif isinstance(nova_field, field_types.FlexibleBooleanField):
        kind, values = Boolean, ('true', 'false')
    elif limits.maximum:
        kind = Integer
    elif isinstance(nova_field, field_types.BaseEnumField):
        kind, values = Enumeration, tuple(nova_field.valid_values)
    elif limits.values:
        kind, values = Enumeration, limits.values
    elif isinstance(nova_field, field_types.VersionPredicateField):
        kind = Parsed
    elif limits.cpu_list:
        kind = CpuList
    elif limits.size:
        kind = Size
    return kind(nova_field=nova_field, values=values, **common)
