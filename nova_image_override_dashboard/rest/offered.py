"""What the user may override."""

import typing

from django import http
from django.views import generic
from openstack_dashboard.api.rest import urls
from openstack_dashboard.api.rest import utils

from nova_image_override.client import transport
from nova_image_override_dashboard import cloud


@urls.register
class Offered(generic.View):
    """``GET /api/image-props-override/``."""

    url_regex = r'image-props-override/$'

    @utils.ajax()
    def get(self, request: http.HttpRequest) -> typing.Any:
        """Return version and schema; null where there is no extension.

        Not an error: browsers write those to the console.
        """
        try:
            discovery = cloud.compute(request).discover()
        except transport.NotAvailable:
            return None
        return {'version': str(discovery.version), 'schema': discovery.schema}
