"""Heat, whose engine has our plugin.

Whenever it is started, it begins without any stack.
"""

from testing.deployment import installation
from testing.deployment import mariadb
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


class Heat(web.Extra):
    """The orchestration service: heat-api and heat-engine.

    Stacks converge, and what the engine does for the owner of a stack when
    somebody else asks for it, it does by a trust: those are Heat's defaults.
    """

    NAME = 'heat'
    MODULE = 'heat.wsgi.api'
    DAEMONS = ('heat-engine',)
    SYNC = ('heat-manage', 'db_sync')
    TYPE = 'orchestration'
    PATH = '/v1/$(project_id)s'

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state)
        self.installation = _INSTALLED

    def configure(self) -> None:
        """Write heat.conf."""
        etc = self.installation.etc / 'heat'
        # Its scope is that of the trust.
        trustee = {option: value for option, value in settings.user(
            self.state, 'heat').items() if not option.startswith('project_')}
        settings.write(
            self.config, settings.common(self.state, 'heat'), {
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
        super().setup(database)

    def up(self) -> None:
        """Start it, and wait until its engine listens."""
        self._make_domain()
        super().up()
        # It reports once it listens (heat/engine/service.py).
        self.daemons[0].wait_until(lambda: mariadb.MariaDB(self.state).query(
            'SELECT id FROM heat.service'))

    def _make_domain(self) -> None:
        """Make the domain of the users that stacks have, and who rules it."""
        identity = tenants.connect(self.state, 'operator').identity
        domain = identity.find_domain(_DOMAIN) or (
            identity.create_domain(name=_DOMAIN))
        ruler = identity.find_user(_DOMAIN, domain_id=domain.id) or (
            identity.create_user(name=_DOMAIN, domain_id=domain.id,
                                 password=self._domain_secret))
        identity.assign_domain_role_to_user(
            domain, ruler, identity.find_role('admin'))
        if not identity.find_role(_ROLE):
            identity.create_role(name=_ROLE)
