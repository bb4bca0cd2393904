"""Policy rules of the extension, in Nova's own terms.

They live in Nova's policy.yaml, next to
``os_compute_api:servers:create``.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from oslo_policy import policy

from nova_image_override import errors
from nova_image_override.properties.catalog import Catalog

#: May the caller override image properties at all?
CREATE = 'os_compute_api:servers:create:image_props_override'

#: The rule that a deployer may add for one property, by its canonical field
#: name, such as ``hw_numa_cpus``.
PROPERTY_RULE = f'{CREATE}:{{}}'

#: The rule that a deployer may add for one preset, by its name.
PRESET_RULE = f'{CREATE}:preset:{{}}'

#: May the caller learn whether a host can take a server now?
HOSTS = f'{CREATE}:hosts'


def unknown(
    defined: Iterable[str], catalog: Catalog, presets: Iterable[str],
) -> dict[str, str]:
    """Return the rules DEFINED that are never checked, and seem to be ours.

    :returns: rule -> the one that was meant, or ''
    """
    known = {CREATE, HOSTS, *map(PRESET_RULE.format, presets), *(
        PROPERTY_RULE.format(field) for field, prop in catalog.items()
        if not prop.record.never)}
    found = {}
    for name in [each for each in defined if each not in known
                 and isinstance(each, str)]:
        # Names are compared without what all of their kind begin with.
        prefix = next(filter(name.startswith, (
            PRESET_RULE.format(''), PROPERTY_RULE.format(''))), '')
        ends = {each[len(prefix):]: each
                for each in known if each.startswith(prefix)}
        near = errors.nearest(
            name[len(prefix):], ends, 0.75 if prefix else 0.9)
        if prefix or near:
            found[name] = ends.get(near, '')
    return found


def single_checks(check: Any) -> Iterator[Any]:
    """Yield the checks of oslo.policy that CHECK is made of."""
    if isinstance(check, policy.NotCheck):
        yield from single_checks(check.rule)
    elif isinstance(check, (policy.AndCheck, policy.OrCheck)):
        for each in check.rules:
            yield from single_checks(each)
    else:
        yield check


def references(
    check: Any, rules: Mapping[str, Any], above: tuple[str, ...] = (),
) -> Iterator[str]:
    """Yield the rules that CHECK refers to, at any depth.

    :raises ValueError: one of them refers to itself
    """
    for each in single_checks(check):
        if isinstance(each, policy.RuleCheck):
            name = each.match
            if name in above:
                raise ValueError(f'rule {name} refers to itself')
            yield name
            if name in rules:
                yield from references(rules[name], rules, (*above, name))


def deciding(rules: Mapping[str, Any]) -> set[str]:
    """Return those of RULES that are ours, and all that they refer to.

    :raises ValueError: one of them refers to itself
    """
    # YAML's "yes:" is no text.
    ours = {name for name in rules
            if isinstance(name, str) and name.startswith(CREATE)}
    return ours.union(*(
        references(rules[name], rules, (name,)) for name in ours))


def list_rules() -> Iterator[policy.RuleDefault]:
    """Return the rules to register (entry point ``oslo.policy.policies``).

    Those of properties and presets have no default: they are checked only
    where a deployer has defined them.
    """
    # Nova's policies/base.py PROJECT_MEMBER_OR_ADMIN.
    yield policy.DocumentedRuleDefault(
        CREATE, 'rule:project_member_or_admin',
        'Create, rebuild or update a server with image_props_override.\n\n'
        f'A rule {PROPERTY_RULE.format("<property>")} may be defined for one '
        f'property, and {PRESET_RULE.format("<name>")} for one preset. They '
        'are checked only where they are defined, and beside this one, which '
        'must pass too.',
        scope_types=['project'], operations=[
            {'path': '/servers', 'method': 'POST'},
            {'path': '/servers/{server_id}/action (rebuild)',
             'method': 'POST'},
            {'path': '/servers/{server_id}', 'method': 'PUT'}])
    # Nova's policies/base.py ADMIN.
    yield policy.DocumentedRuleDefault(
        HOSTS, 'rule:context_is_admin',
        'Have a check of a create say whether a host can take the server '
        'now.\n\nThe answer names no host and no number, but who asks again '
        'and again, with other flavors and properties, learns what room there '
        'is.',
        scope_types=['project'], operations=[
            {'path': '/image-props-override/check', 'method': 'POST'}])
