"""A folder with Nova's policy files, read as nova-api reads it."""

import itertools
import os

from oslo_config import cfg
from oslo_policy import opts
from oslo_policy import policy as oslo_policy
import yaml

from nova_image_override import policies
from nova_image_override.authorization import caller

TARGET = {'project_id': 'p'}

NOVAS = oslo_policy.RuleDefault(
    'project_member_or_admin',
    'role:admin or (role:member and project_id:%(project_id)s)')
ADMIN = oslo_policy.RuleDefault('context_is_admin', 'role:admin')


class Files:
    """A folder with policy files, and nova.conf's options that name them."""

    def __init__(self, folder):
        self.folder = folder
        self._written = itertools.count(1)
        self.conf = cfg.ConfigOpts()
        self.conf([])
        opts.set_defaults(self.conf)
        for option, value in (
                ('policy_file', str(folder / 'policy.yaml')),
                ('policy_dirs', [str(folder / 'policy.d')])):
            self.conf.set_override(option, value, group='oslo_policy')

    def write(self, text, name='policy.yaml'):
        """Write a file, each time with a newer modification time."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text if isinstance(text, str) else yaml.safe_dump(text))
        os.utime(path, (1, 2 ** 31 + next(self._written)))
        return path

    def read(self):
        return caller.watched_policy(
            self.conf, [NOVAS, ADMIN, *policies.list_rules()])


def can(enforcer, credentials):
    return lambda rule: enforcer.enforce(rule, TARGET, credentials)
