"""oslo.policy: which callers may override, and which properties.

The rules are registered in Nova's own enforcer, so policy.yaml, its live
reload and Nova's credentials serve them as they serve Nova's.
"""

import collections.abc

from oslo_policy import policy as oslo_policy

from nova_image_override import catalog as catalog_module
from nova_image_override import policies

#: Says whether the caller passes a policy rule.
Can = collections.abc.Callable[[str], bool]


class FileRules(collections.abc.Container[str]):
    """Names of the rules that the policy files define at the moment.

    The enforcer reads changed files at its next decision and puts another
    dict into ``file_rules`` then.
    """

    def __init__(self, enforcer: oslo_policy.Enforcer) -> None:
        self._enforcer = enforcer

    def __contains__(self, name: object) -> bool:
        return name in self._enforcer.file_rules


def register(
    enforcer: oslo_policy.Enforcer, catalog: catalog_module.Catalog,
) -> None:
    """Register our rules in ENFORCER; doing it twice changes nothing."""
    if policies.CREATE not in enforcer.registered_rules:
        enforcer.register_defaults(list(policies.list_rules(catalog)))


def refused_by(
    can: Can, defined: collections.abc.Container[str],
    fields: collections.abc.Iterable[str],
) -> dict[str, str]:
    """Return the policy rule that refuses each of FIELDS.

    :param can: judges a rule for the caller
    :param defined: names of the rules that policy.yaml defines
    :param fields: canonical field names
    :returns: field -> name of the refusing rule; permitted ones left out
    """
    if not can(policies.CREATE):
        return dict.fromkeys(fields, policies.CREATE)
    # A rule that policy.yaml does not define is CREATE again.
    rules = {field: policies.property_rule(field) for field in fields}
    return {field: rule for field, rule in rules.items()
            if rule in defined and not can(rule)}
