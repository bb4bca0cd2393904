"""The contents of images, which Nova's fake of Glance forgets or never had."""

import typing

import fixtures
from nova.tests.fixtures import glance as fake_glance

#: What images are filled with if nothing was uploaded to them, to their size.
FILLING = b'\0'

_CHUNK = 64 * 1024


class Contents(fixtures.Fixture):
    """Lets Nova's fake of Glance keep what is uploaded, and return it.

    Like glanceclient, it returns an iterator over the bytes.

    :ivar uploaded: contents by the image's id
    :ivar downloaded: ids of images, in order
    """

    def __init__(self, glance: fake_glance.GlanceFixture) -> None:
        self._glance = glance

    def _setUp(self) -> None:
        self.uploaded: dict[str, bytes] = {}
        self.downloaded: list[str] = []
        update = self._glance.update

        def upload(
            context: typing.Any, image: str, metadata: dict[str, typing.Any],
            data: typing.Any = None, **kwargs: typing.Any,
        ) -> typing.Any:
            if data is not None:
                self.uploaded[image] = b''.join(
                    iter(lambda: data.read(_CHUNK), b''))
                metadata = {**metadata, 'size': len(self.uploaded[image])}
            return update(context, image, metadata, **kwargs)

        def download(
            context: typing.Any, image: str, **kwargs: typing.Any,
        ) -> typing.Any:
            found = self._glance.show(context, image)
            self.downloaded.append(image)
            return iter([self.uploaded.get(image, FILLING * found['size'])])

        self.useFixture(fixtures.MockPatchObject(
            self._glance, 'update', upload))
        self.useFixture(fixtures.MockPatchObject(
            self._glance, 'download', download))
