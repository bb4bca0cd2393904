"""The config drive, which a server has for life once it has one.

nova-compute makes it when it builds the guest, and notes that in the instance
(nova/virt/configdrive.py update_instance); every later guest has it, whatever
the image says (required_by).
"""

from typing import Any

from nova_image_override import errors
from nova_image_override.api.change.change import Change

PROPERTY = 'img_config_drive'

_MANDATORY = 'mandatory'


def require_possible(
    change: Change, own: str | None, instance: Any, way: str | None,
) -> None:
    """Refuse what would not come of a change of the property.

    :param own: what the image itself says
    :param way: how the caller can have the guest built with its disks; None
        if it will be
    :raises errors.Invalid: the server keeps its drive all the same
    :raises errors.Conflict: the drive is not made
    """
    if PROPERTY not in change.differing:
        return
    wanted = change.after.get(PROPERTY)
    if wanted == _MANDATORY:
        if way and not instance.config_drive:
            raise errors.Conflict.of(
                [PROPERTY], errors.NEEDS_REBUILD,
                f'a config drive is made when the guest is built: {way}')
    elif (PROPERTY in change.after and wanted != own and instance.config_drive):
        raise errors.Invalid.of(
            [PROPERTY], errors.NO_EFFECT, 'would do nothing: the server has '
            'a config drive, and keeps it')
