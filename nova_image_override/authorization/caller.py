"""The caller of a request, and Nova's policy rules for this caller.

Nova's policy files have our rules among Nova's own. They are read again when
a file changes, as Nova reads them.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
import dataclasses
import functools
import logging
from typing import Any

from nova import policies as nova_policies
import nova.conf
from oslo_config import cfg
from oslo_policy import policy as oslo_policy

from nova_image_override import policies
from nova_image_override.authorization.presets import Presets
from nova_image_override.authorization.watched_files import WatchedFiles
from nova_image_override.properties.catalog import Catalog

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Caller:
    """The caller of a request.

    :ivar can: checks a policy rule for this caller
    :ivar policy_defined: names of the rules that policy.yaml defines
    :ivar credentials: who the caller is in oslo.policy's terms, with the
        user's own roles in lower case, as Glance's middleware makes them
        (glance/api/middleware/context.py), and without what a service token
        adds
    """

    can: Callable[[str], bool]
    policy_defined: Collection[str] = ()
    credentials: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def roles(self) -> Collection[str]:
        """The user's own roles, in lower case."""
        roles: Collection[str] = self.credentials.get('roles', ())
        return roles

    @functools.cached_property
    def permitted_by(self) -> Callable[[Any, str], bool]:
        """Checks a policy of Glance's for this caller.

        Each once, as ``can``, however many properties a request names:
        oslo.policy inspects the check's signature each time
        (oslo_policy._checks._check).
        """
        return functools.cache(
            lambda policies, name: policies.permits(name, self.credentials))


class Callers:
    """Makes callers from Nova's request contexts and policy files.

    :raises nova_image_override.errors.StartupError: a policy file cannot be
        read
    """

    def __init__(self) -> None:
        self.policy = watched_policy(nova.conf.CONF, (
            *nova_policies.list_rules(), *policies.list_rules()))

    def warn_of_unknown(self, catalog: Catalog, presets: Presets) -> None:
        """Log the extension's policy rules that are never checked.

        Such a rule restricts nothing, although it was meant to. Logs now, and
        each time that policy files or presets change.
        """
        def warn() -> None:
            unknown = policies.unknown(
                self.policy.last_read.file_rules, catalog, presets.last_read)
            if unknown:
                LOG.warning(
                    'Policy rules that close nothing, because there is no '
                    'such image property or preset: %s', ', '.join(
                        f'{name} (did you mean {meant}?)' if meant else name
                        for name, meant in unknown.items()))

        self.policy.then = warn
        presets.then(warn)
        warn()

    def caller(self, context: Any, owner: Any = None) -> Caller:
        """Return the caller who makes the request of CONTEXT.

        :param owner: the instance that policy compares with, if not CONTEXT
        """
        enforcer = self.policy.content()
        # As nova/api/openstack/compute/servers.py create and rebuild do.
        owner = owner or context
        target = {'project_id': owner.project_id, 'user_id': owner.user_id}
        # As oslo.policy takes apart a context that nova/policy.py authorize
        # gives it (Enforcer._map_context_attributes_into_creds).
        values = dict(context.to_policy_values().items())
        # Glance's would see neither what Nova adds (is_admin) nor the roles
        # of a service token, which are not the user's.
        credentials = {key: values[key] for key in (
            'user_id', 'user_domain_id', 'project_id', 'project_domain_id',
            'domain_id', 'system_scope', 'is_admin_project')}
        credentials['roles'] = [role.lower() for role in context.roles]

        # Each rule is checked once, however many properties a request names.
        @functools.cache
        def can(rule: str) -> bool:
            # Not authorize(), which knows only registered rules.
            return bool(enforcer.enforce(rule, target, values))

        return Caller(can, enforcer.file_rules, credentials)


def watched_policy(
    conf: cfg.ConfigOpts, defaults: Iterable[oslo_policy.RuleDefault],
) -> WatchedFiles[oslo_policy.Enforcer]:
    """Return an enforcer for each state of Nova's policy files.

    Nova's own enforcer is shared by threads, which see it while one of them
    reads a changed file: ``Enforcer._record_file_rules`` empties
    ``file_rules`` before it parses, and ``Enforcer.load_rules`` puts the
    files of ``policy_dirs`` and the defaults in last. What they close is
    open in between, and vice versa. Here each state is read into an
    enforcer of its own, which never changes again.

    :param defaults: Nova's rules, to which those of the files may refer, and
        ours
    :raises nova_image_override.errors.StartupError: a file cannot be read
    """
    rules = list(defaults)
    # Registers the options, if nobody has. Up to release 4, oslo.policy takes
    # a policy.json that is there instead.
    name = oslo_policy.Enforcer(conf).policy_file

    def paths() -> Iterator[str]:
        return filter(None, map(conf.find_file, (
            name, *conf.oslo_policy.policy_dirs)))

    def read() -> oslo_policy.Enforcer:
        enforcer = oslo_policy.Enforcer(conf, policy_file=name)
        # Nova's own enforcer has already warned about deprecated rules.
        enforcer.suppress_default_change_warnings = True
        enforcer.suppress_deprecation_warnings = True
        enforcer.register_defaults(rules)
        enforcer.load_rules()
        # A rule that refers to itself would end each request with an error.
        policies.deciding(enforcer.rules)
        # Adds no rule, but ends the reading of files.
        enforcer.set_rules({}, overwrite=False, use_conf=False)
        return enforcer

    return WatchedFiles(paths, read, 'The policy files of Nova')
