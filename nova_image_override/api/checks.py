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
from nova.virt import hardware

from nova_image_override import catalog as catalog_module
from nova_image_override import descriptions
from nova_image_override import errors
from nova_image_override import override
from nova_image_override import stored
from nova_image_override.api import extension as extension_module
from nova_image_override.nova_interfaces import api as api_interfaces

#: How Nova's functions say no. ImageMeta.from_dict and parse_cpu_spec raise
#: the others for what images hold.
REFUSALS = (exception.NovaException, ValueError, TypeError, AttributeError)

Check = collections.abc.Callable[[typing.Any, typing.Any], typing.Any]

def _stateless_firmware(flavor: typing.Any, image_meta: typing.Any) -> None:
    hardware.get_stateless_firmware_constraint(image_meta)


def _video_ram(flavor: typing.Any, image_meta: typing.Any) -> None:
    """As LibvirtDriver._add_video_driver and vmwareapi's vmops do it."""
    asked = image_meta.properties.get('hw_video_ram', 0)
    if asked:
        limit = int(flavor.extra_specs.get('hw_video:ram_max_mb', 0))
        if asked > limit:
            raise exception.RequestedVRamTooHigh(
                req_vram=asked, max_vram=limit)


def _ephemeral_encryption(
        flavor: typing.Any, image_meta: typing.Any) -> None:
    """As API._update_ephemeral_encryption_bdms does it."""
    if hardware.get_ephemeral_encryption_constraint(flavor, image_meta):
        hardware.get_ephemeral_encryption_format(flavor, image_meta)


@functools.cache
def _checks() -> tuple[Check, ...]:
    return (
        *(function.get() for function in api_interfaces.CONSTRAINTS
          if function.needed),
        _ephemeral_encryption, _stateless_firmware, _video_ram)


def check(
    extension: extension_module.Extension, flavor: typing.Any,
    image: dict[str, typing.Any], base: override.ImageProperties,
    overrides: override.Overrides,
) -> None:
    """Judge the merged properties of a server to be.

    :param flavor: ``nova.objects.Flavor`` of the server
    :param image: boot metadata, with the merged properties
    :param base: the image's own properties
    :param overrides: what was merged over BASE
    :raises errors.Invalid: naming every override that flavor and image
        properties exclude
    """
    base = bounded(extension, base, overrides)
    _Judge(extension, flavor, image, base, overrides).check()


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
        and catalog[field].row.cpu_list
        and not catalog_module.bounded(str(value))}
    if names - set(overrides):
        raise errors.Invalid([
            errors.Problem(
                name, errors.UNREADABLE, "the image's own value names CPUs "
                f'beyond {descriptions.CPU_ID_MAX}')
            for name in names - set(overrides)])
    return {name: base[name] for name in base if name not in names}


def check_resize(
    extension: extension_module.Extension, flavor: typing.Any,
    instance: typing.Any,
) -> None:
    """Judge a server's overrides in force beside another flavor.

    Where image and flavor conflict by themselves, Nova answers.

    :param flavor: ``nova.objects.Flavor`` that the server is to have
    :raises errors.Invalid: naming every override that FLAVOR excludes
    """
    overrides = override.in_force(instance.system_metadata)
    image = nova_utils.get_image_from_system_metadata(
        instance.system_metadata)
    try:
        check(extension, flavor, judged(image, stored.properties(instance)),
              stored.image_properties(instance), overrides)
    except errors.Invalid as exc:
        problems = [
            dataclasses.replace(problem, reason=(
                f'{problem.reason}; choose a flavor that agrees with it'))
            for problem in exc.problems if problem.name in overrides]
        if problems:
            raise errors.Invalid(problems) from None


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


class _Judge:
    def __init__(
        self, extension: extension_module.Extension, flavor: typing.Any,
        image: dict[str, typing.Any], base: override.ImageProperties,
        overrides: override.Overrides,
    ) -> None:
        self._extension = extension
        self._flavor = flavor
        self._image = image
        self._base = base
        self._overrides = overrides

    def check(self) -> None:
        try:
            merged = objects.ImageMeta.from_dict(self._image)
        except REFUSALS as exc:
            raise errors.Invalid(self._unreadable(exc)) from None
        checks = _checks()
        if any(name.startswith('hw_cpu_') for name in self._overrides):
            # Searches through all topologies, so only where it can matter.
            checks = (*checks, hardware.get_best_cpu_topology)
        problems: dict[str, errors.Problem] = {}
        for function in checks:
            if self._refusal(function, merged) is not None:
                for problem in self._causes(function):
                    problems.setdefault(problem.name, problem)
        if problems:
            raise errors.Invalid(problems.values())

    def _refusal(
            self, function: Check, image_meta: typing.Any) -> str | None:
        try:
            function(self._flavor, image_meta)
        except exception.NovaException as exc:
            return str(exc.format_message())
        except REFUSALS as exc:
            return str(exc)
        return None

    def _causes(
        self, function: Check,
    ) -> collections.abc.Iterator[errors.Problem]:
        """Find which overrides make FUNCTION fail, and why each set does.

        Takes minimal failing sets of overridden fields away, one after the
        other, until what is left passes.
        """
        fields: dict[str, list[str]] = {}
        for name in self._overrides:
            fields.setdefault(
                self._extension.rules.stand(name).field, []).append(name)
        left = set(fields)
        while (reason := self._reason(function, fields, left)) is not None:
            needed = set(left)
            for field in sorted(left):
                if self._reason(function, fields, needed - {field}):
                    needed.discard(field)
            if not needed:
                # The image and the flavor exclude each other by themselves.
                yield errors.Problem(
                    errors.PARAMETER, errors.FLAVOR_CONFLICT,
                    f'image and flavor conflict by themselves: {reason}')
                return
            reason = self._reason(function, fields, needed) or reason
            for name in (n for field in needed for n in fields[field]):
                yield errors.Problem(name, errors.FLAVOR_CONFLICT, reason)
            left -= needed

    def _reason(
        self, function: Check, fields: dict[str, list[str]],
        chosen: set[str],
    ) -> str | None:
        overrides = {name: self._overrides[name]
                     for field in chosen for name in fields[field]}
        properties = self._extension.merger.merge(self._base, overrides)
        try:
            image_meta = objects.ImageMeta.from_dict(
                {**self._image, 'properties': properties})
        except REFUSALS:
            return None
        return self._refusal(function, image_meta)

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
