"""``denied_properties`` and ``allowed_properties`` of nova.conf.

An entry is ``NAME`` or ``NAME=VALUE|VALUE...``. Both parts are shell-style
globs (``*``, ``?``, ``[abc]``, ``[!abc]``) that must match the whole canonical
name or value. A field's name covers its spellings: ``hw_numa_mem`` covers
``hw_numa_mem.0``, ``traits_required`` covers ``trait:HW_CPU_X86_AVX``.
"""

import collections.abc
import dataclasses
import functools
import re
import typing

from nova_image_override import errors
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module

_GLOB = re.compile(r'[*?\[]')
_NAME = re.compile(r'[A-Za-z*?\[][A-Za-z0-9_.:*?\[\]!^-]*')


def glob_pattern(glob: str) -> str:
    """Return the regular expression of a shell-style glob, not anchored.

    It uses only what Python and ECMA 262 have in common, because discovery
    publishes it in a JSON Schema (``fnmatch.translate`` writes what only
    Python reads).

    What is between two stars is matched where it first occurs, which is
    enough for a glob: a value that almost matches ``*-*-*-*-x`` would
    otherwise be tried in as many ways as it has places for each "-".

    :raises ValueError: a bracket is not closed
    """
    segments = ['']
    i = 0
    while i < len(glob):
        char = glob[i]
        if char == '*':
            segments.append('')
        elif char == '?':
            segments[-1] += r'[\s\S]'
        elif char == '[':
            first = i + 2 if glob[i + 1:i + 2] in ('!', '^') else i + 1
            # A "]" that comes first is a member.
            end = glob.find(']', first + 1)
            if end == -1:
                raise ValueError(f'"[" is not closed in {glob}')
            body = re.sub(r'([\\\]\[^])', r'\\\1', glob[first:end])
            segments[-1] += f'[{"^" if first == i + 2 else ""}{body}]'
            i = end
        else:
            segments[-1] += re.sub(
                r'[.^$*+?()\[\]{}|\\/]', r'\\\g<0>', char)
        i += 1
    begin, *between = segments
    if not between:
        return begin
    *between, rest = between
    return begin + ''.join(
        rf'(?:(?!{segment})[\s\S])*{segment}'
        for segment in between if segment) + rf'[\s\S]*{rest}'


@dataclasses.dataclass(frozen=True)
class Entry:
    """One entry of a list.

    :ivar text: the entry as the deployer wrote it
    :ivar name: its name part
    :ivar values: its value globs; none means every value, and removal
    """

    text: str
    name: str
    values: tuple[str, ...]

    @functools.cached_property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """The value globs, compiled."""
        return tuple(re.compile(glob_pattern(v)) for v in self.values)

    def matches_value(self, value: str | None) -> bool:
        """Return whether the entry covers a canonical VALUE (None: removal)."""
        return not self.values or (value is not None and any(
            pattern.fullmatch(value) for pattern in self.patterns))

    def canonical_for(self, prop: property_module.Property) -> 'Entry':
        """Return the entry with its values as requests of PROP spell them.

        Requests are checked by canonical values: an entry that says ``True``
        or ``amd64`` must cover ``true`` and ``x86_64``. Globs are not values
        and stay as they are.
        """
        return dataclasses.replace(
            self, values=tuple(map(prop.canonical, self.values)))


class Reaching(typing.NamedTuple):
    """An entry that can concern a property.

    :ivar whole_family: whether it covers the whole property (it names the
        field, or every member), or may cover some members of the family only
    """

    entry: Entry
    whole_family: bool


class PropertyList:
    """One list, compiled.

    :param option: the option's name, for messages
    :param entries: its entries
    :param catalog: the running Nova's properties
    :raises errors.StartupError: entries are malformed, or can never match;
        one line for each
    """

    def __init__(
        self, option: str, entries: collections.abc.Iterable[str],
        catalog: catalog_module.Catalog,
    ) -> None:
        self.option = option
        self._catalog = catalog
        problems = []
        parsed = []
        for text in entries:
            try:
                parsed.append(self._parse(text))
            except errors.StartupError as exc:
                problems.append(str(exc))
        self.entries = tuple(parsed)
        self._exact: dict[str, list[int]] = {}
        self._globs: list[tuple[int, re.Pattern[str]]] = []
        for place, entry in enumerate(self.entries):
            if _GLOB.search(entry.name):
                self._globs.append(
                    (place, re.compile(glob_pattern(entry.name))))
            else:
                self._exact.setdefault(entry.name, []).append(place)
        problems += [str(self._fail(entry.text, why))
                     for entry in self.entries
                     if (why := self._never_matches(entry))]
        if problems:
            raise errors.StartupError('\n'.join(problems))

    def _fail(self, text: str, why: str) -> errors.StartupError:
        return errors.StartupError(
            f'[image_override] {self.option}: entry {text!r}: {why}')

    def _parse(self, text: str) -> Entry:
        name, has_values, rest = text.partition('=')
        name = name.strip()
        if not name:
            raise self._fail(text, 'the property name is missing')
        if not _NAME.fullmatch(name):
            # Such as after a forgotten comma, or the rest of a value that
            # holds one: what it was meant to deny would not be denied.
            raise self._fail(text, 'not a property name, nor a glob of one')
        if name in self._catalog.legacy:
            raise self._fail(
                text, 'legacy name, write '
                + ' or '.join(self._catalog.legacy[name]))
        values = tuple(v.strip() for v in rest.split('|')) \
            if has_values else ()
        if has_values and not all(values):
            raise self._fail(text, 'a value is empty')
        try:
            for glob in (name, *values):
                re.compile(glob_pattern(glob))
        except (ValueError, re.error) as exc:
            raise self._fail(text, str(exc)) from None
        return Entry(text, name, values)

    def _never_matches(self, entry: Entry) -> str | None:
        """Return why ENTRY, or a value of one exact name, can never match."""
        dead = self.dead_values(entry)
        if not dead or (
                _GLOB.search(entry.name) and len(dead) < len(entry.values)):
            return None
        return '; '.join(dead.values())

    def dead_values(self, entry: Entry) -> dict[str, str]:
        """Return the values of ENTRY that no property it names can have.

        For properties whose values cannot be listed, only values without a
        glob are checked.

        :returns: value -> why; none where ENTRY names no property at all
        """
        reached = [prop for prop in self._catalog.values()
                   if self._reaches(entry, prop)]
        dead = {}
        for value in entry.values if reached else ():
            reasons = []
            for prop in reached:
                reason = self._impossible(prop, value)
                if reason is None:
                    break
                reasons.append(reason)
            else:
                dead[value] = reasons[0] if len(reasons) == 1 else (
                    f'no property that it matches takes {value}')
        return dead

    def _reaches(self, entry: Entry, prop: property_module.Property) -> bool:
        """Return whether ENTRY may concern PROP, or members of its family."""
        if not _GLOB.search(entry.name):
            return prop.field in (
                entry.name, self._catalog.field_of(entry.name))
        return bool(
            re.fullmatch(glob_pattern(entry.name), prop.field)) or (
                prop.family is not None
                and _may_match(entry.name, prop.family))

    def _impossible(
        self, prop: property_module.Property, value: str,
    ) -> str | None:
        """Return why no value of PROP matches the glob VALUE; None if one may.
        """
        if prop.values:
            pattern = re.compile(glob_pattern(prop.canonical(value)))
            if any(map(pattern.fullmatch, prop.values)):
                return None
            folded = re.compile(glob_pattern(value), re.IGNORECASE)
            meant = ', '.join(filter(folded.fullmatch, prop.values))
            return (f'{prop.spelling} never has the value {value}, '
                    + (f'did you mean {meant}? It takes ' if meant
                       else 'it takes ') + ', '.join(prop.values))
        if _GLOB.search(value):
            return None
        read = prop.read(prop.spelling, value)
        if isinstance(read, errors.Problem):
            return (f'{prop.spelling} never has the value '
                    f'{errors.printable(value)}: {read.reason}')
        return None

    def matching(self, name: str, field: str) -> tuple[Entry, ...]:
        """Return the entries that concern a property, in the list's order.

        :param name: the name that a request uses
        :param field: its canonical field name
        """
        prop = self._catalog[field]
        return tuple(self.entries[place].canonical_for(prop)
                     for place in self._places(name, field))

    def _places(self, name: str, field: str) -> list[int]:
        places = {*self._exact.get(name, ()), *self._exact.get(field, ())}
        places.update(place for place, pattern in self._globs
                      if pattern.fullmatch(name) or pattern.fullmatch(field))
        return sorted(places)

    def reaching(
        self, prop: property_module.Property,
    ) -> list[Reaching]:
        """Return the entries that can concern a property or its members."""
        whole = set(self._places(prop.field, prop.field))
        if prop.family is not None:
            # Every member, such as trait:*.
            whole |= {place for place, entry in enumerate(self.entries)
                      if entry.name == prop.family.member('*')}
        return [
            Reaching(entry.canonical_for(prop), place in whole)
            for place, entry in enumerate(self.entries)
            if place in whole or (
                prop.family is not None
                and _may_match(entry.name, prop.family))]

    def unknown_names(self) -> list[Entry]:
        """Return the entries whose exact name the running Nova does not have.
        """
        return [entry for entry in self.entries
                if not _GLOB.search(entry.name)
                and entry.name not in self._catalog
                and self._catalog.field_of(entry.name) is None]


def _may_match(name: str, family: families.Family) -> bool:
    """Return whether the glob NAME may match members of a family.

    Compares what is before the first glob character with what the family's
    names begin with: true too often rather than too rarely.
    """
    fixed = _GLOB.split(name)[0]
    return fixed.startswith(family.prefix) or (
        fixed != name and family.prefix.startswith(fixed))
