"""Neutron without agents: Nova asks it for the ports of each server it shows.

Nothing here binds a port, so servers have no network.
"""

from testing.deployment import mariadb
from testing.deployment import settings
from testing.deployment import web


class Neutron(web.Application):
    """The network service."""

    NAME = 'neutron'
    MODULE = 'testing.deployment.neutron_application'

    def configure(self) -> None:
        """Write neutron.conf and api-paste.ini."""
        (self.folder / 'api-paste.ini').write_text(
            (self.installation.etc / 'neutron' / 'api-paste.ini').read_text())
        settings.write(
            self.folder / 'neutron.conf',
            settings.common(self.state, 'neutron'),
            {'DEFAULT': {'core_plugin': 'ml2', 'service_plugins': '',
                         'transport_url': 'fake:///',
                         'api_paste_config': str(
                             self.folder / 'api-paste.ini'),
                         'state_path': str(self.folder)},
             'ml2': {'mechanism_drivers': '', 'type_drivers': 'local',
                     'tenant_network_types': 'local'},
             'database': {
                 'connection': settings.database(self.state, 'neutron')}})

    def environment(self) -> dict[str, str]:
        """Name the files that neutron-server would be started with."""
        return {'OS_NEUTRON_CONFIG_DIR': str(self.folder),
                'OS_NEUTRON_CONFIG_FILES': 'neutron.conf'}

    def setup(self, database: mariadb.MariaDB) -> None:
        """Make its tables."""
        database.fill(['neutron'], [
            [self.installation.bin / 'neutron-db-manage', '--config-file',
             self.folder / 'neutron.conf', 'upgrade', 'heads']], self.NAME)
