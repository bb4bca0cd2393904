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
    change: Change, own: str | None, instance: Any, is_built_anew: bool,
) -> None:
    """Refuse what would not come of a change of the property.

    :param own: what the image itself says
    :param is_built_anew: whether the guest is built with its disks, and not
        only started
    :raises errors.Invalid: the server keeps its drive all the same
    :raises errors.Conflict: the drive is not made
    """
    if PROPERTY not in change.differing:
        return
    wanted = change.after.get(PROPERTY)
    if wanted == _MANDATORY:
        if not (instance.config_drive or is_built_anew):
            raise errors.Conflict.of(
                [PROPERTY], errors.NEEDS_REBUILD, 'a config drive is made '
                'when the guest is built: rebuild the server with it, or '
                'shelve it first')
    elif (PROPERTY in change.after and wanted != own and instance.config_drive):
        raise errors.Invalid.of(
            [PROPERTY], errors.NO_EFFECT, 'would do nothing: the server has '
            'a config drive, and keeps it')
