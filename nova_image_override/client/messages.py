"""What requests to nova-api and its answers contain, for every tool."""

import collections.abc
import typing

from keystoneauth1 import discover
import requests

from nova_image_override import errors
from nova_image_override import versions


def headers_naming(
    version: versions.Version, kwargs: dict[str, typing.Any],
) -> collections.abc.MutableMapping[str, str]:
    """Return the headers of a request with our entry next to Nova's.

    keystoneauth leaves an existing header alone
    (Session._set_microversion_headers), so Nova's entry is written here.
    """
    headers = requests.structures.CaseInsensitiveDict(
        kwargs.get('headers') or {})
    entries = [f'{versions.SERVICE_TYPE} {version}']
    compute = headers.get(versions.HEADER)
    if compute is None and kwargs.get('microversion'):
        compute = 'compute ' + discover.version_to_string(
            discover.normalize_version_number(kwargs['microversion']))
    headers[versions.HEADER] = ', '.join(
        [compute, *entries] if compute else entries)
    return headers


def response_of(answer: typing.Any) -> requests.Response:
    """Return the response of an adapter's method.

    python-novaclient's is a LegacyJsonAdapter, which returns (response, body).
    """
    return answer[0] if isinstance(answer, tuple) else answer


def overrides_in(
        response: requests.Response) -> dict[str, dict[str, str | None]]:
    """Return what RESPONSE shows: server ID -> overrides."""
    try:
        body = response.json()
        servers = body.get('servers') or [body.get('server')]
        return {server['id']: server[errors.PARAMETER] for server in servers
                if server and errors.PARAMETER in server}
    except (AttributeError, KeyError, TypeError, ValueError):
        # Not an answer about servers.
        return {}
