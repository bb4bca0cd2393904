"""``denied_properties`` and ``allowed_properties`` of nova.conf.

An entry is ``NAME`` or ``NAME=VALUE|VALUE...``. Both parts are shell-style
globs (``*``, ``?``, ``[abc]``, ``[!abc]``) that must match the whole canonical
name or value. A field's name covers its spellings: ``hw_numa_mem`` covers
``hw_numa_mem.0``, ``traits_required`` covers ``trait:HW_CPU_X86_AVX``.
"""
from __future__ import annotations

from collections.abc import Iterable
import dataclasses
import functools
import re

from nova_image_override import errors
from nova_image_override.properties.catalog import Catalog
from nova_image_override.properties.property import Property, UNSAFE

_GLOB = re.compile(r'[*?\[]')
#: What of a glob matches more than itself.
_WILD = re.compile(r'[*?]|\[[!^]?.[^]]*\]')
_NAME = re.compile(r'[A-Za-z*?\[][A-Za-z0-9_.:*?\[\]!^-]*')


def is_glob(text: str) -> bool:
    """Return whether TEXT is a glob of more than itself."""
    return _GLOB.search(text) is not None


def glob_pattern(glob: str) -> str:
    """Return the regular expression of a shell-style glob, not anchored.

    It uses only what Python and ECMA 262 have in common, because discovery
    publishes it in a JSON Schema (``fnmatch.translate`` writes what only
    Python reads).

    The text between two stars is matched where it first occurs, which is
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
            segments[-1] += re.sub(r'[.^$*+?()\[\]{}|\\/]', r'\\\g<0>', char)
        i += 1
    begin, *between = segments
    if not between:
        return begin
    *between, rest = between
    return begin + ''.join(
        rf'(?:(?!{segment})[\s\S])*{segment}'
        for segment in between if segment) + rf'[\s\S]*{rest}'


def _compiled(globs: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(glob_pattern(glob)) for glob in globs)


@dataclasses.dataclass(frozen=True)
class Entry:
    """One entry of a list.

    Patterns are compiled globs, which have to match all of a text.

    :ivar text: the entry as the deployer wrote it
    :ivar name: its name part
    :ivar values: its value globs; none means every value, and removal
    """

    text: str
    name: str
    values: tuple[str, ...]
    name_pattern: re.Pattern[str]
    value_patterns: tuple[re.Pattern[str], ...]

    @property
    def is_glob(self) -> bool:
        """True if the name has a glob character."""
        return is_glob(self.name)

    def covers(self, name: str, prop: Property) -> bool:
        """Return whether the entry covers PROP when it is called NAME."""
        return bool(self.name_pattern.fullmatch(name)
                    or self.name_pattern.fullmatch(prop.field))

    def covers_all(self, prop: Property) -> bool:
        """Return whether the entry covers PROP, and all of a family."""
        return bool(self.name_pattern.fullmatch(prop.field)) or (
            prop.family is not None
            and self.name == prop.family.member('*'))

    def reaches(self, prop: Property) -> bool:
        """Return whether the entry may cover PROP, or members of a family.

        Globs are compared with a family up to their first glob character: true
        too often rather than too rarely.
        """
        family = prop.family
        if family is None or self.covers_all(prop):
            return self.covers_all(prop)
        if not self.is_glob:
            return bool(family.has(self.name))
        fixed = _GLOB.split(self.name)[0]
        # However little follows the prefix of a member, that is a member, too.
        return family.prefix.startswith(fixed) or bool(family.has(fixed))

    def concerns(self, prop: Property) -> bool:
        """Return whether it reaches PROP, which can have one of the values."""
        return self.reaches(prop) and not (self.values and all(
            _impossible(prop, value) for value in self.values))

    def covers_value(self, value: str | None) -> bool:
        """Return whether one of the values covers a canonical VALUE.

        None means removal, which no value covers.
        """
        return value is not None and any(
            pattern.fullmatch(value) for pattern in self.value_patterns)

    def canonical_for(self, prop: Property) -> Entry:
        """Return the entry with its values as requests of PROP spell them.

        Requests are checked by canonical values: an entry that says ``True``
        or ``amd64`` must cover ``true`` and ``x86_64``. Globs are not values
        and stay as they are.
        """
        values = tuple(map(prop.canonical, self.values))
        return self if values == self.values else dataclasses.replace(
            self, values=values, value_patterns=_compiled(values))


class PropertyList:
    """One list, compiled.

    :raises errors.StartupError: entries are malformed, or can never match;
        one line for each
    """

    #: Names whose covering entries are remembered: traits have no end.
    CACHE_SIZE = 2048

    def __init__(
        self, option: str, entries: Iterable[str], catalog: Catalog,
    ) -> None:
        self.option = option
        self._catalog = catalog
        self.entries: list[Entry] = []
        self._texts = list(entries)
        faults = []
        for text in self._texts:
            try:
                entry = self._parse(text)
                dead = self.dead_values(entry)
                # A glob may well have values that only some of its names take.
                if dead and not (
                        entry.is_glob and len(dead) < len(entry.values)):
                    raise ValueError('; '.join(dead.values()))
            except (ValueError, re.error) as exc:
                meant = self.meant_by(text)
                faults.append(errors.Fault(option, text, f'{exc}' + (
                    meant and f', did you mean {meant}?'), 'entry {!r}: '))
            else:
                self.entries.append(entry)
        if faults:
            raise errors.StartupError(*faults)
        #: field -> the entries that may cover the property, or members of a
        #: family, in the list's order, with canonical values.
        self.reaching = {field: [
            entry.canonical_for(prop) for entry in self.entries
            if entry.concerns(prop)] for field, prop in catalog.items()}
        # The names of a family have no end: one search tells those that no
        # entry covers.
        self._covered = {field: re.compile('|'.join(
            f'(?:{entry.name_pattern.pattern})' for entry in entries)).fullmatch
            for field, entries in self.reaching.items()
            if catalog[field].family}
        #: Those that cover the property called NAME.
        self.covering = functools.lru_cache(self.CACHE_SIZE)(self._covering)

    def _covering(self, name: str) -> tuple[Entry, ...]:
        prop = self._catalog.resolve(name)
        covered = self._covered.get(prop.field)
        if covered and not (covered(name) or covered(prop.field)):
            return ()
        return tuple(entry for entry in self.reaching[prop.field]
                     if entry.covers(name, prop))

    def unknown_names(self) -> dict[Entry, str]:
        """Return the entries whose exact name the running Nova lacks.

        :returns: entry -> what was meant, or ''
        """
        names = [field for field, prop in self._catalog.items()
                 if not prop.record.never]
        return {entry: self.meant_by(entry.text)
                or errors.nearest(entry.name, names)
                for entry in self.entries
                if not entry.is_glob
                and entry.name not in self._catalog
                and self._catalog.field_of(entry.name) is None}

    def meant_by(self, text: str) -> str:
        """Return the entry that was meant if TEXT is a value after a comma.

        :returns: ``hw_disk_bus=virtio|scsi``; '' if TEXT is none
        """
        end = self._texts.index(text) + 1
        begin = max((at for at, each in enumerate(self._texts[:end])
                     if '=' in each), default=end)
        try:
            entry = self._parse('|'.join(self._texts[begin:end]))
        except (ValueError, re.error):
            return ''
        # Nearly everything is a value of a property that takes text.
        takers = [prop for prop in self._catalog.values()
                  if entry.reaches(prop) and (
                      prop.values or prop.record.limits.maximum
                      or prop.record.limits.size)]
        return entry.text if entry.values[1:] and all(
            any(not _impossible(prop, value) for prop in takers)
            for value in entry.values) else ''

    def _parse(self, text: str) -> Entry:
        name, has_values, rest = text.partition('=')
        name = name.strip()
        if not name:
            raise ValueError('the property name is missing')
        if not _NAME.fullmatch(name):
            # Such as after a forgotten comma, or the rest of a value that
            # holds one: the value that it means would not be denied.
            raise ValueError('not a property name, nor a glob of one')
        if name in self._catalog.legacy:
            raise ValueError('legacy name, write '
                             + ' or '.join(self._catalog.legacy[name]))
        values = tuple(v.strip() for v in rest.split('|')) \
            if has_values else ()
        if not all(values):
            raise ValueError('a value is empty')
        name_pattern, *value_patterns = _compiled((name, *values))
        return Entry(text, name, values, name_pattern, tuple(value_patterns))

    def dead_values(self, entry: Entry) -> dict[str, str]:
        """Return the values of ENTRY that no property it names can have.

        :returns: value -> why; none where ENTRY names no property at all
        """
        dead: dict[str, str] = {}
        reached = [prop for prop in self._catalog.values()
                   if entry.reaches(prop)]
        for value in entry.values if reached else ():
            first, *others = (_impossible(prop, value) for prop in reached)
            if first and all(others):
                dead[value] = first if not others else (
                    f'no property that it matches takes {value}')
        return dead


def _impossible(prop: Property, value: str) -> str:
    """Return why no value of PROP matches the glob VALUE; '' if one may.

    Where the values of PROP cannot be listed, a glob may match one.
    """
    if prop.values:
        pattern = glob_pattern(prop.canonical(value))
        if any(re.fullmatch(pattern, each) for each in prop.values):
            return ''
        folded = re.compile(glob_pattern(value), re.IGNORECASE)
        meant = ', '.join(filter(folded.fullmatch, prop.values))
        return (f'{prop.spelling} never has the value {value}, '
                + (f'did you mean {meant}? It takes ' if meant
                   else 'it takes ') + ', '.join(prop.values))
    # Of text, too, no control characters: such as after a forgotten comma.
    if is_glob(value) and not re.search(UNSAFE, value):
        others = set(_WILD.sub('', value)).difference(prop.characters or value)
        return '' if not others else (
            f'{prop.spelling} never has a value like {value}: it is compared '
            f'as it is stored, without {" ".join(sorted(others))}')
    read = prop.read(prop.spelling, value)
    return '' if isinstance(read, str) else (
        f'{prop.spelling} never has the value {errors.printable(value)}: '
        + read.reason)
