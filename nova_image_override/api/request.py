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
from nova_image_override import free_keys
from nova_image_override import versions
from nova_image_override.api.change.plan import Plan
from nova_image_override.api.change.task_state import Operation
from nova_image_override.authorization import presets
from nova_image_override.authorization.presets import Preset
from nova_image_override.override import Overrides, Parser

#: The attribute of the context.
_ATTRIBUTE = 'image_props_override_request'


@dataclasses.dataclass
class OverrideRequest:
    """State of one request, past methods of Nova that know nothing of it.

    :ivar is_named: whether it names the extension
    :ivar version: the extension's version that it uses
    :ivar overrides: what it asks for, its preset's properties among them; None
        without the parameters
    :ivar preset: the preset that it names
    :ivar plan: what the servers of a create are to have, once that is checked
    :ivar is_check: whether the create only asks what it would get
    :ivar auto_disk_config: what create asks of the disk, kept until the image's
        properties are merged
    :ivar operation: what Nova is about to do to a server
    :ivar found: the properties that servers have to override to be listed
    :ivar found_preset: the preset that their overrides have to come with, or ''
    :ivar shown: what the answer is to show of overrides, by server
    """

    is_named: bool = False
    version: versions.Version = versions.MAX
    overrides: Overrides | None = None
    preset: Preset | None = None
    plan: Plan | None = None
    is_check: bool = False
    auto_disk_config: bool | None = None
    operation: Operation | None = None
    found: frozenset[str] = frozenset()
    found_preset: str = ''
    shown: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)


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

_PARAMETERS = (errors.PARAMETER, errors.PRESET)


def take_parameters(
    req: wsgi.Request, body: Any, key: str,
) -> tuple[dict[str, Any], Any]:
    """Take our parameters out of a body that Nova has parsed.

    :returns: the value of each that was sent, and the body without them
    :raises errors.Invalid: they were sent to the legacy API, which would
        silently drop them (nova/api/validation/validators.py
        _soft_validate_additional_properties)
    """
    if not isinstance(body, dict):
        return {}, body
    inner = body.get(key)
    if not isinstance(inner, dict):
        inner = {}
    held = {name: inner[name] for name in _PARAMETERS if name in inner}
    require_v21(req, *(
        name for name in _PARAMETERS if name in held or name in body))
    if not held:
        return held, body
    return held, {**body, key: {
        name: value for name, value in inner.items() if name not in held}}


def take_filters(req: wsgi.Request, parser: Parser) -> None:
    """Take our filters out of a query that Nova is about to validate.

    A request that does not name the extension has no filter: its query is
    Nova's alone.

    :raises errors.Invalid: they name what is no property, or cannot be a preset
    """
    request = naming(req.environ['nova.context'])
    if request is None:
        return
    try:
        names, used = map(req.GET.getall, _PARAMETERS)
    except UnicodeDecodeError:
        # Nova refuses that (nova/api/validation/__init__.py query_schema).
        return
    if names:
        request.found = parser.parse_names(names)
        del req.GET[errors.PARAMETER]
    if used:
        if used[1:] or not presets.is_name(used[0]):
            raise errors.Invalid.of(
                [errors.PRESET], errors.INVALID_VALUE,
                'must be the name of one preset')
        (request.found_preset,) = used
        del req.GET[errors.PRESET]


def require_v21(req: wsgi.Request, *names: str) -> None:
    """Refuse a request to the legacy API.

    :param names: the parameters that it has
    :raises errors.Invalid: the request is one, and has some
    """
    if names and req.is_legacy_v2():
        raise errors.Invalid.of(
            names, errors.NOT_HERE,
            'the legacy /v2 API does not take it, use /v2.1 and send '
            f'{versions.ENTRY}')


def required(req: wsgi.Request, *names: str) -> OverrideRequest:
    """Return the OverrideRequest of a request that must name the extension.

    :param names: the parameters that it has
    :raises errors.Invalid: it does not
    """
    request = naming(req.environ['nova.context'])
    if request is None:
        raise errors.Invalid.of(
            names, errors.VERSION_MISSING,
            f'the request must name the extension, send {versions.ENTRY}')
    return request


def take_free_keys(
    req: wsgi.Request, found: free_keys.Found, sent: dict[str, Any],
) -> dict[str, Any]:
    """Return what is asked for; the request then names the extension.

    :param found: what hints and metadata ask for
    :param sent: the parameters themselves
    :raises errors.Invalid: something cannot be read, or was sent twice
    """
    context = req.environ['nova.context']
    if naming(context) is None:
        attach(context, OverrideRequest(is_named=True))
    asked = dict(sent)
    problems: list[errors.Problem] = []
    for name, places in found.items():
        if name in sent:
            places = {f'server.{name}': sent[name], **places}
        try:
            asked[name] = free_keys.one(name, places)
        except errors.Invalid as exc:
            problems += exc.problems
    if problems:
        raise errors.Invalid(problems)
    return asked
