"""Findings about Nova's policy files: rules that are never checked or met."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from oslo_policy import policy as oslo_policy

from nova_image_override import errors
from nova_image_override import policies
from nova_image_override.cmd.check.finding import ERROR, Finding
from nova_image_override.cmd.check.rules import Cloud


def findings(cloud: Cloud) -> Iterator[Finding]:
    """Yield the rules that are never checked, or can never be met."""
    enforcer = cloud.planner.callers.policy.content()
    for name, near in policies.unknown(
            enforcer.file_rules, cloud.enforcer.catalog,
            cloud.enforcer.presets.now()).items():
        yield Finding(
            ERROR, 'P1', name,
            'policy.yaml defines it, and nothing checks it: there is no rule, '
            'property or preset of this name',
            f'write {near}' if near else 'name a preset that there is, or the '
            'canonical field, such as '
            f'{policies.PROPERTY_RULE.format("hw_numa_mem")}, or remove it')
    credentials = {*cloud.context.to_policy_values()}
    deciding = policies.deciding(enforcer.rules)
    for name in filter(deciding.__contains__, enforcer.file_rules):
        for check in policies.single_checks(enforcer.rules[name]):
            why = _never_met(check, enforcer, name, credentials)
            if why:
                yield Finding(
                    ERROR, 'P3', name,
                    f'policy.yaml: no request meets {check}: {why}',
                    'correct it')


def _never_met(
    check: Any, enforcer: oslo_policy.Enforcer, name: str,
    credentials: set[str],
) -> str:
    """Return why nobody can meet a check of the rule NAME, or ''."""
    text = enforcer.file_rules[name].check_str
    if str(check) == '!' and '!' not in text:
        return f'oslo.policy cannot read {text!r}'
    if isinstance(check, oslo_policy.RuleCheck):
        return '' if check.match in enforcer.rules else (
            'no file defines this rule'
            + errors.did_you_mean(check.match, enforcer.rules))
    # What oslo.policy takes for a credential, because it is no other kind.
    if type(check).__name__ != 'GenericCheck':
        return ''
    try:
        # As GenericCheck does: True:%(user.enabled)s
        ast.literal_eval(check.kind)
    except (SyntaxError, ValueError):
        kind = check.kind.partition('.')[0]
        return '' if kind in credentials else (
            'there is no such kind of check, and no such credential'
            + errors.did_you_mean(kind, {*credentials, 'role', 'rule'}))
    return ''
