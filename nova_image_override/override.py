"""Overrides: parsed once, and merged over an image's properties.

Nothing here knows HTTP or Nova's services. BASE is always the image's (or
volume's) own properties.
"""
from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Set,
)
import dataclasses
import functools
import itertools
from typing import Any, NamedTuple, Optional

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.properties import families
from nova_image_override.properties import request_schema
from nova_image_override.properties.catalog import Catalog
from nova_image_override.properties.property import Property

#: Image properties as Nova holds them; Glance may hold things other than text.
ImageProperties = Mapping[str, Any]

#: Overrides by name, as requests and answers have them: the canonical value,
#: or None where the image's property is removed.
Values = dict[str, Optional[str]]

#: Most names that a list of servers is filtered by.
FILTER_MAX = 8

_JSON_TYPES: dict[type, str] = {
    bool: 'a boolean', int: 'a number', float: 'a number', list: 'an array',
    dict: 'an object', type(None): 'null', str: 'a string'}


class UsedPreset(NamedTuple):
    """A preset that overrides came with, as it was then."""

    name: str
    digest: str


@dataclasses.dataclass(frozen=True)
class Override:
    """One override of one property.

    :ivar name: what the request calls it: the field, or a member of a family
    :ivar value: the canonical value, or None to remove the image's property
    :ivar preset: the preset that has the same value for it, or ''
    :ivar withdraws: whether it removes what the request's preset would set:
        where the image lacks the property, nothing of it is left
    """

    prop: Property
    name: str
    value: str | None
    preset: str = ''
    withdraws: bool = False

    def image_value(self, base: ImageProperties) -> Any:
        """Return the image's own value, or None when it has none.

        A value under a legacy name counts: Nova reads it.
        """
        value = base.get(self.name)
        if value is not None:
            return value
        for legacy in self.prop.legacy:
            if base.get(legacy) is not None:
                return self.from_legacy(
                    legacy, base[legacy]).get(self.prop.field)
        return None

    def from_legacy(self, name: str, value: Any) -> dict[str, Any]:
        """Return the fields that Nova reads from one legacy name.

        As ``ImageMetaProps._set_attr_from_legacy_names`` does.
        """
        if name != 'vmware_adaptertype':
            return dict.fromkeys(self.prop.legacy[name], value)
        if value == 'ide':
            return {'hw_disk_bus': 'ide'}
        if value:
            return {'hw_disk_bus': 'scsi', 'hw_scsi_model': value}
        return {}

    def is_images_own(self, base: ImageProperties) -> bool:
        """Return whether the image with the properties BASE has the value."""
        own = self.image_value(base)
        return own is not None and self.prop.canonical(str(own)) == self.value

    def beside(self, given: Override | None) -> Override:
        """Return the override of a request that names a preset.

        :param given: what the preset has for the same property, if anything
        """
        if given is None:
            return self
        if given.value == self.value:
            return dataclasses.replace(self, preset=given.preset)
        return dataclasses.replace(self, withdraws=self.value is None)


@dataclasses.dataclass(frozen=True)
class Overrides:
    """All overrides of one request, of one server or of one preset.

    :ivar preset: the preset that they came with, if any
    :ivar is_kept: whether a server has them, rather than a request asks for
        them
    """

    members: tuple[Override, ...] = ()
    preset: UsedPreset | None = None
    is_kept: bool = False

    def __iter__(self) -> Iterator[Override]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @functools.cached_property
    def _by_name(self) -> dict[str, Override]:
        return {each.name: each for each in self.members}

    @functools.cached_property
    def values(self) -> Values:
        """The overrides by name, as answers show them."""
        return {each.name: each.value for each in self.members}

    @property
    def names(self) -> Set[str]:
        """The names of the properties."""
        return self._by_name.keys()

    def __getitem__(self, name: str) -> Override:
        return self._by_name[name]

    def get(self, name: str) -> Override | None:
        """Return the override of the property called NAME, if any."""
        return self._by_name.get(name)

    def only(self, names: Collection[str]) -> Overrides:
        """Return those of the properties called NAMES."""
        return dataclasses.replace(self, members=tuple(
            each for each in self.members if each.name in names))

    def over(self, base: ImageProperties) -> Overrides:
        """Return those that are left over an image.

        To remove what only the preset would set is to take it out of the
        preset.
        """
        return dataclasses.replace(self, members=tuple(
            each for each in self.members
            if not each.withdraws or each.image_value(base) is not None))

    def as_given_by(self, preset: Overrides) -> Overrides:
        """Return the same, with those marked that PRESET has, too."""
        return dataclasses.replace(self, members=tuple(
            each.beside(preset.get(each.name)) for each in self.members))

    def ascribing(self, error: errors.OverrideError) -> errors.OverrideError:
        """Return ERROR with the problems of what the preset has ascribed to it.
        """
        return error.ascribed_to(self.preset.name, {
            each.name for each in self.members if each.preset
        }) if self.preset else error

    # --- over an image ------------------------------------------------------

    def merge(self, base: ImageProperties) -> dict[str, Any]:
        """Return BASE with the overrides laid over it.

        Legacy spellings of an overridden field are dropped, so that nothing
        can contradict the override; those that Nova still reads past
        ``ImageMetaProps`` come back with the override's value. What a legacy
        property said about *other* fields stays, under their current names.

        :raises errors.Invalid: the merged NUMA nodes have a gap
        """
        gone: set[str] = set()
        added: dict[str, Any] = {}
        for each in self.members:
            gone.update((each.name, *each.prop.legacy))
            added.update(self.written(base, each))
        # The image's properties keep their place in the order of answers.
        merged = {name: added.get(name, value) for name, value in base.items()
                  if name in added or name not in gone}
        merged.update(added)
        problems = [*self._gaps(families.NUMA_CPUS, merged),
                    *self._gaps(families.NUMA_MEM, merged)]
        if problems:
            raise errors.Invalid(problems)
        return merged

    def written(
        self, base: ImageProperties, member: Override,
    ) -> dict[str, Any]:
        """Return the properties that one of the overrides writes.

        These are the property itself, its legacy alias, and what the legacy
        spelling that it takes away said about other fields: together, all that
        a merge adds or changes.
        """
        result = {
            field: own
            for legacy in member.prop.legacy if legacy in base
            for field, own in member.from_legacy(
                legacy, base[legacy]).items()
            if field not in base and field not in self}
        if member.value is not None:
            result[member.name] = member.value
            if member.prop.record.read_as:
                result[member.prop.record.read_as] = member.value
        return result

    def new_over(self, base: ImageProperties, before: Overrides) -> Overrides:
        """Return what is new over an image that stays the same.

        An override is new when what it writes is: dropping one of BEFORE can
        change what another one writes. Going back to the image's own value is
        not.
        """
        return self.only([
            each.name for each in self.members
            if (had := before.get(each.name)) is None
            or before.written(base, had) != self.written(base, each)])

    def judged_as_new(
        self, base: ImageProperties, before: Overrides,
    ) -> Overrides:
        """Return what the rules have to permit over the same image.

        That is what is new, and, where a preset comes or goes, all that it
        does not set: no preset opens what is set by hand.
        """
        new = self.new_over(base, before)
        if self.is_kept or not (self.preset or before.preset):
            return new
        return self.only(new.names | {
            each.name for each in self.members if not each.preset})

    def differing(self, before: Overrides) -> list[str]:
        """Return the names of those that are added, removed or changed."""
        return sorted({
            name for name, _ in self.values.items() ^ before.values.items()})

    def recorded(self, base: ImageProperties) -> dict[str, str]:
        """Return the image properties that record the overrides."""
        result = {
            (metadata_keys.REMOVED_PREFIX if each.value is None
             else metadata_keys.SET_PREFIX) + each.name:
            _row(each.image_value(base)) for each in self.members}
        if self.preset and result:
            result[metadata_keys.PRESET_PREFIX
                   + self.preset.name] = self.preset.digest
        return result

    def _gaps(
        self, family: families.Family, merged: ImageProperties,
    ) -> Iterator[errors.Problem]:
        """Find what the overrides make ImageMetaProps leave out.

        ``ImageMetaProps._set_numa_cpus`` and ``_set_numa_mem`` stop at the
        first index that is missing and silently ignore the rest.
        """
        held = {int(family.rest_of(name)) for name in merged
                if family.has(name)}
        missing = next(n for n in itertools.count() if n not in held)
        unread = sorted(n for n in held if n > missing)
        for index in unread:
            if family.member(index) in self:
                yield errors.Problem(
                    family.member(index), errors.NUMA_GAP,
                    f'{family.member(missing)} is missing: indexes count from '
                    '0 without a gap')
        if unread and family.member(missing) in self:
            yield errors.Problem(
                family.member(missing), errors.NUMA_GAP,
                f'removing it leaves {family.member(unread[-1])} unread: '
                'indexes count from 0 without a gap')


NONE = Overrides()

#: Returns the problems that some overrides have all the same.
Permission = Callable[[Overrides], Iterable[errors.Problem]]


def _row(own: object) -> str:
    """Return the row for an image's value."""
    if own is None:
        return ''
    text = str(own)
    if not text or text.startswith('='):
        text = f'={text}'
    # As Nova cuts it (nova/utils.py safe_truncate).
    return text.encode()[:metadata_keys.VALUE_BYTES_MAX].decode(
        errors='ignore')


class Parser:
    """Turns what a request sent into overrides, or into all its problems."""

    #: Number of pairs of name and value to remember. A cloud's tenants send
    #: the same few over and over; keys are at most 255 characters each.
    CACHE_SIZE = 4096

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._read_cached = functools.lru_cache(self.CACHE_SIZE)(self._read)

    def parse(
        self, raw: object, permission: Permission = lambda overrides: (),
        preset: Overrides = NONE, found: Iterable[errors.Problem] = (),
    ) -> Overrides:
        """Return the overrides that RAW asks for, in canonical spelling.

        :param raw: the value of ``image_props_override`` as Nova's JSON
            parser made it
        :param permission: asked about the overrides that can be read, if
            others cannot
        :param preset: the overrides over which those of RAW are laid
        :param found: what else is wrong with the request
        :raises errors.OverrideError: with every problem that needs no image
        """
        problems = [*found]
        if not isinstance(raw, dict):
            raise errors.Invalid([*problems, errors.Problem(
                errors.PARAMETER, errors.INVALID_TYPE, 'must be an object of '
                'strings, not ' + _JSON_TYPES[type(raw)])])
        _require_at_most(
            request_schema.PROPERTIES_MAX, {*preset.names, *raw}, problems)
        members = {each.name: each for each in preset}
        for name, value in raw.items():
            read = (self._read_cached if isinstance(value, str)
                    and len(name) <= metadata_keys.NAME_LENGTH_MAX
                    and len(value) <= metadata_keys.VALUE_BYTES_MAX
                    else self._read)(name, value)
            if isinstance(read, Override):
                members[name] = read.beside(members.get(name))
            else:
                problems.append(read)
                members.pop(name, None)
        made = Overrides(tuple(members.values()), preset.preset)
        if problems:
            # Whether the image has what is withdrawn is not known yet.
            problems += permission(made.over({}))
            raise made.ascribing(errors.refusal(problems, made.names - {
                problem.name for problem in problems}))
        return made

    def parse_names(self, names: Collection[str]) -> frozenset[str]:
        """Return the properties that a filter of servers names.

        :raises errors.Invalid: with every problem found
        """
        _require_at_most(FILTER_MAX, {*names})
        problems = [read for name in names if isinstance(
            read := self._read(name, None), errors.Problem)]
        if problems:
            raise errors.Invalid(problems)
        return frozenset(names)

    def _read(self, name: str, value: object) -> Override | errors.Problem:
        """Return the override of one property, or what is wrong with it."""
        try:
            prop = self._catalog.resolve(name)
        except errors.Invalid as exc:
            return exc.problems[0]
        if value is None:
            return Override(prop, name, None)
        if not isinstance(value, str):
            return errors.Problem(
                name, errors.INVALID_TYPE,
                f'must be a string ({prop.expects}), not '
                + _JSON_TYPES[type(value)])
        read = prop.read(name, value)
        return read if isinstance(read, errors.Problem) else Override(
            prop, name, read)


def _require_at_most(
    most: int, names: Collection[str], found: Iterable[errors.Problem] = (),
) -> None:
    if len(names) > most:
        raise errors.Invalid([*found, errors.Problem(
            errors.PARAMETER, errors.TOO_MANY,
            f'at most {most} properties, not {len(names)}')])
