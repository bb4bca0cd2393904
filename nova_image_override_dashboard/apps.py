"""What Django loads from the plugin."""

from django import apps


class Config(apps.AppConfig):
    """The plugin, as a Django application."""

    name = 'nova_image_override_dashboard'

    def ready(self) -> None:
        """Register what Horizon does not find by itself.

        It looks only for its own REST views
        (openstack_dashboard/api/rest/urls.py).
        """
        from nova_image_override_dashboard import instances
        from nova_image_override_dashboard import rebuild
        from nova_image_override_dashboard import rest  # noqa: F401
        instances.register()
        rebuild.register()
