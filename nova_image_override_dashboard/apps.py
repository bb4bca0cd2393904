"""What Django loads of the plugin."""

from django import apps


class Config(apps.AppConfig):
    """The plugin, as an application of Django's."""

    name = 'nova_image_override_dashboard'

    def ready(self) -> None:
        """Register the REST views.

        Horizon looks for its own only (openstack_dashboard/api/rest/urls.py).
        """
        from nova_image_override_dashboard import rest  # noqa: F401
