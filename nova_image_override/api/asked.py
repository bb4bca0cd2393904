"""What a request asks of overrides: in its body, hints, metadata and query.

The parameters are members of ``server`` or ``rebuild``. Clients that can send
neither the parameters nor the header entry can ask among keys that they may
choose freely. Every client can send scheduler hints, in every microversion,
and Nova takes any key (nova/api/openstack/compute/schemas/servers.py _hints);
nearly every client can send a server's metadata. In both a key may be

* ``image_props_override``: an object, or the text of one in JSON, for clients
  that can only send text;
* ``image_props_override:<property>``: one property;
* ``image_props_override_preset``: the name of a preset.
"""
from __future__ import annotations

import collections
from collections.abc import Collection, Mapping
import functools
import json
from typing import Any

from nova.api.openstack import wsgi

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api.change.plan import Planner
from nova_image_override.api.client_compatibility import ClientCompatibility
from nova_image_override.api.operation import Listing
from nova_image_override.api.operation import Operation
from nova_image_override.authorization import presets
from nova_image_override.override import NONE, Overrides, Parser, Permission

#: Where Nova takes hints, in the order in which it looks
#: (ServersController.create); it ignores the second if the first is there.
HINTS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')

#: Where it takes metadata.
METADATA = 'server.metadata'

#: Prefix of the key that carries one property.
PREFIX = f'{errors.PARAMETER}:'

#: What a metadata value can be
#: (nova/api/validation/parameter_types.py metadata).
_VALUE_MAX = 255

#: The version that a request uses, in its WSGI environment.
_VERSION = 'image_props_override.version'

#: What Nova prefers to what (API._inherit_properties_from_image), and their
#: values that contradict.
_DISK_CONFIG, _AUTO = 'OS-DCF:diskConfig', 'hw_auto_disk_config'
_OVERRULED = (('AUTO', 'false'), ('AUTO', 'disabled'), ('MANUAL', 'true'))

#: Each form in which a parameter came, by parameter and place.
Found = dict[str, dict[str, Any]]


def set_version(req: Any, version: versions.Version) -> None:
    """Note that a request names the extension, and the version it uses."""
    req.environ[_VERSION] = version


def version_of(req: Any) -> versions.Version | None:
    """Return the version that a request uses; None if it names none."""
    version: versions.Version | None = req.environ.get(_VERSION)
    return version


def require_version(req: wsgi.Request, *names: str) -> None:
    """Require that a request, which has parameters, names the extension.

    :raises errors.Invalid: it does not, or it is one to the legacy API
    """
    _refuse_legacy(req, names)
    if version_of(req) is None:
        raise errors.Invalid.of(
            names, errors.VERSION_MISSING,
            f'the request must name the extension, send {versions.ENTRY}')


def _refuse_legacy(req: wsgi.Request, names: Collection[str]) -> None:
    """Refuse the parameters called NAMES in a request to the legacy API.

    It drops them (validators.py _soft_validate_additional_properties).
    """
    if names and req.is_legacy_v2():
        raise errors.Invalid.of(
            names, errors.NOT_HERE,
            'the legacy /v2 API does not take it, use /v2.1 and send '
            f'{versions.ENTRY}')


class Reader:
    """Reads what requests ask for, and takes it out of them.

    What is left is what Nova validates: there is one parser of the body,
    Nova's own.
    """

    def __init__(
        self, planner: Planner, compatibility: ClientCompatibility,
    ) -> None:
        self._planner = planner
        self._parser = Parser(planner.enforcer.catalog)
        self._compatibility = compatibility

    def create(
        self, req: wsgi.Request, body: Any,
    ) -> tuple[Overrides | None, Any]:
        """Return what a create asks for, and the body without it.

        :returns: None if it does not ask for overrides
        :raises errors.OverrideError: it is wrong, whatever the image
        """
        sent, body = _take_parameters(req, body, 'server')
        found, body = take_free_keys(body)
        self._require_open(found)
        asked, problems = with_free_keys(found, sent)
        if left := [name for name in sent if name in asked]:
            require_version(req, *left)
        context = req.environ['nova.context']
        return self._parsed(
            context, asked, functools.partial(self._planner.refused, context),
            _inner(body, 'server'), problems), body

    def change(
        self, req: wsgi.Request, body: Any, key: str, permission: Permission,
    ) -> tuple[Overrides | None, Any]:
        """Return what a rebuild or an update asks for, and the body without it.

        :param key: 'rebuild' or 'server'
        :param permission: as in :meth:`Parser.parse`
        :returns: None if it does not ask for overrides
        :raises errors.OverrideError: it is wrong, whatever the image
        """
        sent, body = _take_parameters(req, body, key)
        if sent:
            require_version(req, *sent)
            if key == 'server' and 'pinned_availability_zone' in body[key]:
                # Nova's update stores that before anything else.
                raise errors.Invalid.of(
                    sent, errors.NOT_HERE, 'it cannot be changed '
                    'together with pinned_availability_zone, send two requests')
        return self._parsed(
            req.environ['nova.context'], sent, permission,
            _inner(body, key)), body

    def listing(self, req: wsgi.Request) -> Operation:
        """Return what a list shows, and take our filters out of its query.

        The query of a request that does not name the extension is Nova's alone.

        :raises errors.Invalid: a filter names what is no property, or cannot
            be a preset
        """
        if version_of(req) is None:
            return Operation()
        try:
            names, used = map(req.GET.getall, errors.PARAMETERS)
        except UnicodeDecodeError:
            # Nova refuses that (nova/api/validation/__init__.py query_schema).
            return Operation()
        found = self._parser.parse_names(names)
        if used[1:] or not all(map(presets.is_name, used)):
            raise errors.Invalid.of(
                [errors.PRESET], errors.INVALID_VALUE,
                'must be the name of one preset')
        for parameter in errors.PARAMETERS:
            if parameter in req.GET:
                del req.GET[parameter]
        return Listing(None, found, *used)

    def _require_open(self, found: Found) -> None:
        """Refuse overrides in hints or metadata where they are not allowed.

        Nova accepts any key there, and ignores it: the server would come up
        without its overrides, and nobody would know.
        """
        closed = {}
        for name, places in found.items():
            for place in places:
                where, is_open = (
                    ('server metadata', self._compatibility.server_metadata)
                    if place.startswith(METADATA) else
                    ('a scheduler hint', self._compatibility.scheduler_hint))
                if not is_open:
                    closed[name] = where
        if closed:
            raise errors.Invalid(errors.Problem(
                name, errors.NOT_HERE, f'this cloud does not take it as '
                f'{where}, use server.{name} and send {versions.ENTRY}')
                for name, where in closed.items())

    def _parsed(
        self, context: Any, sent: Mapping[str, Any], permission: Permission,
        server: dict[str, Any], problems: Collection[errors.Problem] = (),
    ) -> Overrides | None:
        """Return the overrides that the parameters SENT ask for.

        :param server: what else the request asks for
        :param problems: what else is wrong with them
        """
        if not (sent or problems):
            return None
        preset = NONE
        try:
            if errors.PRESET in sent:
                enforcer = self._planner.enforcer
                preset = enforcer.preset(
                    self._planner.callers.caller(context),
                    sent[errors.PRESET]).overrides
        except errors.Invalid as exc:
            problems = [*problems, *exc.problems]
        if any(each.name == errors.PRESET for each in problems):
            permission = _whatever_the_preset(permission)
        parse = functools.partial(self._parser.parse, sent.get(
            errors.PARAMETER, {}), permission, preset)
        asked, said = parse(problems), server.get(_DISK_CONFIG)
        if said and (said, asked.values.get(_AUTO)) in _OVERRULED:
            parse([errors.Problem(
                _AUTO, errors.NO_EFFECT, f"the request's {_DISK_CONFIG} "
                'decides: leave one of them out')])
        return asked


def _whatever_the_preset(permission: Permission) -> Permission:
    """Return PERMISSION without what a preset that is not known may permit."""
    return lambda overrides: [
        each for each in permission(overrides) if each.code not in (
            errors.NOT_ALLOWED, errors.VALUE_NOT_ALLOWED)]


def _inner(body: Any, key: str) -> dict[str, Any]:
    """Return what a body has under KEY, {} if that is no object."""
    inner = body.get(key) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def _take_parameters(
    req: wsgi.Request, body: Any, key: str,
) -> tuple[dict[str, Any], Any]:
    """Return our parameters in a body, and the body without them."""
    if not isinstance(body, dict):
        return {}, body
    inner = _inner(body, key)
    held = {name: inner[name] for name in errors.PARAMETERS if name in inner}
    _refuse_legacy(req, [
        name for name in errors.PARAMETERS if name in held or name in body])
    if not held:
        return held, body
    return held, {**body, key: {
        name: value for name, value in inner.items() if name not in held}}


# --- hints and metadata -----------------------------------------------------

def take_free_keys(body: Any) -> tuple[Found, Any]:
    """Return overrides in hints and metadata of a create, and the rest of it.

    The scheduler must not see them, nor Nova store them. Metadata that Nova
    itself refuses is left to it.
    """
    found: Found = {}
    if not isinstance(body, dict):
        return found, body
    rest = dict(body)
    for place in HINTS:
        if isinstance(body.get(place), dict):
            rest[place] = _taken(found, place, body[place])
    server = _inner(body, 'server')
    if isinstance(held := server.get('metadata'), dict):
        good = {name: value for name, value in held.items()
                if isinstance(value, str) and len(value) <= _VALUE_MAX}
        left = _taken(found, METADATA, good)
        rest['server'] = {**server, 'metadata': {
            name: value for name, value in held.items()
            if name in left or name not in good}}
    return (found, rest) if found else (found, body)


def _taken(found: Found, place: str, held: dict[str, Any]) -> dict[str, Any]:
    """Return HELD without what is ours, which is put into FOUND."""
    single = {name.removeprefix(PREFIX): value
              for name, value in held.items() if name.startswith(PREFIX)}
    for name in errors.PARAMETERS:
        if name in held:
            found.setdefault(name, {})[f'{place}.{name}'] = held[name]
    if single:
        found.setdefault(errors.PARAMETER, {})[
            f'{place}.{PREFIX}<property>'] = single
    return {name: value for name, value in held.items() if not _is_ours(name)}


def _is_ours(name: str) -> bool:
    return name in errors.PARAMETERS or name.startswith(PREFIX)


def require_none(metadata: Any) -> None:
    """Refuse overrides in the metadata of a server that exists.

    :raises errors.Invalid: there are some
    """
    found = [name for name in metadata or () if _is_ours(name)]
    if found:
        raise errors.Invalid.of(
            {name.partition(':')[0] for name in found}, errors.NOT_HERE,
            'only a create takes it as metadata: rebuild or update the server '
            f'with the parameter, without {", ".join(sorted(found))}')


def with_free_keys(
    found: Found, sent: Mapping[str, Any],
) -> tuple[dict[str, Any], list[errors.Problem]]:
    """Return the parameters SENT with what was FOUND, and what is wrong there.

    A parameter must come in one place. What is wrong is left out.
    """
    asked = dict(sent)
    problems = []
    for name, places in found.items():
        if name in sent:
            places = {f'server.{name}': asked.pop(name), **places}
        if len(places) > 1:
            problems.append(errors.Problem(
                name, errors.DUPLICATE, 'send it in one place only, not in '
                + ' and '.join(places)))
            continue
        (value,) = places.values()
        if not (isinstance(value, str) and name == errors.PARAMETER):
            asked[name] = value
            continue
        try:
            asked[name], twice = _decoded(value)
        # Nested too deeply, or a number with too many digits.
        except (RecursionError, ValueError):
            problems.append(errors.Problem(
                name, errors.INVALID_VALUE, 'must be an object, or a string of '
                'JSON with one, not ' + errors.printable(value)))
        else:
            problems += (errors.Problem(
                each, errors.DUPLICATE, 'the text names it more than once')
                for each in twice)
    return asked, problems


def _decoded(text: str) -> tuple[Any, set[str]]:
    """Return the JSON value of TEXT, and the names that an object has twice.

    The object is without these: Python's parser, like most, would take the
    last of each.

    :raises ValueError: it is not JSON
    """
    twice: set[str] = set()

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        # Called for the outermost object last.
        counted = collections.Counter(name for name, _ in pairs)
        twice.clear()
        twice.update(name for name, times in counted.items() if times > 1)
        return dict(pairs)

    value = json.loads(text, object_pairs_hook=keep)
    if not isinstance(value, dict):
        return value, set()
    return {name: value[name] for name in value if name not in twice}, twice
