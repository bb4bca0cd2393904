"""Random protections files, from what operators write and mistype."""

import json
import random

NAMES = (
    'hw_vif_model', 'hw_vif_model_x', 'my_hw_vif_model', 'HW_VIF_MODEL',
    'hw_disk_bus', 'vm_mode', 'hw_vm_mode', 'x_billing', 'x_os_glance_y',
    'os_glance_a', 'trait:CUSTOM_GOLD', 'hw_numa_mem.0', 'x', 'é',
    'kernel_id')

HEADERS = (
    'hw_vif_model', '^hw_vif_model$', 'hw_', '^hw_.*', '.*', '^x_.*$', 'x_*',
    'os_glance_a', 'os_glance.*', 'vm_mode', '^(hw_vm_mode|vm_mode)$', '[xy]_',
    'trait:.*', r'hw_numa_mem\.\d+', '(?i)hw_vif', '^(?!x_).*$', 'é', 'X',
    'hw_disk_bus ', ' hw_disk_bus', 'a]b', 'x_billing] # money]', 'DEFAULT',
    'hw_.{3}_model', 'billing|bus')
BROKEN_HEADERS = ('(', '[a', '*', 'x{2,1}', '')
COSTLY_HEADERS = ('(x+)+$', '(a|a)*b', '.*_.*_.*_')

ROLES = (
    '@', '!', '', 'admin', 'member', 'Member', 'admin,member', 'admin, member',
    'ADMIN ,reader', ',', 'member,', 'service', 'admin,service', '@,admin',
    '!,admin', 'member # comment', 'member ; admin', '@ # all', '%(read)s',
    'admin\n  member', 'admin,\n\tmember', 'a=b', 'a:b', '100%%')
BROKEN_ROLES = ('@,!', '100%', '%(nothing)s', '%x')

POLICIES = (
    '@', '!', '', 'makers', 'admins', 'everybody', 'nobody_is', 'default',
    'context_is_admin', 'service_api', 'nested', 'owners', 'this_project',
    'not_admin', 'makers or role:reader', 'makers and role:reader',
    '%(read)s', 'MAKERS')
#: Names that policy.yaml lacks.
UNDEFINED = ('nothing', 'role:admin', '"makers"', 'dangling', 'hidden')
BROKEN_POLICIES = ('makers,admins', '100%')

POLICY_YAML = {
    'makers': 'role:member', 'admins': 'role:admin', 'everybody': '',
    'nobody_is': '!', 'nested': 'rule:makers or rule:admins',
    'owners': 'project_id:%(project_id)s', 'this_project':
    'project_id:project', 'not_admin': 'not role:admin',
    'dangling': 'rule:nowhere', 'hidden': 'role:reader or rule:nowhere',
}

CALLERS = (
    {'roles': [], 'service_roles': []},
    {'roles': ['member', 'reader'], 'service_roles': []},
    {'roles': ['reader'], 'service_roles': []},
    {'roles': ['admin', 'member', 'reader'], 'service_roles': []},
    {'roles': ['member # comment', ''], 'service_roles': []},
    {'roles': ['member', 'reader'], 'service_roles': ['service']},
)


def policy_yaml() -> str:
    """Return Glance's policy.yaml."""
    return json.dumps(POLICY_YAML)


def protections(chance: random.Random, rule_format: str) -> str:
    """Return the text of one file, usually one that Glance accepts."""
    values = ROLES if rule_format == 'roles' else POLICIES + UNDEFINED
    broken = BROKEN_ROLES if rule_format == 'roles' else BROKEN_POLICIES
    lines = []
    if chance.random() < 0.1:
        lines.append(chance.choice(('# comment', '', '; comment')))
    if chance.random() < 0.005:
        lines.append('create = @')
    headers = chance.sample(HEADERS, chance.choice((0, 1, 1, 2, 2, 3, 5, 8)))
    if chance.random() < 0.02:
        headers.append(chance.choice(BROKEN_HEADERS + COSTLY_HEADERS))
    if headers and chance.random() < 0.01:
        headers.append(chance.choice(headers))
    for header in headers:
        lines.append(f'[{header}]' + chance.choice(('', '', '', ' # x', '  ')))
        operations = ['create', 'read', 'update', 'delete']
        if chance.random() < 0.2:
            chance.shuffle(operations)
        if chance.random() < 0.02:
            operations.remove(chance.choice(operations))
        if chance.random() < 0.01:
            operations.append(chance.choice(operations))
        for operation in operations:
            if chance.random() < 0.05:
                operation = operation.upper()
            value = chance.choice(
                broken if chance.random() < 0.005 else values)
            lines.append(operation + chance.choice(
                (' = ', '=', ' : ', ':', ' =')) + value)
            if chance.random() < 0.01:
                lines.append(chance.choice(
                    ('# comment', '  continued', 'no value', '', '[')))
    text = '\n'.join(lines) + '\n'
    if chance.random() < 0.005:
        text = '\ufeff' + text
    if chance.random() < 0.05:
        text = text.replace('\n', '\r\n')
    return text
