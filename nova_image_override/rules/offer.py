"""What one caller may send, as JSON Schemas: the rules, told in advance."""

import typing

from nova_image_override import catalog as catalog_module
from nova_image_override import schema
from nova_image_override import versions
from nova_image_override.rules import judge
from nova_image_override.rules import lists
from nova_image_override.rules import policy


def offered(
    rules: judge.Rules, caller: judge.Caller, *, removals: bool,
) -> dict[str, schema.Schema]:
    """Return what CALLER may override.

    :param rules: the deployer's rules
    :param caller: whom to answer
    :param removals: whether null is taken
    :returns: property name, or regular expression of the names of a family,
        -> JSON Schema of the value
    """
    refused = policy.refused_by(
        caller.can, caller.policy_defined, rules.catalog)
    result: dict[str, schema.Schema] = {}
    for field, prop in rules.catalog.items():
        if prop.never or field in refused:
            continue
        if prop.name_pattern:
            result.update(_family(rules, prop, removals))
        else:
            stand = rules.stand(field)
            value = _value(prop, stand.allowed, stand.denied, removals)
            if value is not None:
                result[field] = value
    return result


def _value(
    prop: catalog_module.Property,
    allowed: tuple[lists.Entry, ...], denied: tuple[lists.Entry, ...],
    removals: bool,
) -> schema.Schema | None:
    """Return the schema of the values that the entries leave, if any."""
    if not allowed or any(not entry.values for entry in denied):
        return None
    result = schema.property_schema(
        prop, removal=removals and any(not entry.values for entry in allowed))
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
    rules: judge.Rules, prop: catalog_module.Property, removals: bool,
) -> dict[str, schema.Schema]:
    """Return the members of a family (hw_numa_mem.N, trait:NAME) on offer.

    Entries may name the field or single members. Limits on the values of
    single members are shown together; create judges each for itself.
    """
    pattern = prop.name_pattern or ''
    allowed = rules.allowed.reaching(prop)
    denied = rules.denied.reaching(prop)
    value = _value(
        prop, tuple(entry for entry, _ in allowed),
        tuple(entry for entry, whole in denied if whole or entry.values),
        removals)
    if value is None:
        return {}
    names = [lists.glob_pattern(entry.name)
             for entry, whole in allowed if not whole]
    if names and len(names) == len(allowed):
        pattern = f'^(?=(?:{"|".join(names)})$){pattern[1:]}'
    barred = [lists.glob_pattern(entry.name)
              for entry, whole in denied if not whole and not entry.values]
    if barred:
        pattern = f'^(?!(?:{"|".join(barred)})$){pattern[1:]}'
    return {pattern: value}


def request_schema(
    rules: judge.Rules, caller: judge.Caller, version: versions.Version,
) -> schema.Schema:
    """Return the JSON Schema of what CALLER may send in VERSION."""
    return schema.request_schema(version, offered(
        rules, caller, removals=versions.takes_null(version)))
