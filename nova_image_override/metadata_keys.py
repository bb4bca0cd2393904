"""The names of everything that this package stores with a server.

Nova stores the merged image properties as it stores any server's, in one row
``image_<property>`` of system metadata each, and reads them without knowing
about overrides. The record of the overrides is stored among them, as further
image properties whose names begin with ``os_glance_override``: Nova writes,
replaces and drops both in one transaction, so neither is ever without the
other.

The record has one property for each override. Its name says which property
was set or removed, and its value is the image's own value (after ``=`` if that
is empty or begins so), or nothing where the image lacks the property. The
value in force is only in ``image_<property>``. One more property names the
preset that the overrides came with; its value is the preset's digest.
"""
from __future__ import annotations

import re

#: Prefix of image properties (nova/utils.py SM_IMAGE_PROP_PREFIX).
IMAGE_PREFIX = 'image_'

#: All names of ours begin with this. Unmodified Nova leaves image properties
#: that begin with "os_glance" out of snapshots (nova/compute/utils.py
#: NON_INHERITABLE_IMAGE_NAMESPACES), and ImageMetaProps knows none of them.
_OURS = 'os_glance_override'

#: Prefixes of the names for the properties that were set, and for those that
#: were removed.
SET_PREFIX = f'{_OURS}:'
REMOVED_PREFIX = f'{_OURS}_removed:'

#: Prefix of the name for the preset.
PRESET_PREFIX = f'{_OURS}_preset:'

#: Prefix of the names for the fields of a change that are stored with the
#: server, but perhaps not yet where else they are needed: in its request
#: spec, and on its disks. The value of the disks' bus is the bus that they
#: come from. The bare name stands for a whole image that is another one.
UNFINISHED = f'{_OURS}_unfinished'

#: Marks a server that was given other properties while it was shelved and
#: offloaded; the value is the ID of the shelved image, which has the old ones.
OFFLOADED = f'{_OURS}_offloaded'

#: Nova stores a value in a String(255) and silently cuts longer ones
#: (nova/utils.py get_system_metadata_from_image).
VALUE_BYTES_MAX = 255

#: A name with its prefixes must fit into the String(255) key of a row.
NAME_LENGTH_MAX = 255 - len(f'{IMAGE_PREFIX}{UNFINISHED}:')


def override_keys(name: str) -> tuple[str, str]:
    """Return the keys of a property's rows: where it is set, and removed."""
    return (IMAGE_PREFIX + SET_PREFIX + name,
            IMAGE_PREFIX + REMOVED_PREFIX + name)


def preset_keys(name: str) -> tuple[str]:
    """Return the key of the row for the preset called NAME."""
    return (IMAGE_PREFIX + PRESET_PREFIX + name,)


#: Whether an image property of a server is one of ours.
is_property = re.compile(
    f'(?:{SET_PREFIX}|{REMOVED_PREFIX}|{PRESET_PREFIX}|{UNFINISHED}:).*'
    f'|{UNFINISHED}|{OFFLOADED}', re.DOTALL).fullmatch
