"""What the rules say about one property, whoever asks."""

import collections.abc
import dataclasses

from nova_image_override import errors
from nova_image_override.authorization import decisions
from nova_image_override.authorization import property_lists

_ANY = decisions.AnyValue.ANY


@dataclasses.dataclass(frozen=True)
class PropertyRules:
    """What the rules say about one property name, whoever asks.

    :ivar name: as requests name the property
    :ivar field: canonical field name
    :ivar names: the property's name and the legacy names under which Nova
        reads the same; Glance takes them for different properties
    :ivar never: whether no deployment can permit it
    :ivar denied: entries of ``denied_properties`` that name it
    :ivar allowed: entries of ``allowed_properties`` that name it
    """

    name: str
    field: str
    names: tuple[str, ...]
    never: bool
    denied: tuple[property_lists.Entry, ...]
    allowed: tuple[property_lists.Entry, ...]

    def never_decision(self) -> decisions.Decision:
        """Decide by what the property is."""
        if not self.never:
            return _OVERRIDABLE
        return decisions.Decision(
            decisions.NEVER, False, _IN_CODE, errors.NEVER,
            'describes the image itself and can never be overridden')

    def denied_decision(self, value: decisions.Value) -> decisions.Decision:
        """Decide by ``denied_properties``.

        Entries with values do not deny removal.
        """
        rule = decisions.DENIED
        entry = _first(self.denied, value)
        if entry is not None:
            return decisions.Decision(
                rule, False, decisions.Source(rule, entry.text),
                errors.DENIED, 'denied by this cloud'
                + (f' with the value {errors.printable(value)}'
                   if entry.values and isinstance(value, str) else ''),
                f'entry {entry.text}')
        if value is _ANY and self.denied:
            return decisions.Decision(
                rule, True, decisions.Source(rule, self.denied[0].text),
                detail=f'values other than those of {_texts(self.denied)}')
        return _NOT_DENIED

    def allowed_decision(self, value: decisions.Value) -> decisions.Decision:
        """Decide by ``allowed_properties``.

        Entries with values do not allow removal.
        """
        rule = decisions.ALLOWED
        entry = _first(self.allowed, value)
        if entry is not None:
            return decisions.Decision(
                rule, True, decisions.Source(rule, entry.text),
                detail=f'entry {entry.text}')
        if not self.allowed:
            return _NOT_ALLOWED
        source = decisions.Source(rule, self.allowed[0].text)
        detail = f'only the values of {_texts(self.allowed)}'
        if value is _ANY:
            return decisions.Decision(rule, True, source, detail=detail)
        values = ', '.join(dict.fromkeys(
            each for entry in self.allowed for each in entry.values))
        return decisions.Decision(
            rule, False, source, errors.VALUE_NOT_ALLOWED,
            'this cloud does not allow removing it, only setting it to '
            f'{values}' if value is None else
            f'this cloud allows only {values}', detail)


def _first(
    entries: collections.abc.Iterable[property_lists.Entry],
    value: decisions.Value,
) -> property_lists.Entry | None:
    """Return the first entry that covers VALUE."""
    known = None if isinstance(value, decisions.AnyValue) else value
    for entry in entries:
        if entry.matches_value(known):
            return entry
    return None


def _texts(entries: collections.abc.Iterable[property_lists.Entry]) -> str:
    return ', '.join(entry.text for entry in entries)


_IN_CODE = decisions.Source(decisions.NEVER)
_OVERRIDABLE = decisions.Decision(decisions.NEVER, True, _IN_CODE)
_NOT_DENIED = decisions.Decision(
    decisions.DENIED, True, decisions.Source(decisions.DENIED),
    detail='no entry')
_NOT_ALLOWED = decisions.Decision(
    decisions.ALLOWED, False, decisions.Source(decisions.ALLOWED),
    errors.NOT_ALLOWED,
    'not one of the properties that this cloud allows overriding', 'no entry')
