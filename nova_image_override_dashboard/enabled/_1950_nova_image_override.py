"""Horizon loads the plugin by this file, in openstack_dashboard/local/enabled.
"""

FEATURE = 'nova_image_override'
ADD_INSTALLED_APPS = ['nova_image_override_dashboard']
ADD_ANGULAR_MODULES = ['horizon.image-props-override']
AUTO_DISCOVER_STATIC_FILES = True
