"""The deployment that is checked: Nova's and Glance's rules, from files."""

from collections.abc import Set
import dataclasses
import functools

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.authorization import property_lists
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.authorization.glance import metadata_injection
from nova_image_override.authorization.glance import property_protections
from nova_image_override.properties.property import Property


@dataclasses.dataclass
class Cloud:
    """One deployment.

    :ivar conf: nova.conf
    :ivar enforcer: the rules that nova-api holds
    :ivar caller: a plain tenant
    :ivar glance: rules that allow everything but what Glance forbids
    :ivar hypervisor_types: those of the compute nodes; None if they were not
        asked for
    """

    conf: cfg.ConfigOpts
    enforcer: Enforcer
    caller: Caller
    glance: Enforcer
    hypervisor_types: Set[str] | None = None

    @property
    def roles(self) -> str:
        """The tenant's roles, for messages."""
        return ', '.join(self.caller.roles)

    @property
    def drivers(self) -> list[str]:
        """The virt drivers of its hosts, as nova.conf names them."""
        return sorted(self.conf[override_conf.GROUP.name].virt_drivers)

    @property
    def lists(self) -> tuple[property_lists.PropertyList, ...]:
        """The deployer's two lists."""
        return self.enforcer.denied, self.enforcer.allowed

    @functools.cached_property
    def properties(self) -> list[Property]:
        """The properties that some deployment could allow."""
        return [prop for prop in self.enforcer.catalog.values()
                if not prop.never]

    def reached(
        self, rules: property_lists.PropertyList, entry: property_lists.Entry,
    ) -> list[Property]:
        """Return the properties that an entry of a list can concern."""
        return [prop for prop in self.properties
                if any(found.text == entry.text
                       for found, _ in rules.reaching(prop))]


def read(
    conf: cfg.ConfigOpts, enforcer: Enforcer, caller: Caller,
    glance_files: list[str],
) -> Cloud:
    """Return the deployment.

    :param enforcer: the rules that nova-api holds
    :param glance_files: Glance's own configuration files; where there are
        none, the copies that nova.conf names are trusted
    :raises errors.StartupError: a file of Glance's cannot be read
    """
    injection, protections = enforcer.injection, enforcer.protections
    if glance_files:
        injection = metadata_injection.load(glance_files)
        protections = _protections(glance_files)
    return Cloud(conf, enforcer, caller, Enforcer(
        enforcer.catalog, (), ('*',), injection, protections))


def _protections(
    glance_files: list[str],
) -> property_protections.Protections | None:
    """Return what Glance's own configuration files protect."""
    glance = cfg.ConfigOpts()
    # glance/common/property_utils.py
    glance.register_opts([
        cfg.StrOpt('property_protection_file'),
        cfg.StrOpt('property_protection_rule_format', default='roles')])
    glance.register_opt(cfg.StrOpt('policy_file', default='policy.yaml'),
                        group='oslo_policy')
    try:
        glance([], project='glance', use_env=False, default_config_dirs=[],
               default_config_files=glance_files)
        path = glance.property_protection_file
        return property_protections.load(
            path, glance.property_protection_rule_format,
            glance.find_file(glance.oslo_policy.policy_file),
        ) if path else None
    except (cfg.Error, ValueError) as exc:
        raise errors.StartupError(' '.join(str(exc).split())) from None
