"""The original image of a server under stable device rescue.

``LibvirtDriver.rescue`` fetches the properties of the server's own image (or
volume) again, through image and volume API objects that it holds. They are
wrapped here: the wrapper answers with the stored properties of the server under
rescue, and otherwise behaves like the API itself.
"""

from typing import Any

from nova.virt.libvirt import driver as libvirt

from nova_image_override.nova_interfaces import interface
from nova_image_override.server_record import ServerRecord

_RESCUED = 'image_props_override_rescued'


def mark(context: Any, instance: Any) -> None:
    """Let CONTEXT carry the instance that is being rescued."""
    setattr(context, _RESCUED, instance)


class _Wrapper:
    """Passes everything on to an API object of the driver."""

    def __init__(self, api: Any) -> None:
        self._api = api

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)


class _ImageAPI(_Wrapper):
    def get(
        self, context: Any, image_id: str, *args: Any, **kwargs: Any,
    ) -> Any:
        image = self._api.get(context, image_id, *args, **kwargs)
        instance = getattr(context, _RESCUED, None)
        if instance is not None and image_id == instance.image_ref:
            image = {
                **image, 'properties': ServerRecord.of(instance).properties}
        return image


class _VolumeAPI(_Wrapper):
    def get(
        self, context: Any, volume_id: str, *args: Any, **kwargs: Any,
    ) -> Any:
        volume = self._api.get(context, volume_id, *args, **kwargs)
        instance = getattr(context, _RESCUED, None)
        if instance is not None and not instance.image_ref:
            volume = {**volume, 'volume_image_metadata':
                      ServerRecord.of(instance).properties}
        return volume


def keep_stored_properties(driver: Any) -> None:
    """Wrap the APIs of the libvirt driver; others have no such rescue."""
    if isinstance(driver, libvirt.LibvirtDriver):
        interface.require(driver, '_image_api', '_volume_api')
        driver._image_api = _ImageAPI(driver._image_api)
        driver._volume_api = _VolumeAPI(driver._volume_api)
