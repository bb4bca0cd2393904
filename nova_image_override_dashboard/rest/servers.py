"""What a create would get, and creates."""

import logging
import typing

from django import http
from django.views import generic
from novaclient import exceptions
from openstack_dashboard.api.rest import urls
from openstack_dashboard.api.rest import utils

from nova_image_override.client import answers
from nova_image_override.client import transport
from nova_image_override_dashboard import cloud
from nova_image_override_dashboard import launching
from nova_image_override_dashboard.rest import views

LOG = logging.getLogger(__name__)


@urls.register
class Check(generic.View):
    """``POST /api/image-props-override/check/``."""

    url_regex = r'image-props-override/check/$'

    @views.ajax(data_required=True)
    def post(self, request: http.HttpRequest) -> dict[str, typing.Any]:
        """Return what a create would get; with ``hosts``, whether one has room.

        :returns: ``accepted``, the cloud's answer, or ``refused``
        """
        return {'accepted': cloud.compute(request).check(
            views.required(request, 'server', dict), *views.asked(request),
            hosts=request.DATA.get('hosts') is True)}


@urls.register
class Servers(generic.View):
    """``POST /api/image-props-override/servers/``."""

    url_regex = r'image-props-override/servers/$'

    @views.ajax(data_required=True)
    def post(self, request: http.HttpRequest) -> typing.Any:
        """Create a server with overrides, from what the wizard sends.

        :returns: the server, or ``refused``
        """
        name, flavor = (views.required(request, each, str)
                        for each in ('name', 'flavor_id'))
        nova = cloud.client(request)
        with transport.attach(nova.client).overriding(
                transport.CREATE, *views.asked(request)) as asked:
            try:
                server = nova.servers.create(
                    name.strip(), request.DATA.get('source_id'), flavor,
                    **launching.arguments(request.DATA))
            except exceptions.ClientException:
                answers.raise_for(asked.response)
                raise
            except (exceptions.CommandError, AttributeError, KeyError,
                    TypeError, ValueError) as exc:
                # python-novaclient assumes that it is given what it needs.
                LOG.exception('python-novaclient cannot make a request')
                raise views.malformed(f'malformed request: {exc}') from None
        return utils.CreatedResponse(
            f'/api/nova/servers/{server.id}', server.to_dict())
