"""REST views, which the plugin's JavaScript asks.

Importing a module registers its views with Horizon.
"""

from nova_image_override_dashboard.rest import offered  # noqa: F401
