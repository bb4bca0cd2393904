"""What one caller may override, as JSON Schemas: the rules, known in advance.

Glance's protections ask whether the image has the property, which is not known
here. So a property may be overridden when the caller could be permitted to set
it on some image, null is accepted when the caller may remove it, and create
decides on both for the image at hand.
"""

import collections.abc
import dataclasses
import functools
import re
import typing

import os_traits

from nova_image_override import versions
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import decisions
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.authorization import policy_files
from nova_image_override.authorization import property_lists
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module
from nova_image_override.properties import request_schema

Entries = collections.abc.Sequence[property_lists.Entry]


@dataclasses.dataclass(frozen=True)
class Overridable:
    """A property, or members of a family, that may be overridden.

    :ivar prop: the property
    :ivar names: its name, or the regular expression of the names of members
    :ivar schema: JSON Schema of the value
    """

    prop: property_module.Property
    names: str
    schema: property_module.Schema

    @property
    def can_be_set(self) -> bool:
        """Whether a value can be sent, and not only null."""
        return bool(self.schema['type'] != 'null')


class _Operations(typing.NamedTuple):
    """What Glance's protections let a caller do."""

    can_set: bool
    can_remove: bool


def overridable(
    enforcer: enforcer_module.Enforcer, caller: caller_module.Caller,
) -> collections.abc.Iterator[Overridable]:
    """Yield what CALLER may override."""
    refused = policy_files.refused_by(
        caller.can, caller.policy_defined, enforcer.catalog)
    for field, prop in enforcer.catalog.items():
        if prop.never or field in refused:
            continue
        found = (_single(enforcer, caller, prop) if prop.family is None
                 else _members(enforcer, caller, prop, prop.family))
        for names, schema in found.items():
            yield Overridable(prop, names, schema)


def schema_for(
    enforcer: enforcer_module.Enforcer, caller: caller_module.Caller,
    version: versions.Version,
) -> property_module.Schema:
    """Return the JSON Schema of what CALLER may send in VERSION."""
    return request_schema.build(version, {
        each.names: each.schema for each in overridable(enforcer, caller)})


def _single(
    enforcer: enforcer_module.Enforcer, caller: caller_module.Caller,
    prop: property_module.Property,
) -> dict[str, property_module.Schema]:
    """Return the schema of a property without members, if any."""
    name = prop.field
    made = enforcer.decide(caller, name, decisions.AnyValue.ANY, ())
    if not all(decision.permits for decision in made):
        return {}
    rules = enforcer.rules_of(name)
    schema = _schema(
        prop, rules.allowed, rules.denied,
        _operations(enforcer, caller, name))
    return {} if schema is None else {name: schema}


def _operations(
    enforcer: enforcer_module.Enforcer, caller: caller_module.Caller,
    name: str,
) -> _Operations:
    return _Operations(
        enforcer.can_set(caller, name), enforcer.can_remove(caller, name))


# --- values -----------------------------------------------------------------

def _schema(
    prop: property_module.Property, allowed: Entries, denied: Entries,
    operations: _Operations,
) -> property_module.Schema | None:
    """Return the schema of the values that the rules leave, if any.

    :param allowed: entries that allow PROP, or some values of it
    :param denied: entries that deny some values of it
    """
    removal = operations.can_remove and any(
        not entry.values for entry in allowed)
    if operations.can_set:
        result = prop.schema(removal=removal)
        if 'enum' not in result:
            return _limited(result, allowed, denied)
        result['enum'] = _listed(result['enum'], allowed, denied)
        if {*result['enum']} - {None}:
            return result
    return _only_removal(prop) if removal else None


def _only_removal(prop: property_module.Property) -> property_module.Schema:
    return {'type': 'null', **{
        key: said for key, said in prop.schema().items()
        if key in ('title', 'description', 'drivers')}}


def _listed(
    values: list[str | None], allowed: Entries, denied: Entries,
) -> list[str | None]:
    """Keep the listed values that the entries leave."""
    return [
        value for value in values
        if any(entry.matches_value(value) for entry in allowed)
        and not any(entry.matches_value(value) for entry in denied)]


def _limited(
    schema: property_module.Schema, allowed: Entries, denied: Entries,
) -> property_module.Schema:
    """Limit values that cannot be listed to those that the entries leave."""
    limits: list[typing.Any] = []
    if all(entry.values for entry in allowed):
        limits.append({'pattern': _any_of(allowed)})
    if denied:
        # Entries with values do not deny removal (null).
        limits.append({'not': {'type': 'string', 'pattern': _any_of(denied)}})
    return {**schema, 'allOf': limits} if limits else schema


def _any_of(entries: Entries) -> str:
    alternatives = '|'.join(
        pattern.pattern for entry in entries for pattern in entry.patterns)
    return f'^(?:{alternatives})$'


# --- families ---------------------------------------------------------------

def _members(
    enforcer: enforcer_module.Enforcer, caller: caller_module.Caller,
    prop: property_module.Property, family: families.Family,
) -> dict[str, property_module.Schema]:
    """Return the schemas of members of a family (hw_numa_mem.N, trait:NAME).

    Entries may name the field or single members. Limits on the values of
    single members are shown together; create decides on each separately.
    """
    allowed = enforcer.allowed.reaching(prop)
    denied = enforcer.denied.reaching(prop)
    if not allowed or any(
            each.whole_family and not each.entry.values for each in denied):
        return {}
    # Single members that are closed, as regular expressions.
    closed = [
        *(property_lists.glob_pattern(each.entry.name)
          for each in denied if not each.entry.values),
        *(re.escape(name)
          for name in sorted(enforcer.injection.names(caller.roles))
          if family.has(name))]
    limits = [each.entry for each in denied if each.entry.values]
    result: dict[str, property_module.Schema] = {}
    for operations, others in _by_operations(
            enforcer, caller, family).items():
        schema = _schema(
            prop, [each.entry for each in allowed], limits, operations)
        if schema is not None:
            result[_names(
                family, allowed, [*closed, *map(re.escape, others)])] = schema
    return result


def _names(
    family: families.Family,
    allowed: collections.abc.Sequence[property_lists.Reaching],
    closed: collections.abc.Sequence[str],
) -> str:
    """Return the regular expression of the members that may be overridden.

    :param closed: regular expressions of the members that may not
    """
    narrowed = family.pattern[1:]
    if not any(each.whole_family for each in allowed):
        some = '|'.join(
            property_lists.glob_pattern(each.entry.name) for each in allowed)
        narrowed = f'(?=(?:{some})$){narrowed}'
    if closed:
        narrowed = f'(?!(?:{"|".join(closed)})$){narrowed}'
    return f'^{narrowed}'


def _by_operations(
    enforcer: enforcer_module.Enforcer, caller: caller_module.Caller,
    family: families.Family,
) -> dict[_Operations, list[str]]:
    """Return what Glance lets CALLER do to members of a family.

    For traits, which are unlimited in number, this is what it lets CALLER do
    to any of them.

    :returns: operations -> names of the members that they do not hold for
    """
    if enforcer.protections is None:
        return {_Operations(True, True): []}
    found = {name: _operations(enforcer, caller, name)
             for name in _known_names(enforcer, family)}
    if family is families.TRAITS:
        return {_Operations(
            any(each.can_set for each in found.values()),
            any(each.can_remove for each in found.values())): []}
    return {each: [name for name in found if found[name] != each]
            for each in set(found.values())}


@functools.lru_cache(maxsize=16)
def _known_names(
    enforcer: enforcer_module.Enforcer, family: families.Family,
) -> collections.abc.Sequence[str]:
    """Return the names of a family; for traits, those that can be known.

    Those are the names in os-traits, and those that our lists and Glance's
    sections name.
    """
    if family is not families.TRAITS:
        return [family.member(index)
                for index in range(families.NUMA_NODES_MAX)]
    sections = enforcer.protections.sections if enforcer.protections else ()
    named = [*(entry.name for entry in enforcer.allowed.entries),
             *(section.name.strip('^$') for section in sections)]
    return [*map(family.member, ('CUSTOM_', *os_traits.get_traits())),
            *(name for name in named if family.has(name))]
