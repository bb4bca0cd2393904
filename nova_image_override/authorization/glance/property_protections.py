"""Glance's property protections, checked as Glance checks them.

Glance lets roles or policies create, read, update and delete image properties
(``property_protection_file``, glance/common/property_utils.py PropertyRules).
What a user may not do to a property of an image in Glance, the user may not do
to that of a server with an override. The file is read here rather than through
Glance, because importing Glance brings in fourteen packages and puts its
options next to Nova's; a test compares the two readers.

Three differences are deliberate:

* an unreadable or empty file is an error (Glance then denies everything);
* a policy that is not defined denies (Glance then permits everybody);
* only the user's own roles count (Glance adds those of a service token).
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
import configparser
import dataclasses
import functools
import logging
import re
from typing import Any

from oslo_config import cfg
from oslo_policy import policy as oslo_policy

from nova_image_override import errors
from nova_image_override import policies as our_policies
from nova_image_override.authorization import config_files
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.watched_files import UNREADABLE

LOG = logging.getLogger(__name__)

#: In the text of a regular expression: too many rather than too few, so
#: escaped ones count too. The "?" of "(?:" and the like is no repetition.
_REPETITION = re.compile(r'[*+{]|(?<!\()\?|\\\(\?')
_REPEATED_GROUP = re.compile(r'\)\s*[*+{?]')

CREATE = 'create'
READ = 'read'
UPDATE = 'update'
DELETE = 'delete'
OPERATIONS = (CREATE, READ, UPDATE, DELETE)

ROLES = 'roles'
POLICIES = 'policies'

#: The option of ``[image_override]`` that names the file.
OPTION = 'property_protection_file'
POLICY_OPTION = 'property_protection_policy_file'

#: Glance's namespace, which PropertyRules._inject_os_glance_section opens to
#: everybody before any section of the file.
OS_GLANCE = 'os_glance'

#: Rules that glance/policies/base.py registers for others to refer to.
GLANCE_RULES = {
    'default': '',
    'context_is_admin': 'role:admin',
    'service_api': 'role:service or role:admin',
}


@dataclasses.dataclass(frozen=True)
class Section:
    """One section: the properties that it matches, and who may do what.

    :ivar pattern: the section's header, searched for, not anchored
    :ivar permissions: operation -> what the file says, split into parts
    """

    pattern: re.Pattern[str]
    permissions: Mapping[str, tuple[str, ...]]


class Protections:
    """One protections file that has been read.

    :param policies: checks the policies that they name; None when they name
        roles
    """

    #: Names whose section is remembered: traits have no end.
    CACHE_SIZE = 8192

    def __init__(
        self, sections: Iterable[Section], policies: Policies | None = None,
    ) -> None:
        everybody = dict.fromkeys(OPERATIONS, ('@',))
        self.sections = (
            Section(re.compile(f'{OS_GLANCE}.*'), everybody), *sections)
        self.policies = policies
        #: The section that decides on the property called NAME, or None.
        self.section = functools.lru_cache(self.CACHE_SIZE)(self._section)

    def _section(self, name: str) -> Section | None:
        return next((section for section in self.sections
                     if section.pattern.search(name)), None)

    def permits(self, name: str, operation: str, caller: Caller) -> bool:
        """Return whether Glance lets CALLER do OPERATION to the property NAME.

        Nobody may touch what no section matches, administrators included.
        """
        section = self.section(name)
        if section is None:
            return False
        allowed = section.permissions[operation]
        if '!' in allowed:
            return False
        if '@' in allowed:
            return True
        if self.policies is not None:
            return bool(allowed) and caller.permitted_by(
                self.policies, allowed[0])
        return not {role.lower() for role in allowed}.isdisjoint(caller.roles)


class Policies:
    """The policies that sections name, from Glance's policy.yaml.

    Unlike Glance's own enforcer, this reads no file when a request is checked.

    :raises ValueError: rules refer to each other in a circle
    """

    def __init__(self, names: Iterable[str], rules: oslo_policy.Rules) -> None:
        every = oslo_policy.Rules.from_dict(GLANCE_RULES)
        every.update(rules)
        options = cfg.ConfigOpts()
        # Before its release 4.5 or so, the enforcer asks for a file.
        options([], default_config_files=[], default_config_dirs=[])
        self._enforcer = oslo_policy.Enforcer(
            options, rules=every, use_conf=False)
        # As PropertyRules._add_policy_rules makes them: the file may have more
        # than a name, such as "mine or role:admin".
        self._checks = oslo_policy.Rules.from_dict(
            {name: f'rule:{name}' for name in names})
        #: Names in the sections that refer to a rule that is not there.
        self.undefined = frozenset(
            name for name, check in self._checks.items()
            if not every.keys() >= {*our_policies.references(check, every)})

    def permits(self, name: str, credentials: Mapping[str, Any]) -> bool:
        """Check the policy called NAME, without a target, as Glance does."""
        return name not in self.undefined and bool(self._enforcer.enforce(
            self._checks[name], {}, dict(credentials)))


def load(
    path: str, rule_format: str = ROLES, policy_path: str | None = None,
) -> Protections:
    """Read a protections file, with the values of Glance's own options.

    :raises errors.StartupError: a file cannot be read, or Glance would refuse
        it, or an expression in it could take too long to match
    """
    # Like Glance's own parser: strict, with interpolation of "%".
    parser = configparser.ConfigParser()
    try:
        parser.read_string(config_files.read(OPTION, path), source=path)
    except configparser.Error as exc:
        raise config_files.failure(OPTION, path, exc) from None
    sections = [
        _section_of(parser, name, rule_format, path)
        for name in parser.sections() if not name.startswith(OS_GLANCE)]
    if not sections:
        raise config_files.failure(
            OPTION, path, 'is empty: no section that counts')
    if rule_format != POLICIES:
        return Protections(sections)
    names = {permission for section in sections
             for allowed in section.permissions.values()
             for permission in allowed if permission not in ('@', '!')}
    text = '' if policy_path is None else config_files.read(
        POLICY_OPTION, policy_path)
    try:
        policies = Policies(names, oslo_policy.Rules.load(text))
    except UNREADABLE as exc:
        raise config_files.failure(
            POLICY_OPTION, str(policy_path), f'malformed: {exc}') from None
    if policies.undefined:
        LOG.warning(
            '[image_override] %s: these policies are not defined and deny '
            'everybody (in Glance they permit everybody): %s',
            OPTION, ', '.join(sorted(policies.undefined)))
    return Protections(sections, policies)


def _section_of(
    parser: configparser.ConfigParser, name: str, rule_format: str,
    path: str,
) -> Section:
    try:
        pattern = compiled(name)
        permissions = {
            operation: _parts(parser.get(name, operation), rule_format)
            for operation in OPERATIONS}
    except (configparser.Error, ValueError) as exc:
        raise config_files.failure(
            OPTION, path, f'section {errors.printable(name)}: {exc}') from None
    return Section(pattern, permissions)


def compiled(expression: str) -> re.Pattern[str]:
    """Compile a regular expression that property names are matched against.

    Python's ``re`` backtracks and has no time limit: one careless expression
    would let a tenant's property name stop nova-api.

    :raises ValueError: it is malformed, or could take too long to match; the
        message says which
    """
    shown = errors.printable(expression)
    try:
        pattern = re.compile(expression)
    except (re.error, RecursionError, OverflowError) as exc:
        raise ValueError(
            f'malformed regular expression {shown}: {exc}') from None
    if (len(_REPETITION.findall(expression)) > 2
            or _REPEATED_GROUP.search(expression)):
        raise ValueError(
            f'regular expression {shown} could take too long to match a '
            'property name: use at most two of *, +, ? and {, and none of '
            'them after a group')
    return pattern


def _parts(value: str, rule_format: str) -> tuple[str, ...]:
    """Return the roles, or the one policy, of one permission."""
    if not value:
        return ()
    if rule_format == POLICIES:
        if ',' in value:
            raise ValueError(f'one policy only, not {value}')
        return (value,)
    parts = tuple(part.strip() for part in value.split(','))
    if '@' in parts and '!' in parts:
        raise ValueError(f'"@" and "!" exclude each other: {value}')
    return parts
