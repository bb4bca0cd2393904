"""The check of a flavor and merged image properties together."""

from collections.abc import Callable, Collection, Iterator, Set
import hashlib
import re
from typing import Any

from nova.virt import hardware

from nova_image_override import errors
from nova_image_override.api.guest import no_effect
from nova_image_override.api.guest import refusals
from nova_image_override.api.guest.guest import (
    boot_metadata,
    Guest,
    read,
    REFUSALS,
)
from nova_image_override.override import ImageProperties, NONE, Overrides
from nova_image_override.properties import book
from nova_image_override.properties import cpu_lists
from nova_image_override.properties import families
from nova_image_override.server_record import ServerRecord

#: Read by Nova's functions from a flavor, directly or for a message, besides
#: its extra specs.
FLAVOR_FIELDS = (
    'name', 'vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb', 'swap')

#: Names of the properties whose value is a CPU list.
_CPU_LISTS = re.compile('|'.join(
    families.FAMILIES[name].pattern if name in families.FAMILIES else name
    for name, record in book.RECORDS.items() if record.limits.cpu_list))

#: Number of checks to remember that found nothing wrong: a cloud's tenants boot
#: the same image and flavor again and again.
REMEMBERED = 4096

#: Their digests. Emptied when it is full: those in use are soon back.
_GOOD: set[bytes] = set()


def problems(
    flavor: Any, image: dict[str, Any], base: ImageProperties,
    overrides: Overrides, ineffective: Collection[str] = (),
    virt_drivers: Set[str] = frozenset(),
) -> dict[str, errors.Problem]:
    """Check the merged properties that a server is to have.

    :param image: boot metadata, with the merged properties
    :param base: the image's own properties
    :param overrides: what was merged over BASE
    :param ineffective: those of them that may have no effect
    :returns: by name, the overrides that flavor and image properties exclude,
        or that Nova would ignore; the first problem of each
    """
    # The types count too: Nova reads 1, "1" and True differently.
    digest = hashlib.sha256(repr((
        [getattr(flavor, field) for field in FLAVOR_FIELDS],
        dict(flavor.extra_specs), image, base, overrides.values,
        sorted(ineffective), sorted(virt_drivers),
    )).encode()).digest()
    if digest in _GOOD:
        return {}
    found: dict[str, errors.Problem] = {}
    for problem in _problems(
            flavor, image, base, overrides, ineffective, virt_drivers):
        found.setdefault(problem.name, problem)
    if not found:
        if len(_GOOD) >= REMEMBERED:
            _GOOD.clear()
        _GOOD.add(digest)
    return found


def _problems(
    flavor: Any, image: dict[str, Any], base: ImageProperties,
    overrides: Overrides, ineffective: Collection[str],
    virt_drivers: Set[str],
) -> Iterator[errors.Problem]:
    """Find what is wrong, the worst first."""
    if found := [*_unfit_lists(flavor, image['properties'], overrides)]:
        yield from found
        return
    # Those that overrides replace can be as bad: one CPU that the flavor lacks
    # makes Nova refuse them, too.
    base = {**base, **{
        problem.name: str(flavor.vcpus) for problem
        in _unfit_lists(flavor, base, NONE)}}
    try:
        guest = Guest.of(flavor, image)
    except REFUSALS as exc:
        yield from _unreadable(base, exc)
        return
    yield from refusals.Refusals(
        guest, {**image, 'properties': base}, overrides).problems()
    acting = overrides.only(overrides.names - {*ineffective})
    yield from no_effect.beside_others(virt_drivers, guest, base, acting)
    yield from no_effect.in_guest(guest, base, acting)


def _unfit_lists(
    flavor: Any, properties: ImageProperties, overrides: Overrides,
) -> Iterator[errors.Problem]:
    """Find the lists that are too large or name CPUs that FLAVOR lacks.

    The image's own realtime mask may name any CPU: Nova reads it with some
    flavors only. A NUMA node without a CPU, of which Nova knows nothing wrong,
    libvirt does not define.

    :param properties: the image's own ones, or the merged ones
    """
    vcpus, named = flavor.vcpus, 0
    for name, value in properties.items():
        if not _CPU_LISTS.fullmatch(name):
            continue
        whose = '' if name in overrides else "the image's own value "
        is_mask = name == 'hw_cpu_realtime_mask'
        extent = cpu_lists.extent(str(value))
        named += 0 if extent.fault or is_mask else extent.named
        if extent.fault:
            yield errors.Problem(name, errors.UNREADABLE, whose + extent.fault)
        elif extent.highest >= vcpus and not (whose and is_mask):
            yield errors.Problem(
                name, errors.FLAVOR_CONFLICT,
                f'{whose}names vCPU {extent.highest}, but the flavor has '
                f'{vcpus}, numbered from 0 to {vcpus - 1}')
        elif named > cpu_lists.CPUS_MAX and not is_mask:
            yield errors.Problem(
                name, errors.UNREADABLE if whose else errors.PROPERTY_CONFLICT,
                f'{whose}and the lists of other nodes name more than '
                f'{cpu_lists.CPUS_MAX} CPUs, repeated ones included: name '
                'each CPU once')
        elif not (whose or is_mask or '^' not in value
                  or hardware.parse_cpu_spec(value)):
            yield errors.Problem(name, errors.INVALID_VALUE, 'names no CPU: '
                                 'each NUMA node must have one at least')


def _unreadable(
    properties: ImageProperties, error: Exception,
) -> Iterator[errors.Problem]:
    """Name the image's own properties that Nova cannot read."""
    found = False
    for name, value in properties.items():
        try:
            read({'properties': {name: value}})
        except REFUSALS:
            found = True
            yield errors.Problem(
                name, errors.UNREADABLE, 'Nova cannot read the image\'s own '
                f'value {errors.printable(str(value))}')
    if not found:
        yield errors.Problem(
            errors.PARAMETER, errors.UNREADABLE, 'Nova cannot read the merged '
            f'properties: {errors.printable(str(error))}')


def check_resize(
    flavor: Any, record: ServerRecord, present: Any,
    find: Callable[..., dict[str, errors.Problem]],
) -> None:
    """Check a server's overrides in force against another flavor.

    Conflicts between image and flavor alone are left to Nova. An override that
    merely has no effect with FLAVOR does no harm, and may take effect again
    after the next resize; one that FLAVOR supersedes is refused.

    :param present: the flavor that it has
    :param find: :func:`problems`, as the caller may know them
    :raises errors.Invalid: naming every override that FLAVOR excludes
    """
    found = [
        problem for name, problem in find(
            flavor, boot_metadata(record.image), record.own_properties,
            record.overrides, ineffective(present, record)).items()
        if name in record.overrides and problem.code != errors.NO_EFFECT]
    if found:
        raise errors.Invalid(found)


def ineffective(flavor: Any, record: ServerRecord) -> set[str]:
    """Return a server's overrides in force that have no effect as it is.

    They date from before such overrides were refused, or a resize has taken
    their effect away, or a default that nova-compute has chosen since.
    """
    try:
        guest = Guest.of(flavor, boot_metadata(record.image))
    except REFUSALS:
        return set()
    properties, overrides = record.own_properties, record.overrides
    excluded = no_effect.beside_others(
        {'libvirt'}, guest, properties, overrides)
    ignored = no_effect.in_guest(guest, properties, overrides)
    return {each.name for each in excluded
            if each.code == errors.NO_EFFECT} | {each.name for each in ignored}
