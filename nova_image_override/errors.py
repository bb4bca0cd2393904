"""Errors in a request's overrides, in the API's own terms.

Every refusal names each offending property with a code for programs and a
reason for people. The codes are part of the HTTP contract: they are
documented, and never renamed or reused.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
import dataclasses
import difflib
import itertools
import json
import re
import textwrap
from typing import Any, TypeVar

# --- 400: the request itself is wrong --------------------------------------
#: The name is not that of an image property that overrides can set.
UNKNOWN = 'unknown'
#: The name is the legacy spelling of a property.
LEGACY_NAME = 'legacy_name'
#: The name is a list field, which is set through indexed or trait names.
LIST_FIELD = 'list_field'
#: The value is not a string (or the whole parameter is not an object).
INVALID_TYPE = 'invalid_type'
#: The value is not one that the property takes.
INVALID_VALUE = 'invalid_value'
#: The value is longer than Nova stores.
TOO_LONG = 'too_long'
#: More properties than one request may name.
TOO_MANY = 'too_many'
#: The merged result has a gap in its NUMA nodes.
NUMA_GAP = 'numa_gap'
#: Nova cannot read the merged properties.
UNREADABLE = 'unreadable'
#: Flavor and merged properties exclude each other.
FLAVOR_CONFLICT = 'flavor_conflict'
#: The merged properties exclude each other, whatever the flavor.
PROPERTY_CONFLICT = 'property_conflict'
#: Flavor and merged properties leave the override without any effect.
NO_EFFECT = 'no_effect'
#: The parameter came without the version entry in the header.
VERSION_MISSING = 'version_missing'
#: The parameter came where it is not accepted.
NOT_HERE = 'not_here'
#: The parameter, or a property in it, came more than once.
DUPLICATE = 'duplicate'
#: The cloud has no preset of that name.
UNKNOWN_PRESET = 'unknown_preset'
#: More properties are refused, with whatever status, than an answer names.
LEFT_OUT = 'left_out'

#: A rebuild would change the server's NUMA topology.
NUMA_CHANGE = 'numa_change'
#: A rebuild would change what takes effect only when a server is created.
CREATE_ONLY = 'create_only'

# --- 403: the request is right, this caller may not make it ----------------
#: No deployment can permit it: the property describes the image itself.
NEVER = 'never'
#: ``[image_override] denied_properties`` names it.
DENIED = 'denied'
#: ``[image_override] allowed_properties`` does not name it.
NOT_ALLOWED = 'not_allowed'
#: ``[image_override] allowed_properties`` names it with other values.
VALUE_NOT_ALLOWED = 'value_not_allowed'
#: Glance injects the property into the images that this caller imports.
INJECTED = 'injected'
#: Glance's property protections do not let this caller do that.
PROTECTED = 'protected'
#: policy.yaml refuses it to this caller.
POLICY = 'policy'
#: policy.yaml does not let this caller use the preset.
PRESET_NOT_ALLOWED = 'preset_not_allowed'

_PERMISSION = frozenset({
    NEVER, DENIED, NOT_ALLOWED, VALUE_NOT_ALLOWED, INJECTED, PROTECTED,
    POLICY, PRESET_NOT_ALLOWED})

# --- 409: the server's state does not permit it now ------------------------
#: The server's host does not run the compute part of the extension.
HOST_NOT_READY = 'host_not_ready'
#: The scheduler does not let the server's host have the merged properties.
UNSCHEDULABLE = 'unschedulable'
#: The server is not in a state in which its overrides can be changed, or in
#: which an operation would keep them.
WRONG_STATE = 'wrong_state'
#: The change needs resources of a host, which a stopped server is not given.
NEEDS_CLAIM = 'needs_claim'
#: The change takes a guest that is built anew, which a start does not do.
NEEDS_REBUILD = 'needs_rebuild'
#: The scheduler or placement did not answer; nothing has changed.
SCHEDULER_UNAVAILABLE = 'scheduler_unavailable'

#: The name under which a problem with the whole parameter is reported.
PARAMETER = 'image_props_override'
#: The parameter that names a preset, and the name of problems with it.
PRESET = 'image_props_override_preset'
PARAMETERS = (PARAMETER, PRESET)

#: Most bytes of an answer that refuses overrides.
ANSWER_MAX = 64 * 1024
#: Most characters of what a log line says about a refusal. Nova logs a second
#: line (nova/api/openstack/wsgi.py ResourceExceptionHandler).
LOGGED_MAX = 1500

#: Most characters of a name or a value in a message, with its quotes.
PRINTED_MAX = 82

_PLAIN = re.compile(r'[A-Za-z0-9_.:-]{1,255}')


def printable(text: str) -> str:
    """Return TEXT in a form that can be put in a message or a log line.

    Names and values come from the request: anything but plain characters is
    escaped, so that nothing can forge a log line or break its encoding.

    :returns: TEXT itself if plain, else a quoted, escaped, cut form
    """
    if _PLAIN.fullmatch(text):
        return text
    text = text[:PRINTED_MAX]
    quoted = json.dumps(text)
    while len(quoted) > PRINTED_MAX:
        text = text[:-1]
        quoted = json.dumps(f'{text}...')
    return quoted


@dataclasses.dataclass(frozen=True, order=True)
class Problem:
    """One reason why one property is refused."""

    name: str
    code: str
    reason: str

    def __str__(self) -> str:
        return f'{printable(self.name)}: {self.code}: {self.reason}'

    @property
    def is_permission(self) -> bool:
        """True if it depends on who makes the request."""
        return self.code in _PERMISSION

    @property
    def size(self) -> int:
        """Bytes that it takes in an answer, as message and details."""
        return len(json.dumps((str(self), dataclasses.asdict(self))))


_Error = TypeVar('_Error', bound='OverrideError')


class OverrideError(Exception):
    """Overrides are refused; carries every problem found, sorted by name.

    :param unchecked: names of the overrides that could not be checked with
        flavor and image because of them
    :ivar status: the HTTP status that the API answers with
    """

    status = 400
    summary = 'Invalid image property overrides.'

    def __init__(
        self, problems: Iterable[Problem], unchecked: Collection[str] = (),
    ) -> None:
        self.problems = tuple(sorted(problems))
        self.unchecked = unchecked
        text = '; '.join(map(str, self.problems))
        if unchecked:
            text += ('. Not checked with flavor and image yet: '
                     + ', '.join(sorted(unchecked)))
        super().__init__(f'{self.summary} {text}')

    @classmethod
    def of(
        cls: type[_Error], names: Iterable[str], code: str, reason: str,
    ) -> _Error:
        """Return the error for several properties with one reason."""
        return cls(Problem(name, code, reason) for name in names)

    def ascribed_to(self, preset: str, names: Collection[str]) -> OverrideError:
        """Return the error with the problems of NAMES ascribed to a preset."""
        return type(self)((dataclasses.replace(
            each, reason=f'of preset {preset}: {each.reason}')
            if each.name in names else each for each in self.problems),
            self.unchecked)

    def bounded(self) -> OverrideError:
        """Return the error with the problems that an answer has room for."""
        # Beside them: headers of the JSON, the summary, and what was left out.
        room = ANSWER_MAX - 1024 - sum(len(name) + 2 for name in self.unchecked)
        every = self.problems
        for count, size in enumerate(itertools.accumulate(
                each.size for each in every)):
            if size > room:
                return type(self)((*every[:count], Problem(
                    PARAMETER, LEFT_OUT, f'no room for {len(every) - count} of '
                    f'{len(every)} problems in an answer of '
                    f'{ANSWER_MAX // 1024} KiB')), self.unchecked)
        return self

    def details(self) -> dict[str, dict[str, str]]:
        """Return the problems for programs: ``{name: {code, reason}}``."""
        return {p.name: {'code': p.code, 'reason': p.reason}
                for p in self.problems}

    @property
    def logged(self) -> str:
        """Names and codes for a log line: reasons can quote values."""
        return textwrap.shorten(', '.join(
            f'{printable(name)}: {each["code"]}'
            for name, each in sorted(self.details().items())),
            LOGGED_MAX)


class Invalid(OverrideError):
    """The request is wrong whoever makes it."""


class Forbidden(OverrideError):
    """The caller may not override these properties."""

    status = 403
    summary = 'Not permitted to override image properties.'


class Conflict(OverrideError):
    """The state of the server, or of its host, does not permit it now."""

    status = 409
    summary = 'Image property overrides conflict with the state of the server.'


def refusal(
    problems: Iterable[Problem], unchecked: Collection[str] = (),
) -> OverrideError:
    """Return Forbidden if a problem is a matter of permission, else Invalid."""
    found = [*problems]
    kind = Forbidden if any(each.is_permission for each in found) else Invalid
    return kind(found, unchecked)


def nearest(name: str, names: Iterable[str], cutoff: float = 0.75) -> str:
    """Return which of NAMES was meant by NAME, in whatever case, or ''."""
    folded = {each.lower(): each for each in names}
    near = difflib.get_close_matches(name.lower(), folded, 1, cutoff)
    return folded[near[0]] if near else ''


def did_you_mean(
    name: str, names: Iterable[str], cutoff: float = 0.75,
) -> str:
    """Return the end of a message about an unknown NAME."""
    near = nearest(name, names, cutoff)
    return near and f', did you mean {near}?'


class NotFound(Exception):
    """The object of an operator's command does not exist."""


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault of an option of ``[image_override]``.

    :ivar subject: the entry, the file, or the option itself
    :ivar form: how the line names it
    """

    option: str
    subject: str
    why: str
    form: str = '{}: '

    def __str__(self) -> str:
        return (f'[image_override] {self.option}: '
                f'{self.form.format(self.subject)}{self.why}')


class StartupError(Exception):
    """The service must not start; each argument is a line about a fault."""

    def __str__(self) -> str:
        return '\n'.join(map(str, self.args))


def all_made(*makes: Callable[[], Any]) -> list[Any]:
    """Return what each of MAKES returns.

    :raises StartupError: with the lines of all that raise it
    """
    made: list[Any] = []
    wrong: list[Any] = []
    for make in makes:
        try:
            made.append(make())
        except StartupError as exc:
            wrong += exc.args
    if wrong:
        raise StartupError(*wrong)
    return made


class UnsupportedNova(StartupError):
    """The running Nova does not have the shape that we depend on."""
