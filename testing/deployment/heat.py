"""Heat, whose engine has our plugin.

It is not a part of the cloud: whoever needs it starts it. Like that, it begins
without any stack.
"""

import pathlib
import signal

from openstack.identity.v3 import _proxy as identity_proxy

from testing.deployment import installation
from testing.deployment import mariadb
from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment import tenants
from testing.deployment import web

#: It has nothing of Nova but its client.
_INSTALLED = installation.Installation(state_module.ROOT / '.venv' / 'heat-27')

#: The domain of the users that stacks have, and the name of its administrator.
_DOMAIN = 'heat-stacks'

#: The role of these users (``heat_stack_user_role``).
_ROLE = 'heat_stack_user'

_PLUGINS = state_module.ROOT / 'nova_image_override' / 'client' / 'heat'


class Heat(web.Application):
    """The orchestration service: heat-api and heat-engine.

    Stacks converge, and what the engine does for the owner of a stack when
    somebody else asks for it, it does by a trust: those are Heat's defaults.
    """

    NAME = 'heat'
    MODULE = 'heat.wsgi.api'

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state)
        self.installation = _INSTALLED
        self._engine = processes.Process(state, 'heat-engine')

    @property
    def folder(self) -> pathlib.Path:
        """Where it looks, if that is in its home."""
        return self.state.subfolder(self.name, '.heat')

    @property
    def _config(self) -> pathlib.Path:
        return self.folder / 'heat.conf'

    def environment(self) -> dict[str, str]:
        """Name its home."""
        return {'HOME': str(self.folder.parent)}

    def configure(self) -> None:
        """Write heat.conf."""
        etc = self.installation.etc / 'heat'
        # Its scope is that of the trust.
        trustee = {option: value for option, value in settings.user(
            self.state, 'heat').items() if not option.startswith('project_')}
        settings.write(
            self._config, settings.common(self.state, 'heat'), {
                'DEFAULT': {
                    'transport_url': settings.broker(self.state),
                    # An unmodified nova-api has another.
                    'region_name_for_services': 'RegionOne',
                    'plugin_dirs': str(_PLUGINS),
                    'environment_dir': str(etc / 'environment.d'),
                    'template_dir': str(etc / 'templates'),
                    'num_engine_workers': '1',
                    'stack_user_domain_name': _DOMAIN,
                    'stack_domain_admin': _DOMAIN,
                    'stack_domain_admin_password': self._domain_secret},
                'paste_deploy': {
                    'api_paste_config': str(etc / 'api-paste.ini')},
                'database': {
                    'connection': settings.database(self.state, 'heat')},
                'trustee': trustee})

    @property
    def _domain_secret(self) -> str:
        return self.state.secret(_DOMAIN)

    def setup(self, database: mariadb.MariaDB) -> None:
        """Make its tables, with nothing in them."""
        database.forget(self.NAME)
        database.fill(['heat'], [
            [self.installation.bin / 'heat-manage', '--config-file',
             self._config, 'db_sync']], self.NAME)

    def up(self) -> None:
        """Configure it, enter it in the catalogue, start it."""
        self.stop()
        self.configure()
        database = mariadb.MariaDB(self.state)
        self.setup(database)
        identity = tenants.connect(self.state, 'operator').identity
        self._make_domain(identity)
        tenants.enter(identity, 'orchestration',
                      state_module.url('heat', '/v1/$(project_id)s'))
        self._engine.start([self.installation.bin / 'heat-engine',
                            '--config-file', self._config])
        super().up()
        # It reports once it listens (heat/engine/service.py).
        self._engine.wait_until(
            lambda: database.query('SELECT id FROM heat.service'))

    def _make_domain(self, identity: identity_proxy.Proxy) -> None:
        """Make the domain of the users that stacks have, and who rules it."""
        domain = identity.find_domain(_DOMAIN) or (
            identity.create_domain(name=_DOMAIN))
        ruler = identity.find_user(_DOMAIN, domain_id=domain.id) or (
            identity.create_user(name=_DOMAIN, domain_id=domain.id,
                                 password=self._domain_secret))
        identity.assign_domain_role_to_user(
            domain, ruler, identity.find_role('admin'))
        if not identity.find_role(_ROLE):
            identity.create_role(name=_ROLE)

    def stop(
        self, number: signal.Signals = signal.SIGTERM, seconds: float = 20,
    ) -> None:
        """End both."""
        self._engine.kill()
        super().stop(number, seconds)
