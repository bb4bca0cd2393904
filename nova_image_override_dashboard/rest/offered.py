"""What the user may override."""

import typing

from django import http
from django.views import generic
from openstack_dashboard.api.rest import urls

from nova_image_override_dashboard import choices
from nova_image_override_dashboard import cloud
from nova_image_override_dashboard import presence
from nova_image_override_dashboard.rest import views


@urls.register
class Offered(generic.View):
    """``GET /api/image-props-override/``."""

    url_regex = r'image-props-override/$'

    @views.ajax()
    def get(self, request: http.HttpRequest) -> typing.Any:
        """Return what the user may override.

        :returns: ``properties``, see :func:`.choices.choices`, and
            ``presets``, each with ``name``, ``description``, ``properties``,
            ``flavors`` and ``digest``. Nothing if the cloud does not have the
            extension, which is not an error: browsers write errors to the
            console.
        """
        # Remembered, so that a cloud without it is hardly ever asked.
        if not presence.ask(request):
            return None
        found = cloud.compute(request).discover()
        return {'properties': choices.choices(found.schema),
                'presets': [{'name': name, **preset} for name, preset
                            in sorted(found.presets.items())]}
