"""The panel, in the group "Compute"."""

import typing

from django.utils.translation import gettext_lazy as _
import horizon

from nova_image_override_dashboard import presence


class ImagePropsOverride(horizon.Panel):
    """What may be overridden, and which servers do."""

    name = _('Image Property Overrides')
    slug = 'image_props_override'
    permissions = ('openstack.services.compute',)
    # As for Horizon's own panel of all instances.
    policy_rules = ((('compute', 'context_is_admin'),
                     ('compute', 'os_compute_api:servers:detail')),)

    def allowed(self, context: typing.Any) -> bool:
        """Show the panel where the cloud has the extension."""
        return (super().allowed(context)
                and presence.has_extension(context['request']))
