"""Which image properties one of Nova's functions reads."""

import functools
import typing

from nova import objects
from nova.objects import image_meta

from nova_image_override import override


class ImageMetaProps(image_meta.ImageMetaProps):
    """Image properties that remember which of them were read."""

    @classmethod
    def obj_name(cls) -> str:
        """Pass for the class that Nova's fields accept."""
        return str(objects.ImageMetaProps.obj_name())

    @classmethod
    def read(cls, properties: override.ImageProperties) -> 'ImageMetaProps':
        """Return PROPERTIES as Nova reads them, watched from then on.

        :raises nova.exception.NovaException, ValueError: Nova cannot read them
        """
        # Watching from_dict itself would take twice the time.
        result = objects.ImageMetaProps.from_dict(dict(properties))
        result.__class__ = cls
        return typing.cast('ImageMetaProps', result)

    @functools.cached_property
    def names_read(self) -> set[str]:
        """The fields that were read, set or not."""
        return set()

    def obj_attr_is_set(self, attrname: str) -> bool:
        """Remember that the field was asked for."""
        self.names_read.add(attrname)
        return bool(super().obj_attr_is_set(attrname))

    def __getattribute__(self, name: str) -> typing.Any:
        if name in objects.ImageMetaProps.fields:
            self.names_read.add(name)
        return super().__getattribute__(name)
