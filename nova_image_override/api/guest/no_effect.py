"""Overrides without effect, which are refused.

Nova silently ignores some image properties: because another property or
something in the flavor is missing, because the flavor says otherwise, or
because no virt driver of the cloud reads them. Where a host, a network or a
volume decides, :mod:`nova_image_override.properties.book` says so.
"""
from __future__ import annotations

from collections.abc import Collection, Iterator, Set

from nova_image_override import errors
from nova_image_override.api.guest.guest import Guest, REFUSALS
from nova_image_override.override import ImageProperties, Override, Overrides
from nova_image_override.properties.book import vocabulary
from nova_image_override.properties.book.vocabulary import Gets, Record


def in_guest(
    guest: Guest, base: ImageProperties, overrides: Overrides,
) -> Iterator[errors.Problem]:
    """Find the overrides that Nova would ignore with this flavor and image.

    A property that is removed (None) might as well never have been there, and
    the image's own value applies anyway: neither is a problem. Nor is what
    Nova itself refuses (:mod:`nova_image_override.api.guest.refusals`).

    :param guest: with the merged properties
    :param base: the image's own properties
    :param overrides: what was merged over BASE
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
    except REFUSALS:
        # refusals.py says so.
        return None
    return errors.NO_EFFECT, 'would do nothing: ' + (
        record.idle or f'it needs {record.needs}')


def on_hosts(
    virt_drivers: Set[str], base: ImageProperties, merged: ImageProperties,
    overrides: Overrides,
) -> Iterator[errors.Problem]:
    """Find the overrides that every host of the cloud would ignore.

    Removals, and values that the image itself has, are not among them.

    :param virt_drivers: the drivers of the cloud's hosts; with none, nothing
        is found
    :param base: the image's own properties
    :param merged: the same with all overrides
    """
    for each in overrides.members if virt_drivers else ():
        record = each.prop.record
        if each.value is None or record.has_anyway:
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


def by_driver(
    virt_drivers: Collection[str], override: Override,
    properties: ImageProperties,
) -> dict[str, str]:
    """Return what each driver of a mixed cloud makes of a property.

    :param properties: a server's properties, with that of OVERRIDE
    :returns: driver -> outcome; {} where all the drivers act
    """
    record = override.prop.record
    value = properties.get(override.name)
    if value is None or not record.acting:
        return {}
    found = {driver: record.outcome(driver, str(value), properties)[0]
             for driver in sorted(virt_drivers)}
    return {} if {*found.values()} <= {vocabulary.ACTS} else found
