"""What is stored about overrides: every key of ours in system metadata.

The merged image properties are stored as Nova stores any server's, in one row
``image_<property>`` each, so that Nova reads them without knowing about
overrides. In addition, one row for each override says that there is one; the
row's value is the value that the image itself has. The value in force is only
in ``image_<property>``.
"""

import collections.abc
import typing

#: A server's system metadata, as ``Instance.system_metadata`` holds it.
SystemMetadata = collections.abc.Mapping[str, str | None]

#: Prefix of image properties (nova/utils.py SM_IMAGE_PROP_PREFIX).
IMAGE_PREFIX = 'image_'

#: Prefixes of the rows that say which properties were set, and which were
#: removed. Unmodified Nova leaves keys that begin with "os_glance" out of
#: snapshots (nova/compute/utils.py NON_INHERITABLE_IMAGE_NAMESPACES).
SET_PREFIX = 'os_glance_override:'
REMOVED_PREFIX = 'os_glance_override_removed:'

#: The row of a server whose overrides were dropped while it was shelved: what
#: is stored counts, as its shelved image still has the overrides.
DROPPED = 'os_glance_override_dropped'

#: Nova stores a value in a String(255) and silently cuts longer ones
#: (nova/utils.py get_system_metadata_from_image).
VALUE_BYTES_MAX = 255

#: A name with its prefix must fit into the String(255) key of a row.
NAME_LENGTH_MAX = 255 - len(REMOVED_PREFIX)


def rows(
    overrides: collections.abc.Mapping[str, str | None],
    image_values: collections.abc.Mapping[str, object],
) -> dict[str, str | None]:
    """Return the rows that record overrides.

    :param overrides: name -> value, None where the property is removed
    :param image_values: name -> the image's own value, None where it has none;
        one that Nova would cut is cut in the same way
    """
    return {
        keys(name)[value is None]: _cut(image_values[name])
        for name, value in overrides.items()}


def _cut(value: object) -> str | None:
    """Return VALUE as nova/utils.py safe_truncate cuts it."""
    return None if value is None else str(value).encode()[
        :VALUE_BYTES_MAX].decode(errors='ignore')


def replace(
    system_metadata: dict[str, str | None],
    new: collections.abc.Mapping[str, str | None],
) -> None:
    """Take the recorded overrides out of SYSTEM_METADATA, and put in NEW."""
    for key in [key for key in system_metadata if is_row(key)]:
        del system_metadata[key]
    system_metadata.update(new)


def replace_properties(
    system_metadata: dict[str, str | None],
    stored: collections.abc.Mapping[str, typing.Any],
    new: collections.abc.Mapping[str, typing.Any],
) -> None:
    """Replace the image properties in SYSTEM_METADATA with NEW.

    :param stored: the ones that it holds
    """
    for name in stored.keys() - new.keys():
        del system_metadata[IMAGE_PREFIX + name]
    system_metadata.update({
        IMAGE_PREFIX + name: value for name, value in new.items()
        if name not in stored or stored[name] != value})


def keys(name: str) -> tuple[str, str]:
    """Return the keys of the row that says that a property is overridden.

    :returns: the one where it is set, and the one where it is removed
    """
    return SET_PREFIX + name, REMOVED_PREFIX + name


def is_row(key: str) -> bool:
    """Return whether a key of system metadata is one of ours."""
    return key == DROPPED or _records(key)


def _records(key: str) -> bool:
    return key.startswith((SET_PREFIX, REMOVED_PREFIX))


def has_overrides(system_metadata: SystemMetadata) -> bool:
    """Return whether what is stored about a server counts, not its image.

    That is so if it has overrides, or had some when it was shelved.
    """
    return any(map(is_row, system_metadata))


def image_values(system_metadata: SystemMetadata) -> dict[str, str | None]:
    """Return the image's own value of each property that is overridden."""
    return {key.partition(':')[2]: value
            for key, value in system_metadata.items() if _records(key)}


def in_force(system_metadata: SystemMetadata) -> dict[str, str | None]:
    """Return a server's overrides: what was asked for, with values in force.

    A later ``nova-manage image_property set`` by an operator shows. A removed
    property is None even where nova-compute has filled in its default since,
    as it does for the machine type and device models that an image does not
    set (LibvirtDriver._register_undefined_instance_details).
    """
    result: dict[str, str | None] = {}
    for key in system_metadata:
        if key.startswith(SET_PREFIX):
            name = key.removeprefix(SET_PREFIX)
            result[name] = system_metadata.get(IMAGE_PREFIX + name)
        elif key.startswith(REMOVED_PREFIX):
            result[key.removeprefix(REMOVED_PREFIX)] = None
    return result


def set_after_removal(system_metadata: SystemMetadata) -> dict[str, str]:
    """Return the properties that were removed and have a value all the same.

    The value is nova-compute's default (see :func:`in_force`), or an operator
    has set it with ``nova-manage image_property set``.
    """
    result = {}
    for name, value in in_force(system_metadata).items():
        stored = system_metadata.get(IMAGE_PREFIX + name)
        if value is None and stored is not None:
            result[name] = stored
    return result
