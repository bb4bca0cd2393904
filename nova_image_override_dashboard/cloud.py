"""The cloud as the user of a request to Horizon sees it."""

import typing

from django import http
from openstack_dashboard.api import _nova

from nova_image_override.client import transport

#: Compute microversion of our own requests to nova-api, which every supported
#: Nova and every Horizon's python-novaclient has.
MICROVERSION = '2.90'


def client(request: http.HttpRequest) -> typing.Any:
    """Return python-novaclient with the user's token.

    What overrides with it must go on using this one: Horizon remembers only
    the last few (openstack_dashboard/api/_nova.py cached_novaclient), and may
    return another, without overrides, the next time.
    """
    return _nova.novaclient(request, version=MICROVERSION)


def compute(request: http.HttpRequest) -> transport.OverridingSession:
    """Return what sends overrides through that client."""
    return transport.attach(client(request).client)
