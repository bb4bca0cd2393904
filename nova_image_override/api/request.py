"""What one request to nova-api asks of the extension, from body to answer.

There is one :class:`OverrideRequest` for each request that overrides play a
part in. Nova's request context carries it from the router to the compute API
and the view builder: nova-api makes one context for each request, and
``RequestContext.to_dict`` leaves foreign attributes out, so it reaches neither
another request nor another service.
"""
from __future__ import annotations

from collections.abc import Iterator
import contextlib
import dataclasses
from typing import Any

from nova.api.openstack import wsgi

from nova_image_override import errors
from nova_image_override import scheduler_hints
from nova_image_override import versions
from nova_image_override.api.change.plan import Plan
from nova_image_override.api.change.task_state import Operation
from nova_image_override.override import Overrides, Parser

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


# --- taken out of what Nova is about to validate -----------------------------

ABSENT = object()


def _refused(code: str, reason: str) -> errors.Invalid:
    return errors.Invalid.of([errors.PARAMETER], code, reason)


def take_parameter(req: wsgi.Request, body: Any, key: str) -> tuple[Any, Any]:
    """Take our parameter out of a body that Nova has parsed.

    :returns: its value or ABSENT, and the body without it
    :raises errors.Invalid: it was sent to the legacy API, which would silently
        drop it (nova/api/validation/validators.py
        _soft_validate_additional_properties)
    """
    if not isinstance(body, dict):
        return ABSENT, body
    inner = body.get(key)
    if not isinstance(inner, dict):
        inner = {}
    held = errors.PARAMETER in inner
    if held or errors.PARAMETER in body:
        require_v21(req)
    if not held:
        return ABSENT, body
    rest = {k: v for k, v in inner.items() if k != errors.PARAMETER}
    return inner[errors.PARAMETER], {**body, key: rest}


def take_filter(req: wsgi.Request, parser: Parser) -> None:
    """Take our filter out of a query that Nova is about to validate.

    A request that does not name the extension has no filter: its query is
    Nova's alone.

    :raises errors.Invalid: the filter names something that is not a property
    """
    request = naming(req.environ['nova.context'])
    if request is None:
        return
    try:
        names = req.GET.getall(errors.PARAMETER)
    except UnicodeDecodeError:
        # Nova refuses that (nova/api/validation/__init__.py query_schema).
        return
    if names:
        request.found = parser.parse_names(names)
        del req.GET[errors.PARAMETER]


def require_v21(req: wsgi.Request) -> None:
    """Refuse a request to the legacy API.

    :raises errors.Invalid: the request is one
    """
    if req.is_legacy_v2():
        raise _refused(
            errors.NOT_HERE,
            'the legacy /v2 API does not take it, use /v2.1 and send '
            f'{versions.ENTRY}')


def required(req: wsgi.Request) -> OverrideRequest:
    """Return the OverrideRequest of a request that must name the extension.

    :raises errors.Invalid: it does not
    """
    request = naming(req.environ['nova.context'])
    if request is None:
        raise _refused(
            errors.VERSION_MISSING,
            f'the request must name the extension, send {versions.ENTRY}')
    return request


def take_hint(req: wsgi.Request, hinted: dict[str, Any], raw: Any) -> Any:
    """Return what hints ask for; the request then names the extension.

    :param hinted: the hints, by the place where they were
    :param raw: the value of the parameter, or ABSENT
    :raises errors.Invalid: they cannot be read, or the parameter was sent too
    """
    if raw is not ABSENT:
        hinted = {f'server.{errors.PARAMETER}': raw, **hinted}
    context = req.environ['nova.context']
    if naming(context) is None:
        attach(context, OverrideRequest(is_named=True))
    return scheduler_hints.one(hinted)
