"""The overrides that conflict with a flavor, or with other properties.

Nova calls some of its functions where a conflict ends in the wrong HTTP
status. Here each failure names the overrides that cause it.
"""

from __future__ import annotations

import collections.abc
import functools
import typing

from nova import exception
from nova import objects

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.api.guest import constraints
from nova_image_override.api.guest import minimal_sets
from nova_image_override.api.guest import read_properties
from nova_image_override.api.guest import remedies
from nova_image_override.api.guest import safe_cpu_lists
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import cpu_lists
from nova_image_override.properties import families

#: How many sets of overrides to try on one of Nova's functions to find those
#: that conflict. Few functions read more than a handful of properties.
_SETS_MAX = 64

#: The same multiplied by the number of NUMA nodes of the image, because each
#: node costs Nova 50 microseconds. 6 sets are enough to tell hw_numa_nodes,
#: hw_numa_cpus and hw_numa_mem apart, and 106 nodes still get that many.
_NODES_MAX = 640

#: Nova's exception -> the one field that it is about. Nova looks at the memory
#: of NUMA nodes only when their CPUs are all right (_get_numa_topology_manual).
_ABOUT: dict[object, str] = {
    exception.ImageNUMATopologyMemoryOutOfRange: families.NUMA_MEM.field,
}

#: What some flavors demand: those with realtime a mask, if they have none
#: themselves, and those with hw:cpu_dedicated_mask its policy.
_DEMANDED = {safe_cpu_lists.REALTIME_MASK: '^0', 'hw_cpu_policy': 'mixed'}


class _Forbidden(exception.Invalid):
    """The flavor forbids a trait."""


class Conflicts:
    """Finds the conflicts of the server that one request asks for.

    Nova's functions are given CPU lists that mean the same as the merged ones
    but are cheap to expand.

    :ivar image: boot metadata, with the merged properties and these lists
    :ivar are_complete: whether all of Nova's functions could be called; known
        once :meth:`problems` is exhausted
    """

    def __init__(
        self, catalog: catalog_module.Catalog, flavor: typing.Any,
        image: dict[str, typing.Any], base: override.ImageProperties,
        overrides: override.Overrides,
    ) -> None:
        self._catalog = catalog
        self._merger = override.Merger(catalog)
        self._flavor = flavor
        self._properties = image['properties']
        self._overrides = overrides
        #: field -> the names of its overrides
        self._fields: dict[str, list[str]] = {}
        for name in overrides:
            self._fields.setdefault(self._field(name), []).append(name)
        #: The merged lists, to be laid over those of the base.
        self._lists = safe_cpu_lists.cheap_lists(flavor, self._properties)
        self.image = {
            **image, 'properties': self._properties | self._lists}
        self.are_complete = False
        base = safe_cpu_lists.without_unsafe_lists(catalog, base, overrides)
        self._base = {**base, **safe_cpu_lists.cheap_lists(flavor, base)}
        #: Fields -> what Nova reads with the overrides of only these.
        self._read: dict[
            frozenset[str], read_properties.ImageMetaProps | None] = {}

    def _field(self, name: str) -> str:
        return self._catalog.resolve(name).field

    def problems(self) -> collections.abc.Iterator[errors.Problem]:
        """Find everything that speaks against the server, the worst first.

        A property can come up more than once; its first problem is the one to
        report.
        """
        missing = list(self._missing_cpus())
        yield from missing
        if any(problem.name in self._overrides for problem in missing):
            return
        try:
            merged = objects.ImageMeta.from_dict(self.image)
        except constraints.REFUSALS as exc:
            yield from self._unreadable(exc)
            return
        agreed = True
        for function in constraints.checks():
            if self._refusal(function, merged) is not None:
                agreed = False
                yield from self._causes(function)
        if agreed:
            yield from self._traits(merged)
        self.are_complete = True

    def _missing_cpus(self) -> collections.abc.Iterator[errors.Problem]:
        """Find the lists that name CPUs which the flavor does not have.

        The image's own realtime mask is left to Nova, which reads it with
        some flavors only.
        """
        vcpus = self._flavor.vcpus
        for name in self._lists:
            cpu = cpu_lists.highest(self._properties[name])
            is_image_s = name not in self._overrides
            if cpu >= vcpus and not (
                is_image_s and name == safe_cpu_lists.REALTIME_MASK
            ):
                yield errors.Problem(
                    name, errors.FLAVOR_CONFLICT,
                    ("the image's own value " if is_image_s else '')
                    + f'names vCPU {cpu}, but the flavor has {vcpus}, '
                    f'numbered from 0 to {vcpus - 1}')

    def _refusal(
            self, function: constraints.Check, image_meta: typing.Any,
    ) -> tuple[str, object] | None:
        """Return why FUNCTION refuses, and the type of its exception."""
        try:
            function(self._flavor, image_meta)
        except exception.NovaException as exc:
            return str(exc.format_message()), type(exc)
        except constraints.REFUSALS as exc:
            return str(exc), type(exc)
        return None

    def _causes(
        self, function: constraints.Check,
    ) -> collections.abc.Iterator[errors.Problem]:
        """Find the sets of overrides that make FUNCTION fail, and why."""
        def conflict_of(
            fields: frozenset[str],
        ) -> minimal_sets.Conflict[str] | None:
            if fields not in self._read:
                self._read[fields] = self._with(fields)
            properties = self._read[fields]
            if properties is None:
                return None
            image_meta.properties = properties
            properties.names_read.clear()
            refusal = self._refusal(function, image_meta)
            if refusal is None:
                return None
            reason, kind = refusal
            return minimal_sets.Conflict(
                reason, frozenset(properties.names_read), kind)

        image_meta = objects.ImageMeta.from_dict(
            {**self.image, 'properties': {}})
        nodes = self._properties.get('hw_numa_nodes')
        limit = min(_SETS_MAX, max(
            _NODES_MAX // int(nodes) if str(nodes).isdecimal() and int(nodes)
            else _SETS_MAX, 1))
        for fields, conflict in minimal_sets.minimal_sets(
                self._fields, conflict_of, limit):
            fields = fields & {_ABOUT.get(conflict.kind)} or fields \
                or self._demanded(function)
            if not fields:
                yield errors.Problem(
                    errors.PARAMETER, errors.FLAVOR_CONFLICT,
                    'image and flavor conflict by themselves: '
                    + conflict.reason)
            for field in fields:
                reason = conflict.reason if conflict.kind is _Forbidden \
                    else remedies.remedy(self._flavor, field, conflict.reason)
                for name in self._fields[field]:
                    yield errors.Problem(name, errors.FLAVOR_CONFLICT, reason)

    def _demanded(self, function: constraints.Check) -> frozenset[str]:
        """Return the field that the flavor demands, if it is overridden.

        Such a flavor conflicts with any image that does not have it. The
        override is to blame if another value would do.
        """
        for field in self._fields.keys() & _DEMANDED:
            demanded = objects.ImageMeta.from_dict({
                **self.image, 'properties': {
                    **self._readable_base, field: _DEMANDED[field]}})
            if self._refusal(function, demanded) is None:
                return frozenset({field})
        return frozenset()

    @functools.cached_property
    def _readable_base(self) -> override.ImageProperties:
        """The image's own properties that Nova can read.

        Only those that are overridden can be unreadable: the merged properties
        are readable.
        """
        try:
            objects.ImageMetaProps.from_dict(dict(self._base))
        except constraints.REFUSALS:
            catalog = self._catalog
            overridden = {
                *self._overrides, *(
                    legacy for field in self._fields
                    for legacy in catalog[field].legacy_names)}
            return {name: value for name, value in self._base.items()
                    if name not in overridden}
        return self._base

    def _with(
        self, fields: frozenset[str]
    ) -> read_properties.ImageMetaProps | None:
        """Return the image's properties with the overrides of FIELDS only.

        :returns: None when Nova cannot read them
        """
        chosen = {name: self._overrides[name]
                  for field in fields for name in self._fields[field]}
        properties = self._merger.merge(self._readable_base, chosen)
        properties |= {name: cpus for name, cpus in self._lists.items()
                       if self._field(name) in fields}
        try:
            return read_properties.ImageMetaProps.read(properties)
        except constraints.REFUSALS:
            return None

    def _traits(
        self, merged: objects.ImageMeta,
    ) -> collections.abc.Iterator[errors.Problem]:
        """Find the overrides that require a trait that the flavor forbids."""
        def forbidden(flavor: typing.Any, image_meta: typing.Any) -> None:
            found = constraints.forbidden_traits(flavor, image_meta) - named
            if found:
                raise _Forbidden(_forbids(sorted(found)))

        named: set[str] = set()
        for trait in sorted(constraints.forbidden_traits(self._flavor, merged)):
            name = families.TRAITS.member(trait)
            if name in self._overrides:
                named.add(trait)
                yield errors.Problem(
                    name, errors.FLAVOR_CONFLICT, _forbids([trait]))
        if self._refusal(forbidden, merged) is not None:
            yield from self._causes(forbidden)

    def _unreadable(
            self, error: Exception) -> collections.abc.Iterator[errors.Problem]:
        """Name the image's own properties that Nova cannot read."""
        found = False
        for name, value in self._base.items():
            try:
                objects.ImageMetaProps.from_dict({name: value})
            except constraints.REFUSALS as exc:
                found = True
                yield errors.Problem(
                    name, errors.UNREADABLE,
                    f'the image\'s own value cannot be read by Nova: {exc}')
        if not found:
            yield errors.Problem(
                errors.PARAMETER, errors.UNREADABLE,
                f'Nova cannot read the merged properties: {error}')


def _forbids(traits: list[str]) -> str:
    return 'the server needs what the flavor forbids with ' + ', '.join(
        f'trait:{trait}=forbidden' for trait in traits)
