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
from nova_image_override.api.flavor import remedies
from nova_image_override.api.flavor import safe_cpu_lists
from nova_image_override.properties import catalog as catalog_module


def flavor_decides(
    catalog: catalog_module.Catalog, flavor: typing.Any,
    image: dict[str, typing.Any], names: collections.abc.Iterable[str],
) -> set[str]:
    """Return those of NAMES that the flavor decides.

    The flavor has an extra spec for the property, and Nova's functions make
    the same of the guest with the override as without it.

    :param catalog: the properties that can be named
    :param flavor: ``nova.objects.Flavor`` of the server
    :param image: boot metadata, with the merged properties
    :param names: the properties that are overridden
    """
    fields = {name: catalog.resolve(name).field for name in names}
    asked = {
        name: field for name, field in fields.items()
        if not flavor.extra_specs.keys().isdisjoint(_extra_specs(name, field))}
    if not asked:
        return set()
    properties = image['properties']
    # Functions read the lists again and again, so they have to be cheap.
    properties = properties | safe_cpu_lists.cheap_lists(flavor, properties)
    merged = _Made(flavor, properties)
    rules = {field: rule for field in asked.values()
             if (rule := effects.RULES.get(field)) and rule.specs}
    functions: list[effects.Gets] = [
        *(operator.methodcaller('ask', check)
          for check in constraints.checks()),
        *(rule.gets for rule in rules.values())]
    of_all = {gets: merged.by(gets) for gets in functions}
    result = set()
    for name, field in asked.items():
        without = _Made(flavor, {
            key: value for key, value in properties.items() if key != name})
        rule = rules.get(field)
        # A function that does not read the property returns the same anyway;
        # but where the flavor decides, a rule does not get to the property.
        readers = [gets for gets, (_, read) in of_all.items()
                   if field in read or (rule and gets is rule.gets)]
        if readers and all(
                without.by(gets)[0] == of_all[gets][0] for gets in readers):
            result.add(name)
    return result


def _extra_specs(name: str, field: str) -> tuple[str, ...]:
    """Return the extra specs that can decide a property.

    The one of the same name, unless the effects name others.
    """
    rule = effects.RULES.get(field)
    return (rule and rule.specs) or (remedies.extra_spec(name),)


class _Made:
    """What Nova's functions make of a guest with some properties."""

    def __init__(
        self, flavor: typing.Any, properties: override.ImageProperties,
    ) -> None:
        image_meta = objects.ImageMeta.from_dict(
            image_metadata.with_properties({}, {}))
        self._read = read_properties.ImageMetaProps.read(properties)
        image_meta.properties = self._read
        self._guest = effects.Guest(flavor, image_meta, properties)

    def by(self, gets: effects.Gets) -> tuple[typing.Any, frozenset[str]]:
        """Return the result of one function, and the fields that it reads."""
        self._read.names_read.clear()
        try:
            made = _comparable(gets(self._guest))
        except constraints.REFUSALS as exc:
            made = repr(exc)
        return made, frozenset(self._read.names_read)


def _comparable(made: typing.Any) -> typing.Any:
    """Return the result of a function so that equals compare equal.

    Nova's objects do not.
    """
    if isinstance(made, nova_base.NovaObject):
        return made.obj_to_primitive()
    if type(made) is tuple:
        return [_comparable(each) for each in made]
    return made
