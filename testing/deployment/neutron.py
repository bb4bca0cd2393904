"""Neutron: its API, and its other half, which talks with the hosts' agents.

Servers have ports, and cards to use them. Nothing gives them addresses: there
is neither a DHCP agent nor a router.
"""

from testing.deployment import settings
from testing.deployment import web


class Neutron(web.Application):
    """The network service."""

    NAME = 'neutron'
    MODULE = 'testing.deployment.neutron_application'
    DAEMONS = ('neutron-rpc-server',)
    SYNC = ('neutron-db-manage', 'upgrade', 'heads')

    def configure(self) -> None:
        """Write neutron.conf."""
        paste = self.installation.etc / 'neutron' / 'api-paste.ini'
        settings.write(
            self.config,
            settings.common(self.state, 'neutron'),
            {'DEFAULT': {'core_plugin': 'ml2', 'service_plugins': '',
                         'transport_url': settings.broker(self.state),
                         'rpc_workers': '1', 'rpc_state_report_workers': '0',
                         'api_paste_config': str(paste),
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
