"""What the findings are about: Nova's and Glance's rules, read from files."""

import collections.abc
import dataclasses
import functools
import re
import typing

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.authorization import property_lists
from nova_image_override.authorization.glance import metadata_injection
from nova_image_override.authorization.glance import property_protections
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module

#: Something is open that ought to be closed, or nova-api does not start.
ERROR = 'error'
#: Something does not do what it seems to do.
WARNING = 'warning'
#: Something to know; it does not affect the exit status.
NOTE = 'note'

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
    :ivar injection: what Glance injects
    :ivar protections: what Glance protects
    :ivar options: further options of Glance's files
    :ivar cinder: options of Cinder's files, if they are known
    :ivar hypervisor_types: those of the compute nodes; None if they were not
        asked for
    """

    conf: cfg.ConfigOpts
    enforcer: enforcer_module.Enforcer
    caller: caller_module.Caller
    injection: metadata_injection.Injection
    protections: property_protections.Protections | None
    options: dict[str, typing.Any]
    cinder: dict[str, typing.Any] | None = None
    hypervisor_types: collections.abc.Set[str] | None = None

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

    @functools.cached_property
    def glance(self) -> enforcer_module.Enforcer:
        """Rules that allow everything but what Glance forbids."""
        return enforcer_module.Enforcer(
            self.catalog, (), ('*',), self.injection, self.protections)

    def exact(self, name: str) -> list[property_lists.Entry]:
        """Return the entries that allow exactly this property by name."""
        rules = self.enforcer.rules_of(name)
        return [entry for entry in rules.allowed
                if entry.name in (name, rules.field)]

    def allowed(self, name: str) -> bool:
        """Return whether our lists leave some value of NAME open."""
        rules = self.enforcer.rules_of(name)
        return bool(rules.allowed) and not any(
            not entry.values for entry in rules.denied)

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


#: Options of Glance besides those that the rules read (glance/common/
#: config.py, property_utils.py).
GLANCE_OPTIONS = (
    cfg.StrOpt('property_protection_file'),
    cfg.StrOpt('property_protection_rule_format', default='roles'),
    cfg.IntOpt('image_property_quota', default=128),
)

#: cinder/image/image_utils.py
CINDER_OPTIONS = (cfg.ListOpt('reserved_image_namespaces', default=[]),)


def read_options(
    project: str, paths: collections.abc.Sequence[str],
    options: collections.abc.Sequence[cfg.Opt],
) -> dict[str, typing.Any]:
    """Read OPTIONS of another service's configuration files.

    :returns: their values, and "policy_file": the path of its policy.yaml, or
        None
    :raises errors.StartupError: a file cannot be read
    """
    conf = cfg.ConfigOpts()
    conf.register_opts(options)
    conf.register_opt(cfg.StrOpt('policy_file', default='policy.yaml'),
                      group='oslo_policy')
    try:
        conf([], project=project, use_env=False,
             default_config_files=list(paths), default_config_dirs=[])
        return {**{option.dest: conf[option.dest] for option in options},
                'policy_file': conf.find_file(conf.oslo_policy.policy_file)}
    except (cfg.Error, ValueError) as exc:
        raise errors.StartupError(' '.join(str(exc).split())) from None
