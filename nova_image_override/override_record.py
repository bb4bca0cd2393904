"""The stored record of overrides: every key of ours in system metadata.

The merged image properties are stored as Nova stores any server's, in one row
``image_<property>`` each, so that Nova reads them without knowing about
overrides. The record of the overrides is stored among them, as further image
properties whose names begin with ``os_glance_override``: Nova writes, replaces
and drops both in one transaction, so neither is ever without the other.

The record has one property for each override. It says which property was set
or removed, and what the image itself has: the image's value (after ``=`` if it
is empty or begins so), or nothing where the image lacks the property. The value
in force is only in ``image_<property>``. One more says which preset they came
with, and what that was.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Optional

#: A server's system metadata, as ``Instance.system_metadata`` holds it.
SystemMetadata = Mapping[str, Optional[str]]

#: Prefix of image properties (nova/utils.py SM_IMAGE_PROP_PREFIX).
IMAGE_PREFIX = 'image_'

#: All names of ours begin with this. Unmodified Nova leaves image properties
#: that begin with "os_glance" out of snapshots (nova/compute/utils.py
#: NON_INHERITABLE_IMAGE_NAMESPACES), and ImageMetaProps knows none of them.
_OURS = 'os_glance_override'

#: Prefixes of the names that say which properties were set, and which were
#: removed.
SET_PREFIX = f'{_OURS}:'
REMOVED_PREFIX = f'{_OURS}_removed:'

#: Prefix of the name that says which preset the overrides came with; the value
#: is the preset's digest.
PRESET_PREFIX = f'{_OURS}_preset:'

#: Prefix of the names that say which properties of a change are stored with
#: the server, but perhaps not yet where else they are needed: in its request
#: spec, and on its disks. The value of the disks' bus is the bus that they
#: come from. The bare name says that the whole image is another one.
UNFINISHED = f'{_OURS}_unfinished'

#: Says that a server was given other properties while it was shelved and
#: offloaded; the value is the ID of the shelved image, which has the old ones.
OFFLOADED = f'{_OURS}_offloaded'

#: Stored by Nova of an image besides its properties, with the same prefix
#: (nova/utils.py SM_INHERITABLE_KEYS).
_NO_PROPERTIES = frozenset((
    'base_image_ref', 'container_format', 'disk_format', 'min_disk', 'min_ram'))

#: Nova stores a value in a String(255) and silently cuts longer ones
#: (nova/utils.py get_system_metadata_from_image).
VALUE_BYTES_MAX = 255

#: A name with its prefixes must fit into the String(255) key of a row.
NAME_LENGTH_MAX = 255 - len(f'{IMAGE_PREFIX}{UNFINISHED}:')


class UsedPreset(NamedTuple):
    """A preset that overrides came with, as it was then."""

    name: str
    digest: str


def properties(
    overrides: Mapping[str, str | None], image_values: Mapping[str, object],
    preset: UsedPreset | None = None,
) -> dict[str, str]:
    """Return the image properties that record overrides.

    :param overrides: name -> value, None where the property is removed
    :param image_values: name -> the image's own value, None where it has none
    :param preset: the preset that they came with, if any
    """
    return {
        **{(SET_PREFIX if value is not None else REMOVED_PREFIX) + name:
           _row(image_values[name]) for name, value in overrides.items()},
        **({PRESET_PREFIX + preset.name: preset.digest} if preset else {})}


def _row(own: object) -> str:
    """Return the row for an image's value, cut as utils.safe_truncate does."""
    if own is None:
        return ''
    text = str(own)
    if not text or text.startswith('='):
        text = f'={text}'
    return text.encode()[:VALUE_BYTES_MAX].decode(errors='ignore')


def unfinished(names: Mapping[str, str]) -> dict[str, str]:
    """Return the image properties that say what is still to be stored.

    :param names: the properties of a change, or '' for the whole image, with
        the bus that disks come from, or ''
    """
    return {f'{UNFINISHED}:{name}' if name else UNFINISHED: value
            for name, value in names.items()}


def still_to_store(system_metadata: SystemMetadata) -> dict[str, str]:
    """Return what has not been stored everywhere, as far as is known.

    :returns: property -> the bus that disks come from, or ''; the property ''
        stands for the whole image
    """
    return {rest.removeprefix(':'): value
            for rest, value in _rows(system_metadata, UNFINISHED)}


def finished(system_metadata: SystemMetadata) -> dict[str, str | None]:
    """Return SYSTEM_METADATA without what says that it is unfinished."""
    prefix = IMAGE_PREFIX + UNFINISHED
    return {key: value for key, value in system_metadata.items()
            if not key.startswith(prefix)}


def image_properties(system_metadata: SystemMetadata) -> dict[str, Any]:
    """Return a server's image properties, with the record among them."""
    return {
        name: value for key, value in system_metadata.items()
        if (name := key.removeprefix(IMAGE_PREFIX)) != key
        and name not in _NO_PROPERTIES}


def with_properties(
    system_metadata: SystemMetadata, properties: Mapping[str, Any],
) -> dict[str, str | None]:
    """Return SYSTEM_METADATA with other image properties."""
    gone = {IMAGE_PREFIX + name for name in image_properties(system_metadata)}
    return {
        **{key: value for key, value in system_metadata.items()
           if key not in gone},
        **{IMAGE_PREFIX + name: value for name, value in properties.items()}}


def keys(name: str) -> tuple[str, str]:
    """Return the keys of the row that says that a property is overridden.

    :returns: the one where it is set, and the one where it is removed
    """
    return (IMAGE_PREFIX + SET_PREFIX + name,
            IMAGE_PREFIX + REMOVED_PREFIX + name)


def preset_keys(name: str) -> tuple[str, ...]:
    """Return the key of the row that says that a preset was used."""
    return (IMAGE_PREFIX + PRESET_PREFIX + name,)


def is_property(name: str) -> bool:
    """Return whether an image property of a server is one of ours."""
    return name in (UNFINISHED, OFFLOADED) or name.startswith(
        (SET_PREFIX, REMOVED_PREFIX, PRESET_PREFIX, f'{UNFINISHED}:'))


def is_row(key: str) -> bool:
    """Return whether a key of system metadata is one of ours."""
    return key.startswith(IMAGE_PREFIX) and is_property(
        key.removeprefix(IMAGE_PREFIX))


def has_overrides(system_metadata: SystemMetadata) -> bool:
    """Return whether what is stored about a server counts, not its image.

    That is so if it has overrides, or had some when it was shelved.
    """
    return any(map(is_row, system_metadata))


def preset(system_metadata: SystemMetadata) -> UsedPreset | None:
    """Return the preset that a server's overrides came with, if any."""
    return min((UsedPreset(*row) for row
                in _rows(system_metadata, PRESET_PREFIX)), default=None)


def shelved_image_is_older(system_metadata: SystemMetadata) -> bool:
    """Return whether a server was changed since its shelved image was made."""
    image_id = system_metadata.get(IMAGE_PREFIX + OFFLOADED)
    return image_id is not None and (
        image_id == system_metadata.get('shelved_image_id'))


def image_values(system_metadata: SystemMetadata) -> dict[str, str | None]:
    """Return the image's own value of each property that is overridden."""
    return {name: value.removeprefix('=') if value else None
            for name, _, value in _recorded(system_metadata)}


def in_force(system_metadata: SystemMetadata) -> dict[str, str | None]:
    """Return a server's overrides: what was asked for, with values in force.

    A later ``nova-manage image_property set`` by an operator shows. A removed
    property is None even where nova-compute has filled in its default since,
    as it does for the machine type and device models that an image does not
    set (LibvirtDriver._register_undefined_instance_details). One that was set
    and whose value is gone all the same is not among them.
    """
    result: dict[str, str | None] = {}
    for name, removed, _ in _recorded(system_metadata):
        value = None if removed else system_metadata.get(IMAGE_PREFIX + name)
        if removed or value is not None:
            result[name] = value
    return result


def set_after_removal(system_metadata: SystemMetadata) -> dict[str, str]:
    """Return the properties that were removed and have a value all the same.

    The value is nova-compute's default (see :func:`in_force`), or an operator
    has set it with ``nova-manage image_property set``.
    """
    result = {}
    for name, removed, _ in _recorded(system_metadata):
        stored = system_metadata.get(IMAGE_PREFIX + name)
        if removed and stored is not None:
            result[name] = stored
    return result


def _recorded(
    system_metadata: SystemMetadata,
) -> Iterator[tuple[str, bool, str]]:
    """Yield the name of each override, whether it removes, and the row."""
    for removed, prefix in ((False, SET_PREFIX), (True, REMOVED_PREFIX)):
        for name, value in _rows(system_metadata, prefix):
            yield name, removed, value


def _rows(
    system_metadata: SystemMetadata, prefix: str,
) -> Iterator[tuple[str, str]]:
    """Yield the rest of each name that begins with PREFIX, and its value."""
    whole = IMAGE_PREFIX + prefix
    for key, value in system_metadata.items():
        if key.startswith(whole):
            yield key.removeprefix(whole), value or ''
