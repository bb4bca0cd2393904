"""What a cloud says about the extension, and can therefore be asked."""

import collections.abc
import contextlib
import dataclasses
import typing

import microversion_parse
import requests

from nova_image_override import errors
from nova_image_override import versions

#: What requests do. The first two are the keys of their bodies; a check has
#: the body of a create.
CREATE = 'server'
REBUILD = 'rebuild'
UPDATE = 'update'

#: Property name -> value, or None to remove the image's property.
Overrides = collections.abc.Mapping[str, str | None]


class Error(Exception):
    """Overrides cannot be sent, or were not; the message says why."""


class NotAvailable(Error):
    """The cloud does not have the extension."""


class VersionUnsupported(Error):
    """Client and cloud have no version in common."""


class NotSent(Error):
    """The tool made no request that could carry the overrides."""


@dataclasses.dataclass(frozen=True)
class Discovery:
    """What a cloud says about the extension to this caller.

    :ivar version: the newest version that cloud and client both know
    :ivar schema: JSON Schema (draft 2020-12) of ``image_props_override``
    """

    version: versions.Version
    schema: dict[str, typing.Any]

    @classmethod
    def read(cls, response: requests.Response) -> 'Discovery | None':
        """Return what the answer to ``GET /image-props-override`` says.

        :returns: None when the cloud does not have the extension
        :raises VersionUnsupported: it has no version that we know
        :raises Error: the answer is another failure, or cannot be read
        """
        if response.status_code == 404:
            return None
        with readable(
                response, 'Cannot find out whether this cloud takes image '
                          f'property overrides: GET {versions.PATH}'):
            return cls.of(response.json()[errors.PARAMETER])

    @classmethod
    def of(
        cls, said: typing.Any,
        history: tuple[versions.Version, ...] = versions.VERSIONS,
    ) -> 'Discovery':
        """Read SAID, the content of the answer.

        :param history: the versions that this client knows, oldest first
        :raises VersionUnsupported: the cloud has no version that we know
        :raises KeyError, TypeError, ValueError: it cannot be read
        """
        low, high = (
            microversion_parse.parse_version_string(said[bound])
            for bound in ('min_version', 'max_version'))
        schema = dict(said['schema'])
        shared = [version for version in history if low <= version <= high]
        if not shared:
            raise VersionUnsupported(
                f'This cloud takes versions {low} to {high} of '
                f'{versions.SERVICE_TYPE}, this client knows {history[0]} '
                f'to {history[-1]}: upgrade nova-image-override.')
        return cls(shared[-1], schema)


@contextlib.contextmanager
def readable(
    response: requests.Response, trouble: str,
) -> collections.abc.Iterator[None]:
    """Read a response in the context.

    :param trouble: what cannot be done without it, and which request it was
    :raises Error: the response is a failure, or does not hold what is read
    """
    if response.status_code != 200:
        raise Error(f'{trouble} answered {response.status_code}.')
    try:
        yield
    except (KeyError, TypeError, ValueError) as exc:
        raise Error(f'{trouble} cannot be read: {exc!r}.') from exc
