"""What one request to nova-api carries: its overrides, and their version.

There is one :class:`OverrideRequest` for each request that overrides play a
part in. Nova's request context carries it from the router to the compute API
and the view builder: nova-api makes one context for each request, and
``RequestContext.to_dict`` leaves foreign attributes out, so it reaches neither
another request nor another service.
"""

import contextlib
import dataclasses
import enum
import typing

from nova_image_override import override
from nova_image_override import versions
from nova_image_override.api import rebuild as rebuild_module

#: The attribute of the context.
_ATTRIBUTE = 'image_props_override_request'


class NamedBy(enum.Enum):
    """How a request names the extension, and so its version."""

    HEADER = 'header'
    COMPUTE_MICROVERSION = 'compute microversion'
    SCHEDULER_HINT = 'scheduler hint'


@dataclasses.dataclass
class OverrideRequest:
    """What one request carries.

    :ivar named_by: how it names the extension, if it does
    :ivar version: the extension's version that it uses
    :ivar overrides: what it asks for; None without the parameter
    :ivar record: the system metadata rows that record what create asked for
    :ivar is_check: whether the create only asks what it would get
    :ivar auto_disk_config: what create asks of the disk, kept until the image's
        properties are merged
    :ivar rebuild: the rebuild that is in progress, if any
    :ivar found: the properties that servers have to override to be listed
    :ivar shown: the overrides that the answer is to show, by server
    """

    named_by: NamedBy | None = None
    version: versions.Version = versions.MAX
    overrides: override.Overrides | None = None
    record: dict[str, str | None] = dataclasses.field(default_factory=dict)
    is_check: bool = False
    auto_disk_config: bool | None = None
    rebuild: rebuild_module.Rebuild | None = None
    found: frozenset[str] = frozenset()
    shown: dict[str, override.Overrides] = dataclasses.field(
        default_factory=dict)

    @contextlib.contextmanager
    def rebuilding(
        self, pending: rebuild_module.Rebuild
    ) -> typing.Iterator[None]:
        """Carry a rebuild through Nova's method."""
        self.rebuild = pending
        try:
            yield
        finally:
            self.rebuild = None


def attach(context: typing.Any, request: OverrideRequest) -> OverrideRequest:
    """Let CONTEXT carry REQUEST; return REQUEST."""
    setattr(context, _ATTRIBUTE, request)
    return request


def of(context: typing.Any) -> OverrideRequest | None:
    """Return what CONTEXT carries, if anything."""
    return getattr(context, _ATTRIBUTE, None)


def naming(context: typing.Any) -> OverrideRequest | None:
    """Return what CONTEXT carries if its request names the extension."""
    request = of(context)
    return None if request is None or request.named_by is None \
        else request


def rebuild_of(context: typing.Any) -> rebuild_module.Rebuild | None:
    """Return the rebuild in progress in CONTEXT, if it has overrides."""
    request = of(context)
    return None if request is None else request.rebuild
