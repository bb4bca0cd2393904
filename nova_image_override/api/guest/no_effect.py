"""Overrides that the rows of the book exclude.

They have no effect, or no host builds a server with them.

Nova silently ignores some image properties: because another property or
something in the flavor is missing, because the flavor says otherwise, or
because no virt driver of the cloud reads them. Where a host, a network or a
volume decides, :mod:`nova_image_override.properties.book` says so.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set
import dataclasses
import fnmatch
import functools
from typing import Any

from nova_image_override import errors
from nova_image_override.api.guest.guest import boot_metadata, Guest, REFUSALS
from nova_image_override.authorization.discovery_schema import Overridable
from nova_image_override.authorization.lists import glob_pattern
from nova_image_override.override import ImageProperties, Override, Overrides
from nova_image_override.properties import book
from nova_image_override.properties import catalog
from nova_image_override.properties import families
from nova_image_override.properties.book import vocabulary
from nova_image_override.properties.book.vocabulary import Gets, Record


def in_guest(
    guest: Guest, base: ImageProperties, overrides: Overrides,
) -> Iterator[errors.Problem]:
    """Find the overrides that Nova would ignore with this flavor and image.

    A property that is removed (None) might as well never have been there, and
    the image's own value (that of BASE) applies anyway: neither is a problem.
    Nor is what Nova itself refuses
    (:mod:`nova_image_override.api.guest.refusals`).
    """
    ignored: dict[str, tuple[str, str] | None] = {}
    for each in overrides.members:
        record = each.prop.record
        if each.value is None or record.gets is None \
                or each.is_images_own(base):
            continue
        # Once for all members of a family.
        if record.name not in ignored:
            ignored[record.name] = _ignored(
                record, record.gets, guest, each.value)
        if found := ignored[record.name]:
            yield errors.Problem(each.name, *found)


def _ignored(
    record: Record, gets: Gets, guest: Guest, value: str,
) -> tuple[str, str] | None:
    """Return code and reason if Nova ignores what is asked for, else None.

    :param value: the same as requests and flavors spell it
    """
    asked, flavor = guest.prop(record.name), record.flavor
    try:
        if gets(guest) == asked:
            return None
        if flavor and (winners := flavor.of(guest.flavor.extra_specs)) \
                and gets(guest.without_specs(*flavor.specs)) == asked:
            return errors.FLAVOR_CONFLICT, (
                f'the flavor has {", ".join(winners)}, which Nova takes '
                f'instead; {flavor.advice(guest.flavor.extra_specs, value)}')
    except REFUSALS:  # refusals.py says so.
        return None
    return errors.NO_EFFECT, 'would do nothing: ' + (
        record.idle or f'it needs {record.needs}')


def on_hosts(
    virt_drivers: Set[str], base: ImageProperties,
    merged: ImageProperties | None, overrides: Overrides,
) -> Iterator[errors.Problem]:
    """Find the overrides that every host of the cloud would ignore.

    Removals, and values that the image itself has, are not among them.

    :param virt_drivers: with none, nothing is found
    :param merged: the same with all overrides; None for whatever suits
    """
    for each in overrides.members if virt_drivers else ():
        record = each.prop.record
        if each.value is None:
            continue
        found = [record.outcome(driver, each.value, merged)
                 for driver in sorted(virt_drivers)]
        outcomes = {outcome for outcome, _ in found}
        if vocabulary.ACTS in outcomes or each.is_images_own(base):
            continue
        yield errors.Problem(
            each.name, errors.NO_EFFECT,
            ('the server would end in ERROR, or the property would do nothing,'
             if vocabulary.ERROR in outcomes else 'would do nothing')
            + ' on any host of this cloud: '
            + '; '.join(why for _, why in found))


def limit(virt_drivers: Set[str], left: Overridable) -> Iterator[Overridable]:
    """Leave the values that a host acts on if the rest of a server suits.

    The others are those that :func:`on_hosts` finds, whatever the image.
    """
    record = left.prop.record
    # '' stands for the values that no reader names.
    values = left.prop.values or ('', *(
        value for each in record.readers for value in each.values or ()))
    acted = acted_on(virt_drivers, record, values)
    if acted and '' not in acted and len(acted) < len(values):
        others = f'(?!(?:{"|".join(map(glob_pattern, acted))})$)[\\s\\S]*'
        left = dataclasses.replace(left, denied=(*left.denied, others))
    if acted and left.is_open:
        yield left


def acted_on(
    virt_drivers: Set[str], record: Record, values: Iterable[str],
) -> list[str]:
    """Return those of VALUES that a host acts on if the rest suits."""
    return [value for value in values if not virt_drivers or any(
        record.outcome(driver, value)[0] == vocabulary.ACTS
        for driver in virt_drivers)]


def by_driver(
    virt_drivers: Collection[str], override: Override,
    properties: ImageProperties,
) -> dict[str, str]:
    """Return what each driver of a mixed cloud makes of a property.

    :returns: driver -> outcome; {} where all the drivers act
    """
    record = override.prop.record
    value = properties.get(override.name)
    if value is None or not record.acting:
        return {}
    found = {driver: record.outcome(driver, str(value), properties)[0]
             for driver in sorted(virt_drivers)}
    return {} if {*found.values()} <= {vocabulary.ACTS} else found


# --- beside other properties ------------------------------------------------

#: What a row names -> other properties that decide what a guest gets of it.
_DECIDED_BY = {
    'hw_architecture': ('hw_emulation_architecture',),
    # LibvirtDriver._guest_add_usb_root_controller
    'hw_input_bus': (
        'hw_architecture', 'hw_cdrom_bus', 'hw_disk_bus',
        'hw_emulation_architecture', 'hw_usb_model'),
    # LibvirtDriver._configure_guest_by_virt_type
    'os_secure_boot': ('hw_firmware_type',),
}


@functools.cache
def _rows() -> list[tuple[str, vocabulary.Excludes, Collection[str]]]:
    """Return the rows about properties that the running Nova has.

    :returns: of each, its property, and what decides whether it is met
    """
    return [(record.name, row, [other for name in (record.name, row.name)
                                for other in _DECIDED_BY.get(name, ())])
            for record in book.RECORDS.values() for row in record.excludes
            if {record.name, row.name} <= {*catalog.running()}]


def beside_others(
    virt_drivers: Set[str], guest: Guest, base: ImageProperties,
    overrides: Overrides,
) -> Iterator[errors.Problem]:
    """Find the overrides that take part in what no host can build.

    Those that ask for what the image has anyway do not count: a conflict of
    the image by itself is left to Nova. What flavor and properties leave open,
    such as the machine type that a host has by default, excludes nothing; nor
    does libvirt where hosts of another driver may build it.
    """
    names = {each.name for each in overrides.members}
    for field, row, others in _rows():
        if (virt_drivers != {'libvirt'}
                and row.outcome != vocabulary.UNSCHEDULED) \
                or names.isdisjoint({field, row.name, *others}) \
                or not _excludes(row, field, guest):
            continue
        halves = [field, _deciding(row, guest)]
        # What makes another property ignored does what it says itself.
        last = 1 if row.outcome == vocabulary.IGNORED else 2
        blamed = [
            each.name for each in overrides.members
            if each.name in halves[:last] and each.value is not None
            and not each.is_images_own(base)]
        for name in blamed or [
                name for name in others if last == 2 and name in names
                and _makes(overrides[name], row, field, guest, base)]:
            yield _excluded(
                row, guest, name, [each for each in halves if each != name])


def _excludes(row: vocabulary.Excludes, field: str, guest: Guest) -> bool:
    """Return whether ROW of the property FIELD excludes what a guest has."""
    other = _value(row, _deciding(row, guest), guest)
    return (_is_like(other, row.values)
            and is_met(row, _value(row, field, guest), other)
            and not (row.unless and _has(row, guest)))


def _makes(
    override: Override, row: vocabulary.Excludes, field: str, guest: Guest,
    base: ImageProperties,
) -> bool:
    """Return whether ROW would exclude nothing without an override."""
    own = {**guest.properties, override.name: override.image_value(base)}
    # CPU lists take long to read.
    image = boot_metadata({}, {
        name: value for name, value in own.items()
        if value is not None and not families.NUMA_CPUS.has(name)})
    try:
        return not _excludes(row, field, Guest.of(guest.flavor, image))
    except REFUSALS:  # Nova cannot read the image's own value.
        return True


def is_met(
    row: vocabulary.Excludes, value: str | None, other: str | None,
) -> bool:
    """Return whether ROW excludes the values of its property and the other."""
    return (_is_like(value, row.of) and _is_like(other, row.values)
            and not _is_like(other, row.but))


def _is_like(value: str | None, patterns: tuple[str, ...]) -> bool:
    return value is not None and any(
        fnmatch.fnmatchcase(value, each) for each in patterns)


def _excluded(
    row: vocabulary.Excludes, guest: Guest, name: str, beside: list[str],
) -> errors.Problem:
    """Return why the override called NAME is refused."""
    of_flavor = {each for each in beside if guest.prop(each) is None}
    code = (errors.NO_EFFECT if row.outcome == vocabulary.IGNORED
            else errors.FLAVOR_CONFLICT if of_flavor
            else errors.PROPERTY_CONFLICT)
    said = ' and '.join(
        'the flavor\'s ' * (each in of_flavor)
        + f'{each}={_value(row, each, guest)}' for each in beside)
    return errors.Problem(
        name, code, f'beside {said}: {row.says}; {row.advice}')


def _deciding(row: vocabulary.Excludes, guest: Guest) -> str:
    """Return the property that decides what ROW names beside its own."""
    emulated = 'hw_emulation_architecture'
    return emulated if row.name == 'hw_architecture' and (
        row.outcome != vocabulary.UNSCHEDULED
        and guest.image_meta.properties.get(emulated)) else row.name


def _has(row: vocabulary.Excludes, guest: Guest) -> bool:
    """Return whether a guest has the third property, or what stands for it."""
    found = _value(row, row.unless, guest)
    return (guest.prop(row.unless) if found is None else found) not in (
        None, 'none')


def _value(row: vocabulary.Excludes, field: str, guest: Guest) -> str | None:
    """Return what a guest has of a property of ROW, if that is known."""
    gets = book.RECORDS[field].gets
    try:
        found: Any = gets(guest) if gets and (
            row.outcome != vocabulary.UNSCHEDULED
        ) else guest.image_meta.properties.get(field)
    except REFUSALS:  # refusals.py says so.
        return None
    return str(found).lower() if isinstance(found, bool) else (
        None if found is None else str(found))
