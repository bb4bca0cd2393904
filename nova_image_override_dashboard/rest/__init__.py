"""REST views that the plugin's JavaScript calls.

Importing a module registers its views with Horizon.
"""

from nova_image_override_dashboard.rest import offered  # noqa: F401
from nova_image_override_dashboard.rest import overrides  # noqa: F401
from nova_image_override_dashboard.rest import servers  # noqa: F401
