"""The panel of administrators; needs _1950_nova_image_override.py."""

PANEL = 'image_props_override'
PANEL_DASHBOARD = 'admin'
PANEL_GROUP = 'compute'
ADD_PANEL = 'nova_image_override_dashboard.admin.panel.ImagePropsOverride'
