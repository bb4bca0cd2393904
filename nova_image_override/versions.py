"""The extension's own microversions, and how a request chooses one.

A request names the extension next to Nova in the standard header::

    OpenStack-API-Version: compute 2.90, image-props-override 1.0

Nova takes its ``compute`` entry and ignores the rest
(nova/api/openstack/wsgi.py Request.set_api_version_request), so Nova's own
sequence stays the client's choice.
"""
from __future__ import annotations

from collections.abc import Mapping
import re

import microversion_parse

#: Service type under which the header names this extension.
SERVICE_TYPE = 'image-props-override'

#: The standard header.
HEADER = 'OpenStack-API-Version'

#: Where a cloud says what the caller may send, below Nova's ``/v2.1``.
PATH = f'/{SERVICE_TYPE}'

#: Where it checks a create, a rebuild or an update.
CHECK_PATH = f'{PATH}/check'

#: Every version, oldest first, with its news.
HISTORY: dict[str, str] = {
    '1.0': 'image_props_override on create, rebuild and update, and in '
           'answers; null removes an image\'s property; '
           'image_props_override_preset names one of the cloud\'s presets; '
           'POST /image-props-override/check asks what a create, a rebuild '
           'or an update would get; lists of servers filtered by both; '
           'discovery.',
}

Version = microversion_parse.Version

VERSIONS: tuple[Version, ...] = tuple(
    microversion_parse.parse_version_string(v) for v in HISTORY)
MIN = VERSIONS[0]
MAX = VERSIONS[-1]

#: What nova-api relies on in nova-compute. The compute part announces it; it
#: grows when nova-api needs something that an earlier compute part does not do.
COMPUTE_PART = Version(1, 0)

_FORM = re.compile('(0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})')

#: The header for a request that forgot the entry.
ENTRY = f'{HEADER}: compute <version>, {SERVICE_TYPE} {MAX}'


class Unusable(ValueError):
    """The header has no version, or one that there is not."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def negotiate(
    headers: Mapping[str, str], history: tuple[Version, ...] = VERSIONS,
) -> Version | None:
    """Return the version that a request asks for, if it names the service.

    :param headers: the request's headers, with names in any case, as WebOb's
    :param history: the versions that there are, oldest first
    :raises Unusable: there is no such version (406; the message names the
        range), or the entry is neither ``latest`` nor X.Y (400)
    """
    text = microversion_parse.get_version(
        {HEADER: headers.get(HEADER, '')}, SERVICE_TYPE)
    if text is None:
        return None
    if text == 'latest':
        return history[-1]
    if not _FORM.fullmatch(text):
        raise Unusable(
            400, f'{HEADER}: the version of {SERVICE_TYPE} must be "latest" or '
            f'X.Y, such as {history[-1]}.')
    version = microversion_parse.parse_version_string(text)
    if version not in history:
        raise Unusable(
            406, f'Version {version} of {SERVICE_TYPE} is not supported by '
            f'this API. Minimum is {history[0]} and maximum is {history[-1]}.')
    return version


def does_compute_part(announced: object) -> bool:
    """Return whether a compute part does what nova-api relies on.

    :param announced: its version; a later one does all of an earlier one
    """
    return isinstance(announced, str) and _FORM.fullmatch(
        announced) is not None and (
        microversion_parse.parse_version_string(announced) >= COMPUTE_PART)
