"""The part of a property that the rules leave to a caller.

Discovery begins with all of a property, and each rule takes something away
(:meth:`nova_image_override.authorization.rules.Rule.limit`).
"""

import dataclasses
import functools
import re

from nova_image_override.properties.property import Property, Schema


@dataclasses.dataclass(frozen=True)
class Overridable:
    """A property, or members of a family, that may be overridden.

    Regular expressions are not anchored. Limits on the values of single
    members are shown together; create decides on each separately.

    :ivar members: regular expressions of the members of the family that may
        be overridden; none means all
    :ivar closed: those of members that may not
    :ivar allowed: those of the values that are permitted; none means all
    :ivar denied: those of values that are not
    :ivar settable: whether values may be sent
    :ivar removable: whether null may be sent
    """

    prop: Property
    members: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    settable: bool = True
    removable: bool = True

    @property
    def names(self) -> str:
        """The property's name, or the regular expression of the members'."""
        if self.prop.family is None:
            return self.prop.field
        pattern = self.prop.family.pattern[1:]
        if self.members:
            pattern = f'(?={_any_of(self.members)}$){pattern}'
        if self.closed:
            pattern = f'(?!{_any_of(self.closed)}$){pattern}'
        return f'^{pattern}'

    @property
    def is_open(self) -> bool:
        """True if anything can be sent, a value or null."""
        return self.can_be_set or self.removable

    @functools.cached_property
    def can_be_set(self) -> bool:
        """True if there is a value that can be sent."""
        return self.settable and (
            not self.prop.values or any(map(self._leaves, self.prop.values)))

    def _leaves(self, value: str) -> bool:
        return not _matches(self.denied, value) and (
            not self.allowed or _matches(self.allowed, value))

    @property
    def schema(self) -> Schema:
        """JSON Schema of what can be sent, if anything can."""
        schema = self.prop.schema(removal=self.removable)
        if not self.can_be_set:
            return {'type': 'null', **{
                key: value for key, value in schema.items()
                if key in ('title', 'description', 'drivers')}}
        if 'enum' in schema:
            schema['enum'] = [value for value in schema['enum']
                              if value is None or self._leaves(value)]
            return schema
        limits: list[Schema] = []
        if self.allowed:
            limits.append({'pattern': f'^{_any_of(self.allowed)}$'})
        if self.denied:
            # Denied values do not deny removal (null).
            limits.append({'not': {
                'type': 'string', 'pattern': f'^{_any_of(self.denied)}$'}})
        return {**schema, 'allOf': limits} if limits else schema


def _matches(patterns: tuple[str, ...], value: str) -> bool:
    return any(re.fullmatch(pattern, value) for pattern in patterns)


def _any_of(patterns: tuple[str, ...]) -> str:
    return f'(?:{"|".join(patterns)})'
