"""Overrides that a create request carries among its scheduler hints.

Every client can send hints, in every microversion, and Nova takes any key
(nova/api/openstack/compute/schemas/servers.py _hints): this is a way in for
clients that can send neither the parameter nor the header entry. A hint may be

* ``image_props_override``: an object, or the text of one in JSON, for clients
  that can only send text;
* ``image_props_override:<property>``: one property.
"""

import collections
from collections.abc import Mapping
import json
from typing import Any

from nova_image_override import errors

#: Where Nova takes hints, in the order in which it looks
#: (ServersController.create); it ignores the second if the first is there.
KEYS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')

#: Prefix of the name of a hint that carries one property.
PREFIX = f'{errors.PARAMETER}:'


def take(body: Any) -> tuple[dict[str, Any], Any]:
    """Take overrides out of the hints of a body that Nova has parsed.

    :param body: the body of a create request; left unchanged
    :returns: each form in which overrides came, by the place where it was, and
        the body without them: the scheduler must not see them, nor Nova store
        them
    """
    found: dict[str, Any] = {}
    if not isinstance(body, dict):
        return found, body
    rest = body
    for key in KEYS:
        held = body.get(key)
        if not isinstance(held, dict):
            continue
        single = {name.removeprefix(PREFIX): value
                  for name, value in held.items() if name.startswith(PREFIX)}
        if errors.PARAMETER in held:
            found[f'{key}.{errors.PARAMETER}'] = held[errors.PARAMETER]
        if single:
            found[f'{key}.{PREFIX}<property>'] = single
        rest = {**rest, key: {
            name: value for name, value in held.items()
            if name != errors.PARAMETER and not name.startswith(PREFIX)}}
    return (found, rest) if found else (found, body)


def one(found: Mapping[str, Any]) -> Any:
    """Return what the only form says, as the parameter itself would.

    :param found: each form in which overrides came, by the place where it was
    :raises errors.Invalid: there is more than one, or its text cannot be read
    """
    if len(found) > 1:
        raise errors.Invalid.of(
            [errors.PARAMETER], errors.DUPLICATE,
            f'send it in one place only, not in {" and ".join(found)}')
    (value,) = found.values()
    return _decoded(value) if isinstance(value, str) else value


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
            twice, errors.DUPLICATE, 'the hint names it more than once')
    return value
