"""What a cloud says about the extension, and can therefore be asked."""

import collections.abc
import contextlib
import dataclasses
import typing

import microversion_parse
import requests

from nova_image_override import errors
from nova_image_override import versions

#: What requests do. The first two are the keys of their bodies.
CREATE = 'server'
REBUILD = 'rebuild'
CHECK = 'check'
UPDATE = 'update'
LIST = 'list'

#: What is newer than the first version: whether a version has it, and what to
#: call it.
_NEEDS = {
    REBUILD: (versions.takes_rebuild, 'overriding image properties on rebuild'),
    CHECK: (versions.takes_check, 'checking what a create would get'),
    UPDATE: (versions.takes_update, 'changing the overrides of a server'),
    LIST: (versions.takes_filter, 'listing the servers with certain overrides'),
}

#: Property name -> value, or None to remove the image's property.
Overrides = collections.abc.Mapping[str, str | None]


class Error(Exception):
    """Overrides cannot be sent, or were not; the message says why."""


class NotAvailable(Error):
    """The cloud does not have the extension."""


class VersionUnsupported(Error):
    """Client and cloud have no version that supports what is asked for."""


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
    def of(cls, said: typing.Any) -> 'Discovery':
        """Read SAID, the content of the answer.

        :raises VersionUnsupported: the cloud has no version that we know
        :raises KeyError, TypeError, ValueError: it cannot be read
        """
        low, high = (
            microversion_parse.parse_version_string(said[bound])
            for bound in ('min_version', 'max_version'))
        schema = dict(said['schema'])
        known = [version for version in versions.VERSIONS
                 if low <= version <= high]
        if not known:
            raise VersionUnsupported(
                f'This cloud takes versions {low} to {high} of '
                f'{versions.SERVICE_TYPE}, this client knows {versions.MIN} '
                f'to {versions.MAX}: upgrade nova-image-override.')
        return cls(known[-1], schema)

    def require(
            self, action: str, overrides: Overrides | None = None) -> None:
        """Check that the version supports what is asked for.

        :param action: CREATE, REBUILD, CHECK, UPDATE or LIST
        :raises VersionUnsupported: naming what needs a newer version
        """
        needs = []
        if action in _NEEDS:
            taken, what = _NEEDS[action]
            if not taken(self.version):
                needs.append(what)
        removed = sorted(
            name for name, value in (overrides or {}).items()
            if value is None)
        if removed and not versions.takes_null(self.version):
            needs.append(f'removing image properties ({", ".join(removed)})')
        if needs:
            raise VersionUnsupported(
                f'This cloud has {versions.SERVICE_TYPE} {self.version}, '
                f'which is too old for {" and for ".join(needs)}.')


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
