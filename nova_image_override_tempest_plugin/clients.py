"""The clients of one user."""

from tempest import clients
from tempest import config
from tempest.lib import auth
from tempest.lib.services.compute import servers_client

from nova_image_override_tempest_plugin import services

CONF = config.CONF


class Manager(clients.Manager):
    """Tempest's clients, with a servers client that takes overrides.

    :ivar servers_client: names the extension in every request
    :ivar plain_servers_client: Tempest's own, which does not
    """

    def __init__(
        self, credentials: auth.Credentials, scope: str = 'project',
    ) -> None:
        super().__init__(credentials, scope)
        self.discovery_client: services.DiscoveryClient = (
            self.image_props_override.DiscoveryClient())
        self.plain_servers_client: servers_client.ServersClient = (
            self.servers_client)
        self.servers_client: services.ServersClient = (
            self.image_props_override.ServersClient(
                enable_instance_password=(
                    CONF.compute_feature_enabled.enable_instance_password)))
