"""What the findings are about: Nova's and Glance's rules, read from files."""

import collections.abc
import dataclasses
import functools
import re

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.authorization.glance import metadata_injection
from nova_image_override.authorization.glance import property_protections
from nova_image_override.authorization.lists import Entry
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module

#: Something is open that ought to be closed, or nova-api does not start.
ERROR = 'error'
#: Something does not do what it seems to do.
WARNING = 'warning'
#: Something to know; it does not affect the exit status.
NOTE = 'note'
SEVERITIES = (ERROR, WARNING, NOTE)

_LITERAL = re.compile(r'\^?((?:[A-Za-z0-9_:-]|\\[.])+)\$?')


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    :ivar code: which check found it; documented
    :ivar subjects: properties, entries or sections that it is about
    :ivar why: what it leads to
    :ivar change: what to do about it
    """

    severity: str
    code: str
    subjects: tuple[str, ...]
    why: str
    change: str


Findings = collections.abc.Iterator[Finding]


@dataclasses.dataclass
class Cloud:
    """One deployment.

    :ivar conf: nova.conf
    :ivar enforcer: the rules that nova-api holds
    :ivar caller: a plain tenant
    :ivar glance: rules that allow everything but what Glance forbids
    :ivar policy_file: the path of Glance's policy.yaml, if it is known
    :ivar property_quota: how many properties Glance lets an image have
    :ivar hypervisor_types: those of the compute nodes; None if they were not
        asked for
    """

    conf: cfg.ConfigOpts
    enforcer: Enforcer
    caller: Caller
    glance: Enforcer
    policy_file: str | None
    property_quota: int
    hypervisor_types: collections.abc.Set[str] | None = None

    @property
    def injection(self) -> metadata_injection.Injection:
        """What Glance injects."""
        return self.glance.injection

    @property
    def protections(self) -> property_protections.Protections | None:
        """What Glance protects."""
        return self.glance.protected.protections

    @property
    def roles(self) -> str:
        """The tenant's roles, for messages."""
        return ', '.join(self.caller.roles)

    @property
    def catalog(self) -> catalog_module.Catalog:
        """The running Nova's properties."""
        return self.enforcer.catalog

    @property
    def drivers(self) -> list[str]:
        """The virt drivers of its hosts, as nova.conf names them."""
        return sorted(self.conf[override_conf.GROUP.name].virt_drivers)

    @functools.cached_property
    def fields(self) -> dict[str, property_module.Property]:
        """One name for each property that some deployment could allow."""
        return {
            (field if prop.family is None else prop.family.member(
                'CUSTOM_' if prop.family is families.TRAITS else 0)): prop
            for field, prop in self.catalog.items() if not prop.never}

    @functools.cached_property
    def names(self) -> list[str]:
        """Every name that Glance may see: properties and legacy names, and
        what sections name literally."""
        return list(dict.fromkeys([
            *(each for name, prop in self.fields.items()
              for each in (name, *prop.legacy_names)),
            *(name for section in self.sections
              if (name := literal(section.name)) is not None)]))

    @property
    def sections(self) -> tuple[property_protections.Section, ...]:
        """The sections of Glance's file."""
        return () if self.protections is None \
            else self.protections.sections[1:]

    def exact(self, name: str) -> list[Entry]:
        """Return the entries that allow exactly this property by name."""
        names = (name, self.catalog.resolve(name).field)
        return [entry for entry in self.enforcer.allowed.covering(name)
                if entry.name in names]

    def allowed(self, name: str) -> bool:
        """Return whether our lists leave some value of NAME open."""
        return bool(self.enforcer.allowed.covering(name)) and all(
            entry.values for entry in self.enforcer.denied.covering(name))

    def closed(self, operation: str) -> list[str]:
        """Return the names for which a section denies OPERATION."""
        if self.protections is None:
            return []
        return [name for name in self.names
                if self.protections.section(name) is not None
                and not self.protections.permits(
                    name, operation, self.caller.credentials)]


def literal(section: str) -> str | None:
    """Return the one name that a section's header spells out, if it does."""
    found = _LITERAL.fullmatch(section)
    return found.group(1).replace('\\.', '.') if found else None


def read(
    conf: cfg.ConfigOpts, enforcer: Enforcer,
    caller: Caller, glance_files: list[str],
) -> Cloud:
    """Return the deployment.

    :param enforcer: the rules that nova-api holds
    :param glance_files: Glance's own configuration files; where there are
        none, what nova.conf names is believed
    :raises errors.StartupError: a file of Glance's cannot be read
    """
    ours = conf[override_conf.GROUP.name]
    glance = cfg.ConfigOpts()
    # glance/common/config.py, property_utils.py
    glance.register_opts([
        cfg.StrOpt('property_protection_file'),
        cfg.StrOpt('property_protection_rule_format', default='roles'),
        cfg.IntOpt('image_property_quota', default=128)])
    glance.register_opt(cfg.StrOpt('policy_file', default='policy.yaml'),
                        group='oslo_policy')
    try:
        glance([], project='glance', use_env=False, default_config_dirs=[],
               default_config_files=list(
                   glance_files or ours.glance_image_import_files))
        protection_file = glance.property_protection_file
        rule_format = glance.property_protection_rule_format
        policy_file = glance.find_file(glance.oslo_policy.policy_file)
        quota = glance.image_property_quota
    except (cfg.Error, ValueError) as exc:
        raise errors.StartupError(' '.join(str(exc).split())) from None
    injection = enforcer.injection
    protections = enforcer.protected.protections
    if glance_files:
        injection = metadata_injection.load(glance_files)
        protections = protection_file and property_protections.load(
            protection_file, rule_format, policy_file)
    else:
        policy_file = ours.property_protection_policy_file
    return Cloud(conf, enforcer, caller, Enforcer(
        enforcer.catalog, (), ('*',), injection, protections),
        policy_file, quota)
