"""Refuse what no host of the cloud acts on; report what only some act on.

:mod:`nova_image_override.properties.drivers` knows what each virt driver makes
of a property, and :mod:`nova_image_override.api.cloud_drivers` which drivers
there are.
"""

import collections.abc

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.api import cloud_drivers
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import driver_matrix
from nova_image_override.properties import drivers as drivers_module


def problems(
    catalog: catalog_module.Catalog, cloud: cloud_drivers.CloudDrivers | None,
    base: override.ImageProperties, merged: override.ImageProperties,
    overrides: override.Overrides,
) -> collections.abc.Iterator[errors.Problem]:
    """Find the overrides that every host of the cloud would ignore.

    Removals, and values that the image itself has, are not among them
    (as in :mod:`nova_image_override.api.flavor.effects`).

    :param cloud: None while its drivers are not known
    :param base: the image's own properties
    :param merged: the same with all overrides
    :param overrides: the overrides to look at
    """
    if cloud is None or not drivers_module.may_refuse(cloud.drivers):
        return
    for name, value in overrides.items():
        field = catalog.field_of(name)
        if (value is None or field is None or field in cloud.compared
                or not drivers_module.acting(field)
                or override.is_image_s_own(catalog, base, name, value)):
            continue
        found = [drivers_module.outcome(driver, field, value, merged)
                 for driver in sorted(cloud.drivers)]
        if driver_matrix.ACTS in [each.kind for each in found]:
            continue
        fails = driver_matrix.ERROR in [each.kind for each in found]
        yield errors.Problem(
            name, errors.NO_EFFECT,
            ('the server would end in ERROR, or do nothing of it' if fails
             else 'would do nothing') + ' on any host of this cloud: '
            + '; '.join(each.why for each in found))


def by_driver(
    catalog: catalog_module.Catalog, cloud: cloud_drivers.CloudDrivers | None,
    name: str, properties: override.ImageProperties,
) -> dict[str, str]:
    """Return what each driver of a mixed cloud makes of a property.

    :param properties: a server's properties, with the one called NAME
    :returns: driver -> outcome; {} where all the drivers act
    """
    value, field = properties.get(name), catalog.field_of(name)
    if cloud is None or value is None or field is None \
            or not drivers_module.acting(field):
        return {}
    found = {driver: drivers_module.outcome(
        driver, field, str(value), properties).kind
        for driver in sorted(cloud.drivers)}
    return {} if {*found.values()} == {driver_matrix.ACTS} else found
