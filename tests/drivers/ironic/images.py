"""The part of Glance's API that Ironic's conductor asks for an image."""

import typing

from testing.drivers import loopback


class Images(loopback.Server):
    """Knows every image, as a whole-disk image.

    Ironic asks what an image is (``ironic.common.images``), not what Nova
    makes of its properties.

    :ivar known: whether it knows them; a test may set it to False
    """

    known = True

    def answer(
        self, method: str, url: str, body: typing.Any,
    ) -> tuple[int, typing.Any]:
        before, _, image = url.rpartition('/')
        if not self.known:
            return 404, {}
        if before.endswith('/images'):
            return 200, {
                'id': image, 'name': 'test', 'status': 'active',
                'disk_format': 'qcow2', 'container_format': 'bare', 'size': 1,
                'min_ram': 0, 'min_disk': 0, 'tags': [],
                'visibility': 'public', 'protected': False, 'checksum': None,
                'created_at': '2026-01-01T00:00:00Z',
                'updated_at': '2026-01-01T00:00:00Z',
                'img_type': 'whole-disk'}
        return 200, {'versions': [{
            'id': 'v2.17', 'status': 'CURRENT',
            'links': [{'rel': 'self', 'href': f'{self.url}/v2/'}]}]}
