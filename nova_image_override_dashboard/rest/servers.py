"""What a create would get, and creates."""

import typing

from django import http
from django.views import generic
from novaclient import exceptions
from openstack_dashboard.api.rest import urls
from openstack_dashboard.api.rest import utils

from nova_image_override import errors
from nova_image_override.client import refusal
from nova_image_override.client import transport
from nova_image_override_dashboard import cloud
from nova_image_override_dashboard import launching


@urls.register
class Check(generic.View):
    """``POST /api/image-props-override/check/``."""

    url_regex = r'image-props-override/check/$'

    @utils.ajax(data_required=True)
    def post(self, request: http.HttpRequest) -> dict[str, typing.Any]:
        """Return what a create would get.

        :returns: ``accepted``, the cloud's answer, or ``refused``
        """
        data = request.DATA
        try:
            return {'accepted': cloud.compute(request).check(
                data['server'], data[errors.PARAMETER])}
        except refusal.Refused as exc:
            return refused(exc)


@urls.register
class Servers(generic.View):
    """``POST /api/image-props-override/servers/``."""

    url_regex = r'image-props-override/servers/$'

    @utils.ajax(data_required=True)
    def post(self, request: http.HttpRequest) -> typing.Any:
        """Create a server with overrides, from what the wizard sends.

        :returns: the server, or ``refused``
        """
        data = request.DATA
        with cloud.compute(request).overriding(
                transport.CREATE, data[errors.PARAMETER]) as asked:
            try:
                server = cloud.client(request).servers.create(
                    data['name'].strip(), data['source_id'],
                    data['flavor_id'], **launching.arguments(data))
            except exceptions.ClientException:
                try:
                    refusal.raise_for(asked.response)
                except refusal.Refused as exc:
                    return refused(exc)
                raise
        return utils.CreatedResponse(
            f'/api/nova/servers/{server.id}', server.to_dict())


def refused(exc: refusal.Refused) -> dict[str, typing.Any]:
    """Return a refusal for the browser.

    With status 200: browsers write others into the console.
    """
    return {'refused': {
        'message': str(exc),
        'problems': {problem.name: {'code': problem.code,
                                    'reason': problem.reason}
                     for problem in exc.problems}}}
