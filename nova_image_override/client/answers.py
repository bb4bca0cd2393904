"""Reading the answers of nova-api; the errors of all clients."""

from collections.abc import Callable
import dataclasses
from typing import Any, TypeVar

import microversion_parse
import requests

from nova_image_override import errors
from nova_image_override import versions

T = TypeVar('T')


def parameters(*values: Any) -> dict[str, Any]:
    """Return those of errors.PARAMETERS whose VALUES are not None."""
    return {name: value for name, value in zip(errors.PARAMETERS, values)
            if value is not None}


class Error(Exception):
    """Overrides cannot be sent, or were not; the message says why."""


class NotAvailable(Error):
    """The cloud does not have the extension."""


class NotSent(Error):
    """The tool made no request that could carry the overrides."""


class Refused(Error):
    """The cloud refuses a request, with a line for each problem if it has any.

    :ivar message: that of Nova's fault
    :ivar problems: with overrides; empty when something else is wrong
    """

    def __init__(self, response: requests.Response) -> None:
        (fault,) = response.json().values()
        self.response = response
        self.message = fault['message']
        self.problems = tuple(sorted(
            errors.Problem(name, each['code'], each['reason'])
            for name, each in fault.get(errors.PARAMETER, {}).items()))
        super().__init__('\n'.join(map(str, self.problems)) or self.message)


def raise_for(response: requests.Response) -> None:
    """Raise an error if RESPONSE is one of Nova's faults.

    :raises Refused: it is, and the request is to blame (4xx)
    """
    if not 400 <= response.status_code < 500:
        return
    try:
        refused = Refused(response)
    except (AttributeError, KeyError, TypeError, ValueError):
        return
    raise refused


def read(
    response: requests.Response, trouble: str, extract: Callable[[Any], T],
) -> T:
    """Return the result of EXTRACT for the body of RESPONSE.

    :param trouble: the beginning of the message of an error
    :raises Error: the response is a failure, or has another body
    """
    if response.status_code != 200:
        raise Error(f'{trouble} answered {response.status_code}.')
    try:
        return extract(response.json())
    except (KeyError, TypeError, ValueError) as exc:
        raise Error(f'{trouble} cannot be read: {exc!r}.') from exc


def shown_in(response: requests.Response) -> dict[str, dict[str, Any]]:
    """Return the overrides in RESPONSE: server ID -> parameter -> value."""
    try:
        body = response.json()
        servers = body.get('servers') or [body.get('server')]
        return {server['id']: {name: server.get(name)
                             for name in errors.PARAMETERS}
                for server in servers
                if server and errors.PARAMETER in server}
    except (AttributeError, KeyError, TypeError, ValueError):
        # Not an answer about servers.
        return {}


@dataclasses.dataclass(frozen=True)
class Discovery:
    """A cloud's offer of the extension to this caller.

    :ivar version: the newest version that cloud and client both know
    :ivar schema: JSON Schema (draft 2020-12) of ``image_props_override``
    :ivar presets: name -> ``description``, ``properties``, ``flavors`` and
        ``digest``
    """

    version: versions.Version
    schema: dict[str, Any]
    presets: dict[str, dict[str, Any]]

    def preset(self, name: str) -> dict[str, Any]:
        """Return the preset called NAME.

        :raises Error: the cloud does not offer it to this caller
        """
        if name not in self.presets:
            raise Error(
                f'This cloud offers you no preset {errors.printable(name)}, '
                f'but {", ".join(sorted(self.presets)) or "no other either"}.')
        return self.presets[name]

    @classmethod
    def of(cls, offer: Any) -> 'Discovery':
        """Read OFFER, the content of the response to ``GET`` of versions.PATH.

        :raises Error: the cloud has no version that we know
        :raises KeyError, TypeError, ValueError: it cannot be read
        """
        low, high = (
            microversion_parse.parse_version_string(offer[bound])
            for bound in ('min_version', 'max_version'))
        # Clouds from before there were presets send none.
        schema, presets = dict(offer['schema']), dict(offer.get('presets', {}))
        known = versions.VERSIONS
        shared = [version for version in known if low <= version <= high]
        if not shared:
            raise Error(
                f'This cloud takes versions {low} to {high} of '
                f'{versions.SERVICE_TYPE}, this client knows {known[0]} '
                f'to {known[-1]}: upgrade nova-image-override.')
        return cls(shared[-1], schema, presets)
