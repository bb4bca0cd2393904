"""The cloud as the user of a request to Horizon sees it."""
from __future__ import annotations

import collections.abc
import typing

from django import http
from django.utils.translation import gettext as _
from openstack_dashboard.api import _nova

from nova_image_override import errors
from nova_image_override.client import answers
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


class PresetChanged(answers.Error):
    """A page asks for a preset that is no longer what the page shows.

    :ivar message: and ``problems``, as :class:`answers.Refused` has them
    """

    def __init__(self) -> None:
        self.message = _(
            'The preset has changed since this was opened: open it again to '
            'see what it has now.')
        self.problems = (errors.Problem(
            errors.PRESET, 'preset_changed', self.message),)
        super().__init__(self.message)


def preset_as_shown(
    request: http.HttpRequest,
    preset: collections.abc.Mapping[str, typing.Any] | None,
) -> str | None:
    """Return the name of the preset that a page asks for, if it does.

    :param preset: ``name`` and ``digest``, as the page has them
    :raises PresetChanged: the cloud's has another digest
    """
    if preset is None:
        return None
    name = str(preset.get('name'))
    offered = compute(request).discover().presets.get(name)
    # The cloud itself refuses what it does not offer.
    if offered and offered['digest'] != preset.get('digest'):
        raise PresetChanged
    return name
