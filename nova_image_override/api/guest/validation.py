"""Whether a flavor and merged image properties go together.

Each failure names the overrides that cause it.
"""

import collections
import collections.abc
import hashlib
import typing

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import record
from nova_image_override import stored_image
from nova_image_override.api.guest import conflicts
from nova_image_override.api.guest import effects
from nova_image_override.api.guest import image_metadata
from nova_image_override.properties import catalog as catalog_module

#: What Nova's functions read from a flavor, directly or for a message, besides
#: its extra specs.
FLAVOR_FIELDS = (
    'name', 'vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb', 'swap')

#: How many checks are remembered that found nothing wrong. A check asks all of
#: Nova's functions, and a cloud's tenants boot the same image and flavor again
#: and again.
REMEMBERED = 4096

#: Their digests, those that were used last at the end.
_GOOD: collections.OrderedDict[bytes, None] = collections.OrderedDict()


def check(
    catalog: catalog_module.Catalog, flavor: typing.Any,
    image: dict[str, typing.Any], base: override.ImageProperties,
    overrides: override.Overrides,
    ineffective: collections.abc.Collection[str] = (),
    others: collections.abc.Collection[errors.Problem] = (),
) -> None:
    """Check the merged properties that a server is to have.

    :param flavor: ``nova.objects.Flavor`` of the server
    :param image: boot metadata, with the merged properties
    :param base: the image's own properties
    :param overrides: what was merged over BASE
    :param ineffective: those of them that may have no effect
        (:mod:`nova_image_override.api.guest.effects`)
    :param others: problems found elsewhere, to be reported with the rest
    :raises errors.Invalid: naming every override that flavor and image
        properties exclude, or that Nova would ignore
    """
    digest = _digest(flavor, image, base, overrides, sorted(ineffective))
    if not others and _is_good(digest):
        return
    found = conflicts.Conflicts(catalog, flavor, image, base, overrides)
    # The first problem of a property is the one that is reported.
    problems: dict[str, errors.Problem] = {}
    for problem in found.problems():
        problems.setdefault(problem.name, problem)
    if found.are_complete:
        for problem in effects.problems(
                catalog, flavor, found.image, base,
                {name: value for name, value in overrides.items()
                 if name not in ineffective}):
            problems.setdefault(problem.name, problem)
    for problem in others:
        problems.setdefault(problem.name, problem)
    if problems:
        raise errors.Invalid(problems.values())
    _GOOD[digest] = None
    while len(_GOOD) > REMEMBERED:
        _GOOD.popitem(last=False)


def _is_good(digest: bytes) -> bool:
    # One call, because other threads may remove it in between.
    try:
        _GOOD.move_to_end(digest)
    except KeyError:
        return False
    return True


def _digest(
    flavor: typing.Any, image: dict[str, typing.Any], *others: object,
) -> bytes:
    """Return 32 bytes that stand for everything that is checked."""
    # The types count too: Nova reads 1, "1" and True differently.
    return hashlib.sha256(repr((
        [getattr(flavor, field) for field in FLAVOR_FIELDS],
        dict(flavor.extra_specs), image, others,
    )).encode(errors='backslashreplace')).digest()


def check_resize(
    catalog: catalog_module.Catalog, flavor: typing.Any, instance: typing.Any,
) -> None:
    """Check a server's overrides in force against another flavor.

    Conflicts between image and flavor alone are left to Nova. An override that
    merely has no effect with FLAVOR does no harm, and may take effect again
    after the next resize; one that FLAVOR supersedes is refused.

    :param flavor: ``nova.objects.Flavor`` that the server is to have
    :raises errors.Invalid: naming every override that FLAVOR excludes
    """
    overrides = record.in_force(instance.system_metadata)
    try:
        check(catalog, flavor, image_metadata.of_server(instance),
              stored_image.properties_without_overrides(instance), overrides,
              ineffective(catalog, instance))
    except errors.Invalid as exc:
        problems = [
            problem for problem in exc.problems if problem.name in overrides
            and problem.code != errors.NO_EFFECT]
        if problems:
            raise errors.Invalid(problems) from None


def ineffective(
    catalog: catalog_module.Catalog, instance: typing.Any,
) -> set[str]:
    """Return a server's overrides in force that have no effect as it is.

    They date from before such overrides were refused, or a resize has taken
    their effect away.
    """
    return {problem.name for problem in effects.problems(
        catalog, instance.get_flavor(), image_metadata.of_server(instance),
        stored_image.properties_without_overrides(instance),
        record.in_force(instance.system_metadata))}
