"""Horizon loads the plugin by this file, in openstack_dashboard/local/enabled.
"""

FEATURE = 'nova_image_override'
ADD_INSTALLED_APPS = ['nova_image_override_dashboard']
ADD_ANGULAR_MODULES = ['horizon.image-props-override']
AUTO_DISCOVER_STATIC_FILES = True
ADD_SCSS_FILES = ['image_props_override/image-props-override.scss']
EXTRA_TABS = {
    tabs: ['nova_image_override_dashboard.tabs.Overrides'] for tabs in (
        'openstack_dashboard.dashboards.project.instances.tabs'
        '.InstanceDetailTabs',
        'openstack_dashboard.dashboards.admin.instances.tabs'
        '.AdminInstanceDetailTabs')}
