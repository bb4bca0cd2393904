"""Properties that Glance injects into the images that users import.

Glance's import plugin ``inject_image_metadata`` writes the deployer's
properties into each image that a user imports, unless one of the user's roles
is ignored (glance/async_/flows/plugins/inject_image_metadata.py). They are
among the properties that the merge starts from; users for whom they are
injected cannot override them.
"""

from collections.abc import Container, Iterator, Mapping, Sequence, Set
import dataclasses
import re

from oslo_config import cfg
from oslo_config import types as cfg_types

from nova_image_override import errors
from nova_image_override.authorization import config_files
from nova_image_override.authorization import rules
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.discovery_schema import Overridable
from nova_image_override.override import Override

#: The option of ``[image_override]`` that names the files.
OPTION = 'glance_image_import_files'

PLUGIN = 'inject_image_metadata'
PLUGINS_GROUP = 'image_import_opts'
GROUP = 'inject_metadata_properties'

#: Glance's own options, with its own types
#: (glance/async_/flows/api_image_import.py and plugins/).
_PLUGINS = cfg.ListOpt(
    'image_import_plugins', default=[], bounds=True,
    item_type=cfg_types.String(quotes=True))
_INJECT = (cfg.ListOpt('ignore_user_roles', default=['admin']),
           cfg.DictOpt('inject', default={}))


@dataclasses.dataclass(frozen=True)
class Injection(rules.Rule):
    """Refuses what Glance injects into the images of the caller.

    :ivar properties: name -> value, as Glance reads them; given even when the
        plugin is off
    :ivar ignored_roles: whoever has one of them gets nothing injected
    :ivar enabled: whether the plugin is on
    :ivar configured: whether Glance's files are known
    """

    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    ignored_roles: frozenset[str] = frozenset()
    enabled: bool = False
    configured: bool = False

    @property
    def is_configured(self) -> bool:
        """True if Glance injects anything."""
        return self.enabled

    def names(self, roles: Container[str]) -> Set[str]:
        """Return the names that are injected for a user with ROLES.

        Glance's middleware makes roles lower case, and ``ignore_user_roles``
        is compared as it is written: ``Admin`` there ignores nobody.
        """
        if not self.enabled or any(r in roles for r in self.ignored_roles):
            return frozenset()
        return self.properties.keys()

    def about(
        self, override: Override, request: rules.Request,
    ) -> Iterator[rules.Decision]:
        """Decide by all names of the property."""
        own = override.name
        name = next(filter(self.names(request.caller.roles).__contains__, (
            own, *override.prop.legacy)), None)
        if name is None:
            yield rules.Decision(own, 'injection', detail=(
                'not injected for these roles' if self.enabled
                else f'the plugin {PLUGIN} is off' if self.configured
                else f'{OPTION} is not set'))
        else:
            yield rules.Decision(
                own, 'injection', errors.INJECTED,
                "this cloud's image service sets "
                + (name if name == own else f'{name}, which is {own} too,')
                + ' on the images that you import')

    def limit(self, left: Overridable, caller: Caller) -> rules.Left:
        """Leave the names that are not injected."""
        injected, family = self.names(caller.roles), left.prop.family
        if family is not None:
            yield dataclasses.replace(left, closed=(*left.closed, *(
                re.escape(name) for name in sorted(injected)
                if family.has(name))))
        elif injected.isdisjoint((left.prop.field, *left.prop.legacy)):
            yield left


def load(paths: Sequence[str]) -> Injection:
    """Read Glance's configuration files; an option in a later file wins.

    Glance reads glance-image-import.conf, then glance-api.conf
    (glance/common/wsgi_app.py CONFIG_FILES).

    :raises errors.StartupError: a file is missing, unreadable, empty, or
        malformed
    """
    for path in paths:
        config_files.read(OPTION, path)
    conf = cfg.ConfigOpts()
    conf.register_opt(_PLUGINS, group=PLUGINS_GROUP)
    conf.register_opts(_INJECT, group=GROUP)
    try:
        # Not the environment: it is Nova's here, not Glance's.
        conf([], use_env=False, default_config_files=list(paths),
             default_config_dirs=[])
        options = conf[GROUP]
        return Injection(
            properties=dict(options.inject),
            ignored_roles=frozenset(options.ignore_user_roles),
            enabled=PLUGIN in conf[PLUGINS_GROUP].image_import_plugins,
            configured=bool(paths))
    except (cfg.Error, ValueError) as exc:
        raise config_files.failure(OPTION, ', '.join(paths), exc) from None
