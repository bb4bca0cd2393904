"""The rules that the deployer writes, and the form that all rules have.

Each rule decides about the override of one property, and limits in advance
what discovery offers of it. Those of Glance's are in
:mod:`nova_image_override.authorization.glance`.
"""
from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import textwrap

from nova_image_override import errors
from nova_image_override import policies
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.discovery_schema import Overridable
from nova_image_override.authorization.lists import Entry, PropertyList
from nova_image_override.override import ImageProperties, Override, Overrides

#: Most characters of the values in a reason.
_VALUES_MAX = 120

#: Ends a reason that cannot list the permitted values.
_SEE = '; GET /v2.1/image-props-override shows what is permitted'

#: The parts of a property that a rule leaves.
Left = Iterator[Overridable]


@dataclasses.dataclass(frozen=True)
class Request:
    """The overrides that a caller requests.

    :ivar images: the properties of the image, or volume, itself; more than
        one where it may be either: the override then needs the permissions
        for each
    """

    caller: Caller
    overrides: Overrides
    images: Sequence[ImageProperties] = ()


@dataclasses.dataclass(frozen=True)
class Decision:
    """One rule's decision about one property.

    :ivar rule: the rule, with its subject if it decides more than once
    :ivar code: why not, for programs: one of the codes of
        :mod:`nova_image_override.errors`; '' if the rule permits the override
    :ivar reason: why not, for the caller
    :ivar detail: what led to the decision, for the operator
    """

    name: str
    rule: str
    code: str = ''
    reason: str = ''
    detail: str = ''

    @property
    def permits(self) -> bool:
        """True if the rule permits the override."""
        return not self.code


class Rule(abc.ABC):
    """A rule about who may override which property."""

    @property
    def is_configured(self) -> bool:
        """True if it can refuse anything in this deployment."""
        return True

    def decide(self, request: Request) -> list[Decision]:
        """Return the decisions about all overrides."""
        return [decision for each in request.overrides.members
                for decision in self.about(each, request)]

    @abc.abstractmethod
    def about(self, override: Override, request: Request) -> Iterator[Decision]:
        """Yield the decisions about OVERRIDE, all of which must permit it."""

    @abc.abstractmethod
    def limit(self, left: Overridable, caller: Caller) -> Left:
        """Narrow LEFT for CALLER.

        Yields nothing to forbid it, several parts if members of a family
        differ in what may be done to them.
        """


class Never(Rule):
    """Refuses what no deployment can permit."""

    def about(self, override: Override, request: Request) -> Iterator[Decision]:
        """Decide by the property itself."""
        yield Decision(
            override.name, 'never', errors.NEVER,
            'describes the image itself and can never be overridden'
        ) if override.prop.record.never else Decision(override.name, 'never')

    def limit(self, left: Overridable, caller: Caller) -> Left:
        """Leave what does not describe the image itself."""
        if not left.prop.record.never:
            yield left


@dataclasses.dataclass(frozen=True)
class Denied(Rule):
    """Refuses what ``denied_properties`` names.

    Entries with values do not deny removal.
    """

    OPTION = 'denied_properties'

    entries: PropertyList

    def about(self, override: Override, request: Request) -> Iterator[Decision]:
        """Decide by the first entry that covers the value."""
        name, value = override.name, override.value
        entry = _deciding(self.entries, override)
        if entry is None:
            yield Decision(name, self.OPTION, detail='no entry')
            return
        with_value = f' with the value {errors.printable(value)}' \
            if entry.values and value is not None else ''
        yield Decision(
            name, self.OPTION, errors.DENIED,
            f'denied by this cloud{with_value}{_SEE}', f'entry {entry.text}')

    def limit(self, left: Overridable, caller: Caller) -> Left:
        """Leave the members and the values that no entry denies."""
        reaching = self.entries.reaching[left.prop.field]
        if not any(entry.covers_all(left.prop) and not entry.values
                   for entry in reaching):
            yield dataclasses.replace(
                left,
                closed=(*left.closed, *(
                    entry.name_pattern.pattern for entry in reaching
                    if not entry.values)),
                denied=_value_patterns(reaching))


@dataclasses.dataclass(frozen=True)
class Allowed(Rule):
    """Refuses what neither ``allowed_properties`` nor the preset names.

    Entries with values do not allow removal.
    """

    OPTION = 'allowed_properties'

    entries: PropertyList
    denied: PropertyList

    def about(self, override: Override, request: Request) -> Iterator[Decision]:
        """Decide by the preset, or the first entry that covers the value."""
        name = override.name
        if override.preset:
            yield Decision(
                name, self.OPTION, detail=f'preset {override.preset}')
            return
        entry = _deciding(self.entries, override)
        covering = self.entries.covering(name)
        if entry:
            yield Decision(name, self.OPTION, detail=f'entry {entry.text}')
        elif not covering:
            yield Decision(
                name, self.OPTION, errors.NOT_ALLOWED, 'not one of the '
                f'properties that this cloud allows overriding{_SEE}',
                'no entry')
        else:
            denied = self.denied.covering(name)
            values = ', '.join(dict.fromkeys(
                each for entry in covering for each in entry.values
                if not any(other.covers_value(each) for other in denied))
            ) or 'values that it denies'
            if len(values) > _VALUES_MAX:
                values = textwrap.shorten(
                    values, _VALUES_MAX, placeholder=' ...') + _SEE
            allows = (
                'this cloud does not allow removing it, only setting it to'
                if override.value is None else 'this cloud allows only')
            entries = ', '.join(entry.text for entry in covering)
            yield Decision(
                name, self.OPTION, errors.VALUE_NOT_ALLOWED,
                f'{allows} {values}', f'only the values of {entries}')

    def limit(self, left: Overridable, caller: Caller) -> Left:
        """Leave the members and the values that entries allow."""
        reaching = self.entries.reaching[left.prop.field]
        if not reaching:
            return
        every_member = any(entry.covers_all(left.prop) for entry in reaching)
        every_value = any(not entry.values for entry in reaching)
        yield dataclasses.replace(
            left,
            members=() if every_member else tuple(
                entry.name_pattern.pattern for entry in reaching),
            allowed=() if every_value else _value_patterns(reaching),
            removable=left.removable and every_value)


def _deciding(entries: PropertyList, override: Override) -> Entry | None:
    """Return the first entry that covers the value of OVERRIDE."""
    return next((each for each in entries.covering(override.name)
                 if not each.values or each.covers_value(override.value)), None)


def _value_patterns(entries: Iterable[Entry]) -> tuple[str, ...]:
    return tuple(
        pattern.pattern for entry in entries
        for pattern in entry.value_patterns)


class Policy(Rule):
    """Refuses what Nova's policy.yaml closes to the caller."""

    def about(self, override: Override, request: Request) -> Iterator[Decision]:
        """Decide by the rule for all properties, then by that of this one."""
        yield _by_policy(
            policies.PROPERTY_RULE.format(override.prop.field), request.caller,
            override.name)

    def limit(self, left: Overridable, caller: Caller) -> Left:
        """Leave the properties whose rules the caller passes."""
        if _by_policy(policies.PROPERTY_RULE.format(left.prop.field), caller,
                      left.prop.field).permits:
            yield left


def of_preset(name: str, caller: Caller) -> Decision:
    """Decide whether CALLER may use the preset called NAME."""
    return _by_policy(
        policies.PRESET_RULE.format(name), caller, errors.PRESET,
        f'preset {name}', errors.PRESET_NOT_ALLOWED)


def _by_policy(
    rule: str, caller: Caller, name: str, called: str = 'policy',
    code: str = errors.POLICY,
) -> Decision:
    """Decide about the property called NAME by a policy rule.

    CREATE must permit, too, and decides where policy.yaml defines no RULE.
    """
    if rule not in caller.policy_defined or not caller.can(policies.CREATE):
        rule = policies.CREATE
    if caller.can(rule):
        return Decision(name, called, detail=rule)
    return Decision(
        name, called, code, f'policy {rule} does not permit it', rule)
