"""What one caller may send, as JSON Schemas: the rules, told in advance.

Glance's protections ask whether the image has the property, which is not known
here: a property is on offer when the caller could be permitted to set it on
some image, null when the caller may remove it, and create judges both for the
image at hand.
"""

import collections.abc
import functools
import re
import typing

import os_traits

from nova_image_override import versions
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module
from nova_image_override.properties import request_schema
from nova_image_override.rules import judge
from nova_image_override.rules import lists
from nova_image_override.rules import policy
from nova_image_override.rules import protections


def offered(
    rules: judge.Rules, caller: judge.Caller, *, removals: bool,
) -> dict[str, property_module.Schema]:
    """Return what CALLER may override.

    :param rules: the deployer's rules
    :param caller: whom to answer
    :param removals: whether null is taken
    :returns: property name, or regular expression of the names of a family,
        -> JSON Schema of the value
    """
    refused = policy.refused_by(
        caller.can, caller.policy_defined, rules.catalog)
    result: dict[str, property_module.Schema] = {}
    for field, prop in rules.catalog.items():
        if prop.never or field in refused:
            continue
        if prop.name_pattern:
            result.update(_family(rules, caller, prop, removals))
        elif not injected(rules, caller, field):
            stand = rules.stand(field)
            value = _value(
                prop, stand.allowed, stand.denied,
                settable=settable(rules, caller, field),
                removable=removals and removable(rules, caller, field))
            if value is not None:
                result[field] = value
    return result


def injected(rules: judge.Rules, caller: judge.Caller, name: str) -> bool:
    """Say whether Glance injects the property called NAME for CALLER."""
    return judge.injected_refusal(
        name, rules.stand(name), rules.injection.names(caller.roles)
    ) is not None


def settable(rules: judge.Rules, caller: judge.Caller, name: str) -> bool:
    """Say whether Glance lets CALLER set the property on some image."""
    return all(
        rules.permits(each, protections.CREATE, caller)
        or rules.permits(each, protections.UPDATE, caller)
        for each in rules.needed(name, {name: ''}, {}))


def removable(rules: judge.Rules, caller: judge.Caller, name: str) -> bool:
    """Say whether Glance lets CALLER remove the property."""
    return all(
        rules.permits(each, operation, caller)
        for each, operation in rules.needed(name, {name: None}, {}).items())


def _value(
    prop: property_module.Property,
    allowed: tuple[lists.Entry, ...], denied: tuple[lists.Entry, ...],
    *, settable: bool, removable: bool,
) -> property_module.Schema | None:
    """Return the schema of the values that the rules leave, if any.

    :param settable: whether a value is taken
    :param removable: whether null is taken, if the entries allow it
    """
    if not allowed or any(not entry.values for entry in denied):
        return None
    removal = removable and any(not entry.values for entry in allowed)
    result = prop.schema(removal=removal)
    if not settable:
        words = {key: text for key, text in result.items()
                 if key in ('title', 'description')}
        return {'type': 'null', **words} if removal else None
    if 'enum' in result:
        result['enum'] = [
            value for value in result['enum']
            if any(entry.matches_value(value) for entry in allowed)
            and not any(entry.matches_value(value) for entry in denied)]
        return result if result['enum'] else None
    limits: list[typing.Any] = []
    if all(entry.values for entry in allowed):
        limits.append({'pattern': _any_of(allowed)})
    if denied:
        # Entries with values do not deny removal (null).
        limits.append(
            {'not': {'type': 'string', 'pattern': _any_of(denied)}})
    if limits:
        result['allOf'] = limits
    return result


def _any_of(entries: tuple[lists.Entry, ...]) -> str:
    alternatives = '|'.join(
        pattern.pattern for entry in entries for pattern in entry.patterns)
    return f'^(?:{alternatives})$'


def _family(
    rules: judge.Rules, caller: judge.Caller, prop: property_module.Property,
    removals: bool,
) -> dict[str, property_module.Schema]:
    """Return the members of a family (hw_numa_mem.N, trait:NAME) on offer.

    Entries may name the field or single members. Limits on the values of
    single members are shown together; create judges each for itself.
    """
    pattern = prop.name_pattern or ''
    allowed = rules.allowed.reaching(prop)
    denied = rules.denied.reaching(prop)
    names = [lists.glob_pattern(entry.name)
             for entry, whole in allowed if not whole]
    if names and len(names) == len(allowed):
        pattern = f'^(?=(?:{"|".join(names)})$){pattern[1:]}'
    barred = [lists.glob_pattern(entry.name)
              for entry, whole in denied if not whole and not entry.values]
    barred += [re.escape(name)
               for name in sorted(rules.injection.names(caller.roles))
               if rules.catalog.field_of(name) == prop.field]
    result: dict[str, property_module.Schema] = {}
    for (set_, remove), others in _permitted(
            rules, caller, prop, removals).items():
        value = _value(
            prop, tuple(entry for entry, _ in allowed),
            tuple(entry for entry, whole in denied if whole or entry.values),
            settable=set_, removable=remove)
        if value is not None:
            left_out = '|'.join([*barred, *map(re.escape, others)])
            result[f'^(?!(?:{left_out})$){pattern[1:]}'
                   if left_out else pattern] = value
    return result


def _permitted(
    rules: judge.Rules, caller: judge.Caller, prop: property_module.Property,
    removals: bool,
) -> dict[tuple[bool, bool], list[str]]:
    """Return what Glance lets CALLER do to members of a family.

    Of traits, which are without number, what it is for any of them.

    :returns: whether members can be set, and whether removed -> names of
        those that this does not hold for
    """
    if rules.protections is None:
        return {(True, removals): []}
    can = {name: (settable(rules, caller, name),
                  removals and removable(rules, caller, name))
           for name in _members(rules, prop)}
    if prop.family is families.TRAITS:
        return {(any(set_ for set_, _ in can.values()),
                 any(remove for _, remove in can.values())): []}
    return {each: [name for name in can if can[name] != each]
            for each in set(can.values())}


@functools.lru_cache(maxsize=16)
def _members(
    rules: judge.Rules, prop: property_module.Property,
) -> collections.abc.Sequence[str]:
    """Return names of a family; of the traits those that can be known.

    Those are os-traits', and what our lists and Glance's sections name.
    """
    if prop.family is not None and prop.family is not families.TRAITS:
        return [prop.family.member(index)
                for index in range(families.NUMA_NODES_MAX)]
    sections = rules.protections.sections if rules.protections else ()
    named = [*(entry.name for entry in rules.allowed.entries),
             *(section.name.strip('^$') for section in sections)]
    return [
        *map(families.TRAITS.member, ('CUSTOM_', *os_traits.get_traits())),
        *(name for name in named if rules.catalog.field_of(name) == prop.field)]


def schema_for(
    rules: judge.Rules, caller: judge.Caller, version: versions.Version,
) -> property_module.Schema:
    """Return the JSON Schema of what CALLER may send in VERSION."""
    return request_schema.build(version, offered(
        rules, caller, removals=versions.takes_null(version)))
