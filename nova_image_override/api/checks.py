"""What flavor and merged image properties alone decide, decided at create.

Nova runs part of ``nova.virt.hardware``'s functions in the API and the rest in
scheduler and compute, where a conflict ends in a server in ERROR; some of the
former end in a wrong HTTP status. Here Nova's own functions are called on the
merged properties before anything is created, and each failure names the
overrides that cause it.
"""

import collections.abc
import dataclasses
import functools
import typing

from nova import exception
from nova import objects
from nova import utils as nova_utils

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import record
from nova_image_override import remembered as remembered_module
from nova_image_override import stored_image
from nova_image_override.api import conflicts
from nova_image_override.api import effects
from nova_image_override.api import extension as extension_module
from nova_image_override.api import hardware
from nova_image_override.api import verdicts
from nova_image_override.api import watched
from nova_image_override.properties import cpu_lists
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module

REFUSALS = hardware.REFUSALS

_MASK = 'hw_cpu_realtime_mask'

#: How many sets of overrides one of Nova's functions judges to find those that
#: conflict. Few functions read more than a handful of properties.
_SETS_MAX = 64

#: The same times the NUMA nodes of the image: each costs Nova 50 microseconds.
#: 6 sets tell hw_numa_nodes, hw_numa_cpus and hw_numa_mem apart, as many as
#: 106 nodes have.
_NODES_MAX = 640

#: Whatever was found good lately.
_GOOD = remembered_module.Remembered(4096)


def check(
    extension: extension_module.Extension, flavor: typing.Any,
    image: dict[str, typing.Any], base: override.ImageProperties,
    overrides: override.Overrides,
    idle: collections.abc.Collection[str] = (),
) -> None:
    """Judge the merged properties of a server to be.

    :param flavor: ``nova.objects.Flavor`` of the server
    :param image: boot metadata, with the merged properties
    :param base: the image's own properties
    :param overrides: what was merged over BASE
    :param idle: those of them that Nova may pass over (:mod:`effects`)
    :raises errors.Invalid: naming every override that flavor and image
        properties exclude, or that Nova would pass over
    """
    key = verdicts.key(flavor, image, base, overrides, sorted(idle))
    if key in _GOOD:
        return
    judge = _Judge(extension, flavor, image, base, overrides, idle)
    # The first problem of a property is the one that is told.
    problems: dict[str, errors.Problem] = {}
    for problem in judge.problems():
        problems.setdefault(problem.name, problem)
    if problems:
        raise errors.Invalid(problems.values())
    _GOOD.add(key)


def remembered() -> int:
    """Return how many servers to be are remembered as good."""
    return len(_GOOD)


def forget() -> None:
    """Return to the state of a service that has just started."""
    _GOOD.clear()


def bounded(
    extension: extension_module.Extension, base: override.ImageProperties,
    overrides: override.Overrides,
) -> override.ImageProperties:
    """Return BASE without CPU lists that must not be expanded.

    :raises errors.Invalid: naming those that no override takes the place of
    """
    catalog = extension.catalog
    names = {
        name for name, value in base.items()
        if (field := catalog.field_of(name)) is not None
        and isinstance(catalog[field], property_module.CpuList)
        and not cpu_lists.can_be_expanded(str(value))}
    if names - set(overrides):
        raise errors.Invalid([
            errors.Problem(
                name, errors.UNREADABLE, "the image's own value names CPUs "
                f'beyond {cpu_lists.CPU_ID_MAX}')
            for name in names - set(overrides)])
    return {name: base[name] for name in base if name not in names}


def check_resize(
    extension: extension_module.Extension, flavor: typing.Any,
    instance: typing.Any,
) -> None:
    """Judge a server's overrides in force beside another flavor.

    Where image and flavor conflict by themselves, Nova answers. An override
    that merely has no effect beside FLAVOR harms nothing, and may act again
    after the next resize; one that FLAVOR takes the place of is refused.

    :param flavor: ``nova.objects.Flavor`` that the server is to have
    :raises errors.Invalid: naming every override that FLAVOR excludes
    """
    overrides = record.in_force(instance.system_metadata)
    try:
        check(extension, flavor, as_built(instance),
              stored_image.properties_without_overrides(instance), overrides,
              passed_over(extension, instance))
    except errors.Invalid as exc:
        problems = [
            dataclasses.replace(problem, reason=(
                f'{problem.reason}; choose a flavor that agrees with it'))
            for problem in exc.problems if problem.name in overrides
            and problem.code != errors.NO_EFFECT]
        if problems:
            raise errors.Invalid(problems) from None


def passed_over(
    extension: extension_module.Extension, instance: typing.Any,
) -> set[str]:
    """Return a server's overrides in force that have no effect as it is.

    From the time before they were refused, or since a resize.
    """
    return {problem.name for problem in effects.problems(
        extension.catalog, instance.get_flavor(), as_built(instance),
        stored_image.properties_without_overrides(instance),
        record.in_force(instance.system_metadata))}


def as_built(instance: typing.Any) -> dict[str, typing.Any]:
    """Return the image metadata that a server was built from."""
    return judged(
        nova_utils.get_image_from_system_metadata(instance.system_metadata),
        stored_image.properties(instance))


def judged(
    image: dict[str, typing.Any], properties: override.ImageProperties,
) -> dict[str, typing.Any]:
    """Return IMAGE with PROPERTIES and all that Nova's functions read of it.

    A volume's metadata has no name and a blank volume has none at all: what
    messages of nova.virt.hardware and API._validate_flavor_image want must
    be there.
    """
    return {'status': 'active', 'name': '', 'size': 0, 'min_ram': 0,
            'min_disk': 0, **image, 'properties': dict(properties)}


def cheap_lists(
    flavor: typing.Any, properties: override.ImageProperties,
) -> dict[str, str]:
    """Return the CPU lists of PROPERTIES in a form that is cheap to judge.

    :param flavor: ``nova.objects.Flavor``; of the CPUs that it has, they say
        the same
    """
    vcpus = flavor.vcpus
    nodes = {
        name: properties[name] for name in map(
            families.NUMA_CPUS.member, range(families.NUMA_NODES_MAX))
        if isinstance(properties.get(name), str)}
    lists = dict(zip(nodes, cpu_lists.disjoint(nodes.values(), vcpus),
                     strict=True))
    mask = properties.get(_MASK)
    if isinstance(mask, str) and mask.strip():
        # As hardware.get_realtime_cpu_constraint does it.
        lists[_MASK] = cpu_lists.cheap(
            f'0-{vcpus - 1},{mask}' if mask.strip().startswith('^')
            else mask, vcpus)
    return lists


class _Judge:
    """Judges the server that one request asks for.

    Nova's functions are given CPU lists that say the same as the merged ones
    and take little to expand.
    """

    def __init__(
        self, extension: extension_module.Extension, flavor: typing.Any,
        image: dict[str, typing.Any], base: override.ImageProperties,
        overrides: override.Overrides,
        idle: collections.abc.Collection[str],
    ) -> None:
        self._extension = extension
        self._flavor = flavor
        self._properties = image['properties']
        self._overrides = overrides
        #: The image's properties as they stand, and what may not be idle.
        self._own = base
        self._acting = {name: value for name, value in overrides.items()
                        if name not in idle}
        #: field -> the names of its overrides
        self._fields: dict[str, list[str]] = {}
        for name in overrides:
            self._fields.setdefault(self._field(name), []).append(name)
        #: The merged lists, to be laid over those of the base.
        self._lists = cheap_lists(flavor, self._properties)
        self._image = {
            **image, 'properties': self._properties | self._lists}
        base = bounded(extension, base, overrides)
        self._base = {**base, **cheap_lists(flavor, base)}
        #: What Nova reads with some fields' overrides only.
        self._read: dict[frozenset[str], watched.ImageMetaProps | None] = {}

    def _field(self, name: str) -> str:
        return self._extension.catalog.resolve(name).field

    def problems(self) -> collections.abc.Iterator[errors.Problem]:
        """Find all that speaks against the server, the worst first.

        A property can come more than once; its first problem is the best.
        """
        beyond = list(self._beyond())
        yield from beyond
        if any(problem.name in self._overrides for problem in beyond):
            return
        try:
            merged = objects.ImageMeta.from_dict(self._image)
        except REFUSALS as exc:
            yield from self._unreadable(exc)
            return
        agreed = True
        for function in hardware.checks():
            if self._refusal(function, merged) is not None:
                agreed = False
                yield from self._causes(function)
        if agreed:
            yield from self._traits(merged)
        yield from effects.problems(
            self._extension.catalog, self._flavor, self._image, self._own,
            self._acting)

    def _beyond(self) -> collections.abc.Iterator[errors.Problem]:
        """Find the lists that name CPUs which the flavor has not.

        The image's own realtime mask is left to Nova, which reads it beside
        some flavors only.
        """
        vcpus = self._flavor.vcpus
        for name in self._lists:
            cpu = cpu_lists.highest(self._properties[name])
            own = name not in self._overrides
            if cpu >= vcpus and not (own and name == _MASK):
                yield errors.Problem(
                    name, errors.FLAVOR_CONFLICT,
                    ("the image's own value " if own else '')
                    + f'names vCPU {cpu}, but the flavor has {vcpus}, '
                    f'numbered from 0 to {vcpus - 1}')

    def _refusal(
            self, function: hardware.Check, image_meta: typing.Any,
    ) -> str | None:
        try:
            function(self._flavor, image_meta)
        except exception.NovaException as exc:
            return str(exc.format_message())
        except REFUSALS as exc:
            return str(exc)
        return None

    def _causes(
        self, function: hardware.Check,
    ) -> collections.abc.Iterator[errors.Problem]:
        """Find which overrides make FUNCTION fail, and why each set does."""
        def judge(fields: frozenset[str]) -> conflicts.Conflict[str] | None:
            if fields not in self._read:
                self._read[fields] = self._with(fields)
            properties = self._read[fields]
            if properties is None:
                return None
            image_meta.properties = properties
            properties.names_read.clear()
            reason = self._refusal(function, image_meta)
            return None if reason is None else conflicts.Conflict(
                reason, frozenset(properties.names_read))

        image_meta = objects.ImageMeta.from_dict(
            {**self._image, 'properties': {}})
        nodes = self._properties.get('hw_numa_nodes')
        limit = min(_SETS_MAX, max(
            _NODES_MAX // int(nodes) if str(nodes).isdecimal() and int(nodes)
            else _SETS_MAX, 1))
        for fields, reason in conflicts.minimal_sets(
                self._fields, judge, limit):
            if not fields:
                yield errors.Problem(
                    errors.PARAMETER, errors.FLAVOR_CONFLICT,
                    f'image and flavor conflict by themselves: {reason}')
            for name in (n for field in fields for n in self._fields[field]):
                yield errors.Problem(name, errors.FLAVOR_CONFLICT, reason)

    @functools.cached_property
    def _readable_base(self) -> override.ImageProperties:
        """The image's own properties that Nova can read.

        Only what is overridden can be unreadable: the merged ones are not.
        """
        try:
            objects.ImageMetaProps.from_dict(dict(self._base))
        except REFUSALS:
            catalog = self._extension.catalog
            overridden = {
                *self._overrides, *(
                    legacy for field in self._fields
                    for legacy in catalog[field].legacy_names)}
            return {name: value for name, value in self._base.items()
                    if name not in overridden}
        return self._base

    def _with(self, fields: frozenset[str]) -> watched.ImageMetaProps | None:
        """Return the image's properties with the overrides of FIELDS only.

        :returns: None when Nova cannot read them
        """
        chosen = {name: self._overrides[name]
                  for field in fields for name in self._fields[field]}
        properties = self._extension.merger.merge(self._readable_base, chosen)
        properties |= {name: cpus for name, cpus in self._lists.items()
                       if self._field(name) in fields}
        try:
            return watched.ImageMetaProps.read(properties)
        except REFUSALS:
            return None

    def _traits(
        self, merged: objects.ImageMeta,
    ) -> collections.abc.Iterator[errors.Problem]:
        """Find the overrides that require a trait that the flavor forbids."""
        def forbidden(flavor: typing.Any, image_meta: typing.Any) -> None:
            found = hardware.forbidden_traits(flavor, image_meta) - named
            if found:
                raise exception.Invalid(_forbids(sorted(found)))

        named: set[str] = set()
        for trait in sorted(hardware.forbidden_traits(self._flavor, merged)):
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
            except REFUSALS as exc:
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
