"""Overrides that a request carries among keys that clients may choose freely.

For clients that can send neither the parameters nor the header entry. Every
client can send scheduler hints, in every microversion, and Nova takes any key
(nova/api/openstack/compute/schemas/servers.py _hints); nearly every client can
send a server's metadata. In both a key may be

* ``image_props_override``: an object, or the text of one in JSON, for clients
  that can only send text;
* ``image_props_override:<property>``: one property;
* ``image_props_override_preset``: the name of a preset.
"""

import collections
from collections.abc import Mapping
import json
from typing import Any

from nova_image_override import errors

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

#: Each form in which a parameter came, by parameter and place.
Found = dict[str, dict[str, Any]]


def take(body: Any) -> tuple[Found, Any]:
    """Take overrides out of hints and metadata of a body that Nova has parsed.

    Metadata that Nova itself refuses is left to it.

    :param body: the body of a create request; left unchanged
    :returns: each form in which they came, and the body without them: the
        scheduler must not see them, nor Nova store them
    """
    found: Found = {}
    if not isinstance(body, dict):
        return found, body
    rest = dict(body)
    for place in HINTS:
        if isinstance(body.get(place), dict):
            rest[place] = _taken(found, place, body[place])
    server = body.get('server')
    if isinstance(server, dict) and isinstance(server.get('metadata'), dict):
        held = server['metadata']
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
    for name in (errors.PARAMETER, errors.PRESET):
        if name in held:
            found.setdefault(name, {})[f'{place}.{name}'] = held[name]
    if single:
        found.setdefault(errors.PARAMETER, {})[
            f'{place}.{PREFIX}<property>'] = single
    return {name: value for name, value in held.items() if not _is_ours(name)}


def _is_ours(name: str) -> bool:
    return name in (errors.PARAMETER, errors.PRESET) or name.startswith(PREFIX)


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


def one(parameter: str, found: Mapping[str, Any]) -> Any:
    """Return what the only form says, as the parameter itself would.

    :param parameter: its name
    :param found: each form in which it came, by the place where it was
    :raises errors.Invalid: there is more than one, or its text cannot be read
    """
    if len(found) > 1:
        raise errors.Invalid.of(
            [parameter], errors.DUPLICATE,
            f'send it in one place only, not in {" and ".join(found)}')
    (value,) = found.values()
    return _decoded(value) if (
        isinstance(value, str) and parameter == errors.PARAMETER) else value


def _decoded(text: str) -> Any:
    """Return what the text of a hint says.

    :raises errors.Invalid: it is not JSON, or is an object that has a name
        twice, of which Python's parser, like most, would take the last
    """
    twice: set[str] = set()

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        # Called for the outermost object last.
        counted = collections.Counter(name for name, _ in pairs)
        twice.clear()
        twice.update(name for name, times in counted.items() if times > 1)
        return dict(pairs)

    try:
        value = json.loads(text, object_pairs_hook=keep)
    # Nested too deeply, or a number with too many digits.
    except (RecursionError, ValueError):
        raise errors.Invalid.of(
            [errors.PARAMETER], errors.INVALID_VALUE,
            'must be an object, or a string of JSON with one, not '
            + errors.printable(text)) from None
    if isinstance(value, dict) and twice:
        raise errors.Invalid.of(
            twice, errors.DUPLICATE, 'the text names it more than once')
    return value
