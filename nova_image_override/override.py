"""One request's overrides: parse them, and merge them over the image.

Nothing here knows HTTP or Nova's services. Properties are named as
:mod:`nova_image_override.properties.catalog` names them.
"""
from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sized,
)
import functools
import itertools
import types
from typing import Any, Optional

from nova_image_override import errors
from nova_image_override import override_record as record
from nova_image_override.properties import families
from nova_image_override.properties import request_schema
from nova_image_override.properties.catalog import Catalog

#: Overrides of a request: name -> canonical value, or None to remove the
#: image's property.
Overrides = dict[str, Optional[str]]

#: Returns the problems that some overrides have all the same.
Permission = Callable[[Overrides], Iterable[errors.Problem]]

#: Image properties as Nova holds them; Glance may hold things other than text.
ImageProperties = Mapping[str, Any]

#: Most names that a list of servers is filtered by.
FILTER_MAX = 8

_JSON_TYPES: dict[type, str] = {
    bool: 'a boolean', int: 'a number', float: 'a number', list: 'an array',
    dict: 'an object', type(None): 'null', str: 'a string'}


class Parser:
    """Turns what a request sent into overrides, or into all its problems.

    :param catalog: the properties that can be named
    """

    #: Number of pairs of name and value to remember. A cloud's tenants send
    #: the same few over and over; keys are at most 255 characters each.
    CACHE_SIZE = 4096

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._read_cached = functools.lru_cache(self.CACHE_SIZE)(self._read)

    def parse(
        self, raw: object, permission: Permission = lambda overrides: (),
        preset: Mapping[str, str | None] = types.MappingProxyType({}),
        found: Iterable[errors.Problem] = (),
    ) -> Overrides:
        """Return the overrides that RAW asks for, in canonical spelling.

        :param raw: the value of ``image_props_override`` as Nova's JSON
            parser made it
        :param permission: asked about the overrides that can be read, if
            others cannot
        :param preset: the overrides over which those of RAW are laid
        :param found: what else is wrong with the request
        :returns: name -> canonical value, or None to remove the image's
            property; empty when nothing is overridden
        :raises errors.OverrideError: with every problem that needs no image
        """
        if not isinstance(raw, dict):
            raise errors.Invalid.of(
                [errors.PARAMETER], errors.INVALID_TYPE,
                'must be an object of strings, not ' + _JSON_TYPES[type(raw)])
        overrides: Overrides = {**preset, **raw}
        if len(overrides) > request_schema.PROPERTIES_MAX:
            raise _too_many(overrides, request_schema.PROPERTIES_MAX)
        problems = [*found]
        for name, value in raw.items():
            if (isinstance(value, str)
                    and len(name) <= record.NAME_LENGTH_MAX
                    and len(value) <= record.VALUE_BYTES_MAX):
                result = self._read_cached(name, value)
            else:
                result = self._read(name, value)
            if isinstance(result, errors.Problem):
                problems.append(result)
                del overrides[name]
            else:
                overrides[name] = result
        if problems:
            problems += permission(overrides)
            raise errors.refusal(problems, {
                *overrides} - {problem.name for problem in problems})
        return overrides

    def parse_names(self, names: Collection[str]) -> frozenset[str]:
        """Return the properties that a request names.

        :param names: as the request has them
        :raises errors.Invalid: with every problem found
        """
        if len({*names}) > FILTER_MAX:
            raise _too_many({*names}, FILTER_MAX)
        problems: list[errors.Problem] = []
        for name in names:
            try:
                self._catalog.resolve(name)
            except errors.Invalid as exc:
                problems += exc.problems
        if problems:
            raise errors.Invalid(problems)
        return frozenset(names)

    def _read(self, name: str, value: object) -> str | errors.Problem | None:
        """Return the canonical spelling of VALUE, or what is wrong."""
        try:
            prop = self._catalog.resolve(name)
        except errors.Invalid as exc:
            return exc.problems[0]
        if value is None:
            return None
        if not isinstance(value, str):
            return errors.Problem(
                name, errors.INVALID_TYPE,
                f'must be a string ({prop.expects}), not '
                + _JSON_TYPES[type(value)])
        return prop.read(name, value)


def _too_many(found: Sized, most: int) -> errors.Invalid:
    return errors.Invalid.of(
        [errors.PARAMETER], errors.TOO_MANY,
        f'at most {most} properties, not {len(found)}')


def image_value(catalog: Catalog, base: ImageProperties, name: str) -> Any:
    """Return the image's own value of the property called NAME.

    A property that the image has under a legacy name counts: Nova reads it
    (``ImageMetaProps._set_attr_from_legacy_names``).

    :returns: the value, or None when the image does not have it
    """
    value = base.get(name)
    if value is not None:
        return value
    prop = catalog.resolve(name)
    for legacy in prop.legacy_names:
        if base.get(legacy) is not None:
            return _from_legacy(catalog, legacy, base[legacy]).get(prop.field)
    return None


def _from_legacy(
    catalog: Catalog, legacy: str, value: Any,
) -> dict[str, Any]:
    """Return the fields that Nova reads from one legacy property."""
    if legacy != 'vmware_adaptertype':
        return dict.fromkeys(catalog.legacy[legacy], value)
    # ImageMetaProps._set_attr_from_legacy_names
    if value == 'ide':
        return {'hw_disk_bus': 'ide'}
    if value:
        return {'hw_disk_bus': 'scsi', 'hw_scsi_model': value}
    return {}


def merge(
    catalog: Catalog, base: ImageProperties, overrides: Overrides,
) -> dict[str, Any]:
    """Return BASE with OVERRIDES laid over it.

    Legacy spellings of an overridden field are dropped, so that nothing can
    contradict the override; those that Nova still reads past
    ``ImageMetaProps`` come back with the override's value. What a legacy
    property said about *other* fields stays, under their current names.

    :param base: the image's (or volume's) properties; left unchanged
    :param overrides: parsed overrides
    :raises errors.Invalid: the merged NUMA nodes have a gap
    """
    gone: set[str] = set()
    added: dict[str, Any] = {}
    for name in overrides:
        gone.update((name, *catalog.resolve(name).legacy_names))
        added.update(written(catalog, base, overrides, name))
    # The image's properties keep their place in the order of answers.
    merged = {name: added.get(name, value) for name, value in base.items()
              if name in added or name not in gone}
    merged.update(added)
    problems = [
        problem for family in (families.NUMA_CPUS, families.NUMA_MEM)
        for problem in _gaps(family, merged, overrides)]
    if problems:
        raise errors.Invalid(problems)
    return merged


def written(
    catalog: Catalog, base: ImageProperties, overrides: Overrides, name: str,
) -> dict[str, Any]:
    """Return the properties that the override of NAME writes.

    These are the property itself, its legacy alias, and what the legacy
    spelling that it takes away said about other fields.

    :returns: name -> value; every name that a merge adds or changes is
        among those of some override
    """
    prop = catalog.resolve(name)
    result = {
        field: own
        for legacy in prop.legacy_names if legacy in base
        for field, own in _from_legacy(catalog, legacy, base[legacy]).items()
        if field not in base and field not in overrides}
    value = overrides[name]
    if value is not None:
        result[name] = value
        if prop.record.read_as:
            result[prop.record.read_as] = value
    return result


def _gaps(
    family: families.Family, merged: ImageProperties, overrides: Overrides,
) -> Iterator[errors.Problem]:
    """Find what the overrides make ImageMetaProps leave out.

    ``ImageMetaProps._set_numa_cpus`` and ``_set_numa_mem`` stop at the first
    index that is missing and silently ignore the rest.
    """
    held = {int(family.rest_of(name)) for name in merged if family.has(name)}
    missing = next(n for n in itertools.count() if n not in held)
    unread = sorted(n for n in held if n > missing)
    for index in unread:
        if family.member(index) in overrides:
            yield errors.Problem(
                family.member(index), errors.NUMA_GAP,
                f'{family.member(missing)} is missing: indexes count from 0 '
                'without a gap')
    if unread and family.member(missing) in overrides:
        yield errors.Problem(
            family.member(missing), errors.NUMA_GAP,
            f'removing it leaves {family.member(unread[-1])} unread: '
            'indexes count from 0 without a gap')


def is_image_s_own(
    catalog: Catalog, base: ImageProperties, name: str, value: str,
) -> bool:
    """Return whether the image with the properties BASE has VALUE itself.

    :param value: the canonical spelling
    """
    own = image_value(catalog, base, name)
    return own is not None and \
        catalog.resolve(name).canonical(str(own)) == value
