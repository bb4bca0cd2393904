"""Which overrides ask for what the flavor decides anyway."""

import collections.abc
import operator
import typing

from nova import objects
from nova.objects import base as nova_base

from nova_image_override import override
from nova_image_override.api.flavor import constraints
from nova_image_override.api.flavor import effects
from nova_image_override.api.flavor import image_metadata
from nova_image_override.api.flavor import read_properties
from nova_image_override.api.flavor import safe_cpu_lists
from nova_image_override.properties import catalog as catalog_module


def flavor_decides(
    catalog: catalog_module.Catalog, flavor: typing.Any,
    image: dict[str, typing.Any], names: collections.abc.Iterable[str],
) -> set[str]:
    """Return those of NAMES that the flavor decides.

    It has an extra spec for the property, and Nova makes the same of the
    guest with the override as without.

    :param catalog: the properties that can be named
    :param flavor: ``nova.objects.Flavor`` of the server
    :param image: boot metadata, with the merged properties
    :param names: the properties that are overridden
    """
    properties = image['properties']
    # Each function reads the lists, so they are to take little.
    properties = properties | safe_cpu_lists.cheap_lists(flavor, properties)
    return {
        name for name in names
        if not flavor.extra_specs.keys().isdisjoint(
            _extra_specs(catalog, name))
        and _is_same_without(catalog, name, flavor, properties)}


def _extra_specs(
    catalog: catalog_module.Catalog, name: str) -> tuple[str, ...]:
    """Return the extra specs that can decide a property.

    Where the effects know no others, they are named as
    _get_flavor_image_meta of nova.virt.hardware names them.
    """
    rule = effects.RULES.get(catalog.resolve(name).field)
    return (rule and rule.specs) or (name.replace('_', ':', 1),)


def _is_same_without(
    catalog: catalog_module.Catalog, name: str, flavor: typing.Any,
    properties: override.ImageProperties,
) -> bool:
    """Say whether a guest is the same without a property.

    Only as far as Nova's functions tell: where none reads the property, it
    is not.
    """
    field = catalog.resolve(name).field
    asked: list[effects.Gets] = [
        operator.methodcaller('ask', function)
        for function in constraints.checks()]
    rule = effects.RULES.get(field)
    if rule is not None and rule.specs:
        asked.append(rule.gets)
    rest = {key: value for key, value in properties.items() if key != name}
    is_read = False
    for gets in asked:
        results = []
        for each in (properties, rest):
            image_meta = objects.ImageMeta.from_dict(
                image_metadata.with_properties({}, {}))
            image_meta.properties = read_properties.ImageMetaProps.read(each)
            guest = effects.Guest(flavor, image_meta, each)
            try:
                results.append(_comparable(gets(guest)))
            except constraints.REFUSALS as exc:
                results.append(repr(exc))
            is_read |= field in image_meta.properties.names_read
        if results[0] != results[1]:
            return False
    return is_read


def _comparable(made: typing.Any) -> typing.Any:
    """Return what a function has made so that equals compare equal.

    Nova's objects do not.
    """
    if isinstance(made, nova_base.NovaObject):
        return made.obj_to_primitive()
    if type(made) is tuple:
        return [_comparable(each) for each in made]
    return made
