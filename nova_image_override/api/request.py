"""State of one request to nova-api: its overrides, and the operation it is.

There is one :class:`OverrideRequest` for each request that overrides play a
part in. Nova's request context carries it from the router to the compute API
and the view builder: nova-api makes one context for each request, and
``RequestContext.to_dict`` leaves foreign attributes out, so it reaches neither
another request nor another service.
"""

from collections.abc import Iterator
import contextlib
import dataclasses
from typing import Any

from nova_image_override import versions
from nova_image_override.api.change.operation import Operation
from nova_image_override.api.change.plan import Plan
from nova_image_override.override import Overrides

#: The attribute of the context.
_ATTRIBUTE = 'image_props_override_request'


@dataclasses.dataclass
class OverrideRequest:
    """State of one request, past methods of Nova that know nothing of it.

    :ivar is_named: whether it names the extension
    :ivar version: the extension's version that it uses
    :ivar overrides: what it asks for; None without the parameter
    :ivar plan: what the servers of a create are to have, once that is checked
    :ivar is_check: whether the create only asks what it would get
    :ivar auto_disk_config: what create asks of the disk, kept until the image's
        properties are merged
    :ivar operation: what Nova is about to do to a server
    :ivar found: the properties that servers have to override to be listed
    :ivar shown: the overrides that the answer is to show, by server
    """

    is_named: bool = False
    version: versions.Version = versions.MAX
    overrides: Overrides | None = None
    plan: Plan | None = None
    is_check: bool = False
    auto_disk_config: bool | None = None
    operation: Operation | None = None
    found: frozenset[str] = frozenset()
    shown: dict[str, Overrides] = dataclasses.field(default_factory=dict)


def attach(context: Any, request: OverrideRequest) -> OverrideRequest:
    """Let CONTEXT carry REQUEST; return REQUEST."""
    setattr(context, _ATTRIBUTE, request)
    return request


def of(context: Any) -> OverrideRequest | None:
    """Return what CONTEXT carries, if anything."""
    return getattr(context, _ATTRIBUTE, None)


def naming(context: Any) -> OverrideRequest | None:
    """Return what CONTEXT carries if its request names the extension."""
    request = of(context)
    return request if request is not None and request.is_named else None


@contextlib.contextmanager
def doing(context: Any, operation: Operation) -> Iterator[None]:
    """Carry OPERATION through Nova's method."""
    request = of(context) or attach(context, OverrideRequest())
    request.operation = operation
    try:
        yield
    finally:
        request.operation = None


def operation_of(context: Any) -> Operation | None:
    """Return what Nova is about to do to a server, if it is one of ours."""
    request = of(context)
    return None if request is None else request.operation
