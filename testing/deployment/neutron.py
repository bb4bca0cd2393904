"""Neutron: its API, and its other half, which talks with the hosts' agents.

Servers have ports, and cards to use them. Nothing gives them addresses: there
is neither a DHCP agent nor a router.
"""

from testing.deployment import mariadb
from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment import web


class Neutron(web.Application):
    """The network service."""

    NAME = 'neutron'
    MODULE = 'testing.deployment.neutron_application'

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state)
        self._rpc = processes.Process(state, 'neutron-rpc')

    def configure(self) -> None:
        """Write neutron.conf and api-paste.ini."""
        (self.folder / 'api-paste.ini').write_text(
            (self.installation.etc / 'neutron' / 'api-paste.ini').read_text())
        settings.write(
            self.folder / 'neutron.conf',
            settings.common(self.state, 'neutron'),
            {'DEFAULT': {'core_plugin': 'ml2', 'service_plugins': '',
                         'transport_url': settings.broker(self.state),
                         'rpc_workers': '1', 'rpc_state_report_workers': '0',
                         'api_paste_config': str(
                             self.folder / 'api-paste.ini'),
                         'state_path': str(self.folder)},
             'ml2': {'mechanism_drivers': 'openvswitch',
                     'type_drivers': 'local', 'tenant_network_types': 'local'},
             'securitygroup': {'enable_security_group': 'false'},
             # Whom it tells that a port is plugged in.
             'nova': settings.user(self.state, 'neutron'),
             'database': {
                 'connection': settings.database(self.state, 'neutron')}})

    def environment(self) -> dict[str, str]:
        """Name the files that neutron-server would be started with."""
        return {'OS_NEUTRON_CONFIG_DIR': str(self.folder),
                'OS_NEUTRON_CONFIG_FILES': 'neutron.conf'}

    def up(self) -> None:
        """Start both halves."""
        self._rpc.start(
            [self.installation.python, '-W', 'ignore',
             self.installation.bin / 'neutron-rpc-server', '--config-file',
             self.folder / 'neutron.conf'])
        super().up()

    def setup(self, database: mariadb.MariaDB) -> None:
        """Make its tables."""
        database.fill(['neutron'], [
            [self.installation.bin / 'neutron-db-manage', '--config-file',
             self.folder / 'neutron.conf', 'upgrade', 'heads']], self.NAME)
