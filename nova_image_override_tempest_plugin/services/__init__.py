"""The clients of the extension."""

from nova_image_override_tempest_plugin.services.discovery_client import (
    DiscoveryClient,
)
from nova_image_override_tempest_plugin.services.servers_client import (
    ServersClient,
)

__all__ = ['DiscoveryClient', 'ServersClient']
