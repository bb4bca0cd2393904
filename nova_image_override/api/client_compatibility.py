"""Compatibility with clients that cannot send the header entry.

Deployers can allow each of these ways in for clients that nobody can extend.
They only make the header entry unnecessary: such overrides are validated and
authorised like all others.
"""
from __future__ import annotations

import dataclasses
from typing import Any

from nova import exception
from nova.api.openstack import api_version_request
from nova.api.openstack import wsgi

from nova_image_override import errors
from nova_image_override import versions


@dataclasses.dataclass(frozen=True)
class ClientCompatibility:
    """The deployer's choices.

    :ivar scheduler_hint: whether scheduler hints may carry overrides
    :ivar server_metadata: whether the metadata of a create may
    :ivar compute: Nova's microversion from which a request needs no header
        entry; None when every one needs it
    """

    scheduler_hint: bool = False
    server_metadata: bool = False
    compute: api_version_request.APIVersionRequest | None = None

    @classmethod
    def from_options(cls, options: Any) -> ClientCompatibility:
        """Read the options of ``[image_override]``.

        :raises errors.StartupError: this Nova does not have the microversion
        """
        text = options.compute_microversion
        return cls(options.accept_scheduler_hint,
                   options.accept_server_metadata,
                   None if text is None else _microversion(text))

    def version_of(self, environ: dict[str, Any]) -> versions.Version | None:
        """Return the version of a request whose header does not name one.

        :returns: the newest version, or None when the header has to name one
        """
        if self.compute is None:
            return None
        # A copy, because Nova caches the version on the request.
        request = wsgi.Request(dict(environ))
        # The legacy /v2 has no microversions.
        if request.is_legacy_v2():
            return None
        try:
            request.set_api_version_request()
        except (exception.NovaException, ValueError):
            # Nova itself answers these (wsgi.py Resource.__call__).
            return None
        return versions.MAX if (
            request.api_version_request >= self.compute) else None


def _microversion(text: str) -> api_version_request.APIVersionRequest:
    """Return one of Nova's microversions."""
    oldest = api_version_request.min_api_version()
    newest = api_version_request.max_api_version()
    try:
        version = api_version_request.APIVersionRequest(text)
    # int() has a limit of its own.
    except (exception.InvalidAPIVersionString, ValueError):
        version = None
    if version is None or not version.matches(oldest, newest):
        raise errors.StartupError(errors.Fault(
            'compute_microversion', text,
            'must be a compute microversion of this Nova, '
            f'{oldest.get_string()} to {newest.get_string()}, not '
            + errors.printable(text), ''))
    return version
