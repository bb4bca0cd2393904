"""The one path of overrides from a request into a server's image properties.

Authorise, merge, check against the flavor, record. Create and rebuild both
take it, but do different things with the result.
"""

import collections.abc
import dataclasses
import functools
import typing

from nova_image_override import override
from nova_image_override import record
from nova_image_override.api import driver_effects
from nova_image_override.api.flavor import image_metadata
from nova_image_override.api.flavor import validation
from nova_image_override.authorization import callers as callers_module
from nova_image_override.authorization import enforcer as enforcer_module


@dataclasses.dataclass(frozen=True)
class Change:
    """The overrides that a server is to have.

    :ivar overrides: all of them
    :ivar new: those that the rules have to permit
    :ivar kept: those that only Glance's protections have to permit again
    :ivar fixed: values that replace merged ones
    :ivar ineffective: those that may have no effect
    :ivar owner: the instance whose project and user policy compares with; None
        for those of the request
    """

    overrides: override.Overrides
    new: override.Overrides
    kept: override.Overrides = dataclasses.field(default_factory=dict)
    fixed: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    ineffective: collections.abc.Collection[str] = ()
    owner: typing.Any = None


@dataclasses.dataclass(frozen=True)
class Merged:
    """The result of a change.

    :ivar image: the image's metadata with the merged properties, and with all
        else that Nova's functions read
    :ivar record: the rows of system metadata that record the overrides
    """

    image: dict[str, typing.Any]
    record: dict[str, str | None]


class Pipeline:
    """Takes overrides all the way to what is to be stored.

    :param enforcer: the deployer's rules
    :param callers: turns request contexts into callers
    :param virt_drivers: the drivers of the cloud's hosts
    """

    def __init__(
        self, enforcer: enforcer_module.Enforcer,
        callers: callers_module.Callers,
        virt_drivers: collections.abc.Set[str],
    ) -> None:
        self.catalog = enforcer.catalog
        self.enforcer = enforcer
        self.callers = callers
        self.virt_drivers = virt_drivers
        self.merger = override.Merger(self.catalog)

    @functools.cached_property
    def _parser(self) -> override.Parser:
        return override.Parser(self.catalog)

    def parse(self, raw: object) -> override.Overrides:
        """Return the overrides that RAW asks for.

        :param raw: the value of the parameter
        :raises errors.Invalid: with every problem that needs no image
        """
        return self._parser.parse(raw)

    def parse_names(
        self, names: collections.abc.Collection[str],
    ) -> frozenset[str]:
        """Return the properties that a request names.

        :raises errors.Invalid: with every problem found
        """
        return self._parser.parse_names(names)

    def run(
        self, context: typing.Any, change: Change, flavor: typing.Any,
        image: collections.abc.Mapping[str, typing.Any],
    ) -> Merged:
        """Authorise a change, merge it over IMAGE and check the result.

        Nothing is stored, and IMAGE is left unchanged.

        :param flavor: ``nova.objects.Flavor`` of the server
        :param image: metadata of the image, or of the volume
        :raises errors.OverrideError: the change is refused
        """
        if change.new or change.kept:
            self.enforcer.check(
                self.callers.caller(context, change.owner), change.new,
                image.get('properties') or {}, change.kept)
        return self.merge(change, flavor, image)

    def merge(
        self, change: Change, flavor: typing.Any,
        image: collections.abc.Mapping[str, typing.Any],
    ) -> Merged:
        """Merge a permitted change over IMAGE, and check the result.

        Like :meth:`run`, but without the rules.

        :raises errors.Invalid: flavor or image excludes it, or it would do
            nothing
        """
        base = image.get('properties') or {}
        merged = image_metadata.with_properties(dict(image), {
            **self.merger.merge(base, change.overrides), **change.fixed})
        validation.check(
            self.catalog, flavor, merged, base, change.overrides,
            change.ineffective, tuple(driver_effects.problems(
                self.catalog, self.virt_drivers, base, merged['properties'],
                change.new)))
        return Merged(merged, record.rows(
            change.overrides,
            self.merger.image_values(base, change.overrides)))
