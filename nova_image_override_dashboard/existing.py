"""Existing servers: what they override, and what their images say."""
from __future__ import annotations

import typing

from django import http
from django.utils.translation import gettext as _
from horizon import exceptions
from horizon import messages
from openstack_dashboard import api

from nova_image_override import errors
from nova_image_override.client import transport
from nova_image_override_dashboard import cloud

#: Statuses in which the API changes overrides: vm_state STOPPED and
#: SHELVED_OFFLOADED (nova/api/openstack/common.py _STATE_MAP).
CHANGEABLE = ('SHUTOFF', 'SHELVED_OFFLOADED')


def server(request: http.HttpRequest, server_id: str) -> typing.Any:
    """Return a server from python-novaclient, which shows its overrides.

    :raises answers.NotAvailable: the cloud does not have the extension
    :raises novaclient.exceptions.ClientException: the cloud does not show it
    """
    nova = cloud.client(request)
    with transport.attach(nova.client).showing():
        return nova.servers.get(server_id)


def is_known(server: typing.Any) -> bool:
    """Return whether a server of Horizon's lists says what it overrides.

    It does not if Horizon has listed it with another client (cloud.client),
    and so without a filter by overrides.
    """
    # Horizon's own class hides what it does not know
    # (openstack_dashboard/api/base.py APIResourceWrapper).
    return hasattr(server._apiresource, errors.PARAMETER)


def filtered(
    request: http.HttpRequest, servers: list[typing.Any],
) -> list[typing.Any]:
    """Return what Horizon has listed with a filter by overrides.

    :returns: nothing, with a message, if it has listed without the filter
    """
    if all(map(is_known, servers)):
        return servers
    messages.error(request, _('Unable to retrieve instances.'))
    return []


def overrides_of(shown: typing.Any) -> dict[str, str | None]:
    """Return the overrides that a server from python-novaclient shows."""
    return getattr(shown, errors.PARAMETER, None) or {}


def preset_of(shown: typing.Any) -> dict[str, str] | None:
    """Return name and digest of the preset that a server's overrides have."""
    return getattr(shown, errors.PRESET, None)


def preset_named(shown: typing.Any) -> str:
    """Return that name for a page to show, or nothing."""
    preset = preset_of(shown)
    return _('Preset: %s') % preset['name'] if preset else ''


def is_changeable(shown: typing.Any) -> bool:
    """Return whether a server's state permits a change of its overrides."""
    return shown.status in CHANGEABLE and not getattr(
        shown, 'OS-EXT-STS:task_state', None)


def image_properties(
        request: http.HttpRequest, shown: typing.Any,
) -> dict[str, str] | None:
    """Return the properties of a server's image, or of its root volume.

    These are the properties as they are now: what they were when the server
    was built is not in Nova's API.

    :param shown: a server from python-novaclient
    :returns: None if they cannot be seen: the image may be gone
    """
    try:
        if shown.image:
            image = api.glance.image_get(request, shown.image['id'])
            return dict(image.properties)
        # Nova leaves the device out where a volume has no name yet.
        volumes = [volume for volume
                   in api.nova.instance_volumes_list(request, shown.id)
                   if getattr(volume, 'device', None)]
        if not volumes:
            return None
        # The first device, as in Horizon's own overview.
        root = min(volumes, key=lambda volume: volume.device)
        volume = api.cinder.volume_get(request, root.volumeId)
        return dict(getattr(volume, 'volume_image_metadata', {}))
    except Exception:
        # From whichever client; Horizon knows them all.
        exceptions.handle(request, ignore=True)
        return None
