"""Who makes a request, as Nova's request context says."""

import typing

from nova import policies as nova_policies
import nova.conf

from nova_image_override import policies
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import policy_files
from nova_image_override.properties import catalog as catalog_module


class Callers:
    """Makes callers that are checked against Nova's policy files.

    :param catalog: the properties that policy rules can name
    :raises nova_image_override.errors.StartupError: a policy file cannot be
        read
    """

    def __init__(self, catalog: catalog_module.Catalog) -> None:
        self.policy = policy_files.PolicyFiles(nova.conf.CONF, (
            *nova_policies.list_rules(), *policies.list_rules(catalog)))

    def caller(
        self, context: typing.Any, owner: typing.Any = None,
    ) -> caller_module.Caller:
        """Return the caller who makes the request of CONTEXT.

        :param owner: the instance whose project and user policy checks
            against, by default those of the context
        """
        enforcer = self.policy.enforcer()
        # As nova/api/openstack/compute/servers.py create and rebuild do.
        owner = owner or context
        target = {'project_id': owner.project_id, 'user_id': owner.user_id}
        # As oslo.policy takes apart a context that nova/policy.py authorize
        # gives it (Enforcer._map_context_attributes_into_creds).
        values = dict(context.to_policy_values().items())
        return caller_module.Caller(
            can=lambda rule: bool(enforcer.authorize(rule, target, values)),
            policy_defined=enforcer.file_rules,
            credentials=_credentials(context, values))


def _credentials(
    context: typing.Any, values: dict[str, typing.Any],
) -> dict[str, typing.Any]:
    """Return what Glance's oslo.policy would see of the user of CONTEXT.

    That leaves out what Nova adds (RequestContext.to_policy_values: is_admin)
    and the roles of a service token, which are not the user's.

    :param values: what Nova's oslo.policy sees
    """
    return {
        **{key: values[key] for key in (
            'user_id', 'user_domain_id', 'project_id', 'project_domain_id',
            'domain_id', 'system_scope', 'is_admin_project')},
        'roles': [role.lower() for role in context.roles]}
