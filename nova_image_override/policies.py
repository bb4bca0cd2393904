"""Policy rules of the extension, in Nova's own terms.

They live in Nova's policy.yaml, next to
``os_compute_api:servers:create``.
"""
from __future__ import annotations

from collections.abc import Iterator

from oslo_policy import policy

from nova_image_override.properties import catalog as catalog_module

#: May the caller override image properties at all?
CREATE = 'os_compute_api:servers:create:image_props_override'


#: The rule that a deployer may add for one property, by its canonical field
#: name, such as ``hw_numa_cpus``.
PROPERTY_RULE = f'{CREATE}:{{}}'

#: The rule that a deployer may add for one preset, by its name.
PRESET_RULE = f'{CREATE}:preset:{{}}'


def list_rules(
    catalog: catalog_module.Catalog | None = None,
) -> Iterator[policy.RuleDefault]:
    """Return the rules to register (entry point ``oslo.policy.policies``)."""
    # Nova's policies/base.py PROJECT_MEMBER_OR_ADMIN.
    rules = [(CREATE, 'rule:project_member_or_admin',
              'Create, rebuild or update a server with image_props_override.')]
    rules += [
        (PROPERTY_RULE.format(field), f'rule:{CREATE}',
         f'Override {prop.spelling}. Checked only where policy.yaml defines '
         f'it, and beside {CREATE}, which must pass too.')
        for field, prop in (catalog or catalog_module.running()).items()
        if not prop.record.never]
    for name, check_str, description in rules:
        yield policy.DocumentedRuleDefault(
            name, check_str, description, scope_types=['project'], operations=[
                {'path': '/servers', 'method': 'POST'},
                {'path': '/servers/{server_id}/action (rebuild)',
                 'method': 'POST'},
                {'path': '/servers/{server_id}', 'method': 'PUT'}])
