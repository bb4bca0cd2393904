"""Refuse what no host of the cloud acts on; report what only some act on.

:mod:`nova_image_override.properties.drivers` knows what each virt driver makes
of a property, and the option ``virt_drivers`` which drivers there are.
"""

import collections.abc

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import driver_matrix
from nova_image_override.properties import drivers as drivers_module


def problems(
    catalog: catalog_module.Catalog, virt_drivers: collections.abc.Set[str],
    base: override.ImageProperties, merged: override.ImageProperties,
    overrides: override.Overrides, judged: collections.abc.Container[str],
) -> collections.abc.Iterator[errors.Problem]:
    """Find the overrides that every host of the cloud would ignore.

    Removals, and values that the image itself has, are not among them
    (as in :mod:`nova_image_override.api.guest.effects`).

    :param virt_drivers: the drivers of the cloud's hosts; with none, nothing
        is found
    :param base: the image's own properties
    :param merged: the same with all overrides
    :param overrides: the overrides to look at
    :param judged: fields whose effect is known although no driver reads them
    """
    if not virt_drivers:
        return
    for name, value in overrides.items():
        field = catalog.field_of(name)
        if value is None or field is None or (
                field in judged and not catalog[field].drivers):
            continue
        found = [drivers_module.outcome(driver, field, value, merged)
                 for driver in sorted(virt_drivers)]
        kinds = {each.kind for each in found}
        if driver_matrix.ACTS in kinds or override.is_image_s_own(
                catalog, base, name, value):
            continue
        fails = driver_matrix.ERROR in kinds
        yield errors.Problem(
            name, errors.NO_EFFECT,
            ('the server would end in ERROR, or do nothing of it' if fails
             else 'would do nothing') + ' on any host of this cloud: '
            + '; '.join(each.why for each in found))


def by_driver(
    catalog: catalog_module.Catalog, virt_drivers: collections.abc.Set[str],
    name: str, properties: override.ImageProperties,
) -> dict[str, str]:
    """Return what each driver of a mixed cloud makes of a property.

    :param properties: a server's properties, with the one called NAME
    :returns: driver -> outcome; {} where all the drivers act
    """
    value, field = properties.get(name), catalog.field_of(name)
    if value is None or field is None or not catalog[field].drivers:
        return {}
    found = {driver: drivers_module.outcome(
        driver, field, str(value), properties).kind
        for driver in sorted(virt_drivers)}
    return {} if {*found.values()} <= {driver_matrix.ACTS} else found
