"""Flavors and image metadata, and what is wrong with them together."""

from nova import objects
from nova.objects import image_meta

from nova_image_override import errors
from nova_image_override.api.guest import check
from nova_image_override.api.guest import refusals
from nova_image_override.api.guest.guest import boot_metadata, Guest
from nova_image_override.override import NONE
from tests.unit.strategies import overrides_of


def flavor(vcpus=4, memory_mb=1024, **specs):
    """Return a flavor; specs have '__' for ':'."""
    return objects.Flavor(
        name='small', vcpus=vcpus, memory_mb=memory_mb, root_gb=1,
        ephemeral_gb=0, swap=0, extra_specs={
            key.replace('__', ':'): str(value)
            for key, value in specs.items()})


def known(overrides):
    """Return whether this release has the properties, and their values."""
    fields = image_meta.ImageMetaProps.fields
    for name, value in overrides.items():
        field = fields.get('traits_required' if name.startswith('trait:')
                           else name.partition('.')[0])
        if field is None or value not in getattr(
                field, 'valid_values', (value,)):
            return False
    return True


def image(**properties):
    return objects.ImageMeta.from_dict(
        {'id': 'id', 'name': 'image', 'properties': properties})


def problems(overrides, specs=None, base=None, of=None, drivers=('libvirt',)):
    """Return what is wrong: name -> (code, reason)."""
    overrides, base = overrides_of(overrides), dict(base or {})
    try:
        merged = overrides.merge(base)
    except errors.Invalid as exc:
        return {each.name: (each.code, each.reason) for each in exc.problems}
    found = check.problems(
        of or flavor(**(specs or {})),
        boot_metadata({'id': 'id', 'name': 'image'}, merged), base,
        overrides, virt_drivers=frozenset(drivers))
    return {name: (each.code, each.reason) for name, each in found.items()}


def conflicts_without_overrides(specs):
    """Return all reasons for which Nova refuses a flavor with a plain image."""
    metadata = boot_metadata({'id': 'id', 'name': 'image'}, {})
    return {each.reason for each in refusals.Refusals(
        Guest.of(flavor(**specs), metadata), metadata, NONE).problems()}
