"""The cloud as the user of a request to Horizon sees it."""

import contextlib
import typing

from django import http
from openstack_dashboard.api import _nova

from nova_image_override.client import transport

#: Compute microversion of our own requests to nova-api, which every supported
#: Nova and every Horizon's python-novaclient has.
MICROVERSION = '2.90'


def client(request: http.HttpRequest) -> typing.Any:
    """Return python-novaclient with the user's token.

    Horizon makes one for each request to it and version
    (openstack_dashboard/api/_nova.py novaclient), so nothing is shared between
    users.
    """
    return _nova.novaclient(request, version=MICROVERSION)


def compute(request: http.HttpRequest) -> transport.OverridingSession:
    """Return what sends overrides through that client."""
    return transport.attach(client(request).client)


def rebuilding(
    request: http.HttpRequest, action: str, *asked: typing.Any,
) -> contextlib.AbstractContextManager[transport.Asking]:
    """Let openstack_dashboard.api.nova.server_rebuild carry overrides.

    :param action: transport.REBUILD or CHECK_REBUILD
    """
    # The client that it makes.
    client = _nova.get_novaclient_with_instance_desc(request).client
    return transport.attach(client).overriding(action, *asked)


def presets(request: http.HttpRequest) -> list[dict[str, typing.Any]]:
    """Return the presets that the user may use, each with its ``name``.

    :raises answers.Error: the cloud does not say
    """
    return [{'name': name, **preset} for name, preset
            in sorted(compute(request).discover().presets.items())]
