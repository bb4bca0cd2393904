"""The rule that Glance's property protections make for overrides.

Every name of a property counts as if the override set or removed it in the
image (Nova reads them as one, Glance does not know that). So does every other
name that the merge writes, because it is passed on to snapshots. A legacy name
that the image lacks, that no section matches and that the merge does not write
is left out: Glance closes it to everybody, but nobody meant it to, and the user
may set the property under its current name all the same.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import functools
import re
from typing import NamedTuple

import os_traits

from nova_image_override import errors
from nova_image_override.authorization import rules
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.discovery_schema import Overridable
from nova_image_override.authorization.glance import (
    property_protections as glance,
)
from nova_image_override.override import ImageProperties, Override, Overrides
from nova_image_override.properties import families
from nova_image_override.properties.property import Property


class Permitted(NamedTuple):
    """Operations on a property open to a caller, on one image or another."""

    settable: bool
    removable: bool


@dataclasses.dataclass(frozen=True)
class Protected(rules.Rule):
    """Refuses what Glance would not let the caller do to an image.

    :ivar protections: Glance's; None if there are none
    :ivar names: those that ``allowed_properties`` has
    """

    protections: glance.Protections | None
    names: Sequence[str] = ()

    @property
    def is_configured(self) -> bool:
        """True if there are protections."""
        return self.protections is not None

    def about(
        self, override: Override, request: rules.Request,
    ) -> Iterator[rules.Decision]:
        """Decide about each operation by the section of its property."""
        if self.protections is None:
            yield rules.Decision(override.name, 'protections',
                                 detail=f'{glance.OPTION} is not set')
            return
        for operation in dict.fromkeys(
                needed for image in request.images for needed
                in self._needed_on(image, override, request.overrides).items()):
            yield _by_section(self.protections, request, override, *operation)

    def _needed_on(
        self, image: ImageProperties, override: Override,
        overrides: Overrides,
    ) -> dict[str, str]:
        """Return what Glance must permit on IMAGE for one of OVERRIDES.

        :returns: name, as Glance knows it -> operation
        """
        if self.protections is None:
            return {}
        removes = override.value is None
        written = overrides.written(image, override)
        result = {}
        for each in dict.fromkeys((
                override.name, *override.prop.legacy, *written)):
            has = image.get(each) is not None
            if (each == override.name or has or each in written
                    or self.protections.section(each) is not None):
                result[each] = (
                    glance.DELETE if removes and each not in written
                    else glance.UPDATE if has else glance.CREATE)
        return result

    def permitted(self, name: str, prop: Property, caller: Caller) -> Permitted:
        """Return what Glance lets CALLER do to the property called NAME."""
        def may(each: str, operation: str) -> bool:
            return self.protections is None or self.protections.permits(
                each, operation, caller)

        setting, removing = (
            self._needed_on({}, each, Overrides((each,)))
            for each in (Override(prop, name, ''), Override(prop, name, None)))
        return Permitted(
            all(may(each, glance.CREATE) or may(each, glance.UPDATE)
                for each in setting),
            all(may(*needed) for needed in removing.items()))

    def limit(self, left: Overridable, caller: Caller) -> rules.Left:
        """Split a family by permission.

        Traits, which are unlimited in number, are not split: if one is
        permitted, all are offered.
        """
        if self.protections is None:
            yield left
            return
        permitted = {
            name: self.permitted(name, left.prop, caller)
            for name in self._known_names(left.prop)}
        if left.prop.family is families.TRAITS:
            permitted = {'': Permitted(
                *map(any, zip(*permitted.values())))}
        for each in dict.fromkeys(permitted.values()):
            closed = [re.escape(name) for name in permitted
                      if permitted[name] != each]
            yield dataclasses.replace(
                left, closed=(*left.closed, *closed),
                settable=left.settable and each.settable,
                removable=left.removable and each.removable)

    def _known_names(self, prop: Property) -> Iterable[str]:
        """Return the names of a property.

        Of traits, those in os-traits, in our lists and in Glance's sections.
        """
        if prop.family is None:
            return [prop.field]
        if prop.family is families.TRAITS:
            return self._traits
        return map(prop.family.member, range(families.NUMA_NODES_MAX))

    @functools.cached_property
    def _traits(self) -> list[str]:
        sections = self.protections.sections if self.protections else ()
        named = (*self.names, *(
            each.pattern.pattern.strip('^$') for each in sections))
        return [*map(families.TRAITS.member,
                     ('CUSTOM_', *os_traits.get_traits())),
                *filter(families.TRAITS.has, named)]


def _by_section(
    protections: glance.Protections, request: rules.Request,
    override: Override, name: str, operation: str,
) -> rules.Decision:
    """Decide about one operation on the property that Glance calls NAME."""
    section = protections.section(name)
    detail = 'no section matches'
    if section is not None:
        who = ', '.join(section.permissions[operation]) or 'nobody'
        detail = f'[{section.pattern.pattern}] {operation} = {who}'
    code = reason = ''
    if not protections.permits(name, operation, request.caller):
        code = errors.PROTECTED
        reason = ("Glance's property protections do not let you "
                  f'{operation} {name}')
        own = override.name
        if name != own:
            reason += (
                f', which is {own} too' if name in override.prop.legacy
                else f', which overriding {own} writes')
            if section is None:
                reason += (': no section of the protections matches it, the '
                           f'operator can add one such as [^{name}$]')
    return rules.Decision(
        override.name, f'protections: {operation} {name}', code, reason,
        detail)
