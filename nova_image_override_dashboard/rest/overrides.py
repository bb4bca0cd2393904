"""The overrides of an existing server."""

import typing

from django import http
from django.contrib import messages
from django.utils.translation import gettext as _
from django.views import generic
from openstack_dashboard.api.rest import urls

from nova_image_override import errors
from nova_image_override_dashboard import cloud
from nova_image_override_dashboard import existing
from nova_image_override_dashboard.rest import views


@urls.register
class Overrides(generic.View):
    """``/api/image-props-override/servers/ID/``."""

    url_regex = r'image-props-override/servers/(?P<server_id>[^/]+)/$'

    @views.ajax()
    def get(
        self, request: http.HttpRequest, server_id: str,
    ) -> dict[str, typing.Any]:
        """Return what the server overrides, and what its image has.

        :returns: ``name`` and ``status`` of the server, ``overrides`` in
            force, their ``preset`` (``name``, ``digest``), and ``image``; null
            if there is none, or it is not known
        """
        server = existing.server(request, server_id)
        return {'name': server.name, 'status': server.status,
                'overrides': existing.overrides_of(server),
                'preset': existing.preset_of(server),
                'image': existing.image_properties(request, server)}

    @views.ajax(data_required=True)
    def post(
        self, request: http.HttpRequest, server_id: str,
    ) -> dict[str, typing.Any]:
        """Return what a replacement of the overrides would get.

        :returns: ``accepted``, the cloud's answer, or ``refused``
        """
        return {'accepted': cloud.compute(request).replace_overrides(
            server_id, *views.asked(request), checks=True)}

    @views.ajax(data_required=True)
    def put(
        self, request: http.HttpRequest, server_id: str,
    ) -> dict[str, typing.Any]:
        """Replace the overrides of the server.

        :returns: nothing, or ``refused``
        """
        cloud.compute(request).replace_overrides(
            server_id, *views.asked(request))
        # Shown by the next page. Horizon's own function would show it in this
        # request (horizon/messages.py add_message).
        messages.success(request, _(
            'The image property overrides are changed. They act when the '
            'instance is started or unshelved.'))
        return {}


@urls.register
class Rebuild(generic.View):
    """``POST /api/image-props-override/servers/ID/rebuild/``."""

    url_regex = r'image-props-override/servers/(?P<server_id>[^/]+)/rebuild/$'

    @views.ajax(data_required=True)
    def post(
        self, request: http.HttpRequest, server_id: str,
    ) -> dict[str, typing.Any]:
        """Return what a rebuild would get; without overrides it keeps them.

        :returns: ``accepted``, the cloud's answer, or ``refused``
        """
        image = views.required(request, 'image', str)
        asked = views.asked(request) if errors.PARAMETER in request.DATA else (
            None, None)
        return {'accepted': cloud.compute(request).check_rebuild(
            server_id, image, *asked)}
