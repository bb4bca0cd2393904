"""What one nova-api holds of the extension, and what one request holds."""

import dataclasses
import typing

from nova import policies as nova_policies
import nova.conf
from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override import override
from nova_image_override import policies
from nova_image_override import versions
from nova_image_override.api import doors as doors_module
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.authorization import policy_files
from nova_image_override.properties import catalog as catalog_module

#: Attribute of the request context that carries a RequestState. nova-api makes
#: one context for each request and RequestContext.to_dict leaves foreign
#: attributes out, so it reaches neither another request nor another service.
_STATE = 'image_props_override'


@dataclasses.dataclass
class RequestState:
    """What one request that names the extension carries along.

    :ivar version: the extension's version that the request uses
    :ivar asked: what create or rebuild asks for; None when it does not say
    :ivar record: the system metadata rows that say what create asked for
    :ivar auto_disk_config: what create asks of the disk, until the image's
        properties are merged
    """

    version: versions.Version
    asked: override.Overrides | None = None
    record: dict[str, str | None] = dataclasses.field(default_factory=dict)
    auto_disk_config: bool | None = None


def set_state(context: typing.Any, state: RequestState) -> None:
    """Let CONTEXT carry STATE to the compute API and the view builder."""
    setattr(context, _STATE, state)


def state_of(context: typing.Any) -> RequestState | None:
    """Return what CONTEXT carries; None when it does not name the service."""
    return getattr(context, _STATE, None)


@dataclasses.dataclass(frozen=True)
class Extension:
    """Everything that is made once at start.

    Nothing of it changes but the rules of ``policy``, with Nova's files.
    """

    catalog: catalog_module.Catalog
    parser: override.Parser
    merger: override.Merger
    enforcer: enforcer_module.Enforcer
    doors: doors_module.Doors
    policy: policy_files.PolicyFiles

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> 'Extension':
        """Read the deployer's rules, and which doors are open.

        :raises nova_image_override.errors.StartupError: a rule, or another
            option, is malformed
        """
        override_conf.register_opts(conf)
        options = conf[override_conf.GROUP.name]
        return cls.with_rules(
            enforcer_module.Enforcer.from_options(
                catalog_module.running(), options
            ),
            doors_module.Doors.from_options(options),
        )

    @classmethod
    def with_rules(
        cls, enforcer: enforcer_module.Enforcer,
        doors: doors_module.Doors = doors_module.CLOSED,
    ) -> 'Extension':
        """Make the extension of rules that somebody else has read.

        :raises nova_image_override.errors.StartupError: a policy file cannot
            be read
        """
        catalog = enforcer.catalog
        return cls(
            catalog, override.Parser(catalog), override.Merger(catalog),
            enforcer, doors, policy_files.PolicyFiles(nova.conf.CONF, (
                *nova_policies.list_rules(), *policies.list_rules(catalog))))

    def caller(
        self, context: typing.Any, owner: typing.Any = None,
    ) -> caller_module.Caller:
        """Return who makes the request of CONTEXT, for the rules.

        :param owner: whose project and user policy judges against: an
            instance, or by default the context itself
        """
        enforcer = self.policy.enforcer()
        # As nova/api/openstack/compute/servers.py create and rebuild do.
        owner = owner or context
        target = {'project_id': owner.project_id, 'user_id': owner.user_id}
        # As oslo.policy takes a context apart that nova/policy.py authorize
        # gives it (Enforcer._map_context_attributes_into_creds).
        values = dict(context.to_policy_values().items())
        return caller_module.Caller(
            can=lambda rule: enforcer.permits(rule, target, values),
            policy_defined=enforcer.file_rules,
            credentials=_credentials(context, values))


def _credentials(
    context: typing.Any, values: dict[str, typing.Any],
) -> dict[str, typing.Any]:
    """Return what Glance's oslo.policy would see of the user of CONTEXT.

    Without what Nova adds (RequestContext.to_policy_values: is_admin) and
    without the roles of a service token, which are not the user's.

    :param values: what Nova's sees
    """
    return {
        **{key: values[key] for key in (
            'user_id', 'user_domain_id', 'project_id', 'project_domain_id',
            'domain_id', 'system_scope', 'is_admin_project')},
        'roles': [role.lower() for role in context.roles]}
