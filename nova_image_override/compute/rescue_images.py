"""The original image of a server under stable device rescue.

``LibvirtDriver.rescue`` fetches the properties of the server's own image (or
volume) again, through image and volume API objects that it holds. They are
wrapped here: the wrapper answers with the stored properties of the server under
rescue, and otherwise behaves like the API itself.
"""

from collections.abc import Callable
import dataclasses
from typing import Any

from nova.virt.libvirt import driver as libvirt

from nova_image_override.nova_interfaces import interface
from nova_image_override.server_record import ServerRecord

_RESCUED = 'image_props_override_rescued'


def mark(context: Any, instance: Any) -> None:
    """Let CONTEXT carry the instance that is being rescued."""
    setattr(context, _RESCUED, instance)


@dataclasses.dataclass
class _API:
    """An API object of the driver, with the stored properties in its answers.

    :ivar _key: the key of the properties in an answer
    :ivar _is_own: returns whether an instance boots from the object of an ID
    """

    _api: Any
    _key: str
    _is_own: Callable[[Any, str], bool]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    def get(
        self, context: Any, object_id: str, *args: Any, **kwargs: Any,
    ) -> Any:
        answer = self._api.get(context, object_id, *args, **kwargs)
        instance = getattr(context, _RESCUED, None)
        if instance is not None and self._is_own(instance, object_id):
            answer = {**answer, self._key: ServerRecord.of(instance).properties}
        return answer


def keep_stored_properties(driver: Any) -> None:
    """Wrap the APIs of the libvirt driver; others have no such rescue."""
    if isinstance(driver, libvirt.LibvirtDriver):
        interface.require(driver, '_image_api', '_volume_api')
        driver._image_api = _API(
            driver._image_api, 'properties',
            lambda instance, image_id: image_id == instance.image_ref)
        driver._volume_api = _API(
            driver._volume_api, 'volume_image_metadata',
            lambda instance, _: not instance.image_ref)
