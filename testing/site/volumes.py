"""Cinder's API, as far as it is read, on top of Nova's own fake of it."""

import typing

import webob
import webob.exc

#: Name of the only volume, which was made from an image.
NAME = 'debian-volume'

#: Its size, in GiB.
SIZE = 10

#: The only volume type.
_TYPE = {'id': '5f9204ec-3e94-4f27-9beb-fe7bb73b6eb9', 'name': 'lvm-1',
         'is_public': True, 'extra_specs': {}, 'description': ''}

_LIMITS = {'maxTotalVolumes': 10, 'totalVolumesUsed': 1,
           'maxTotalVolumeGigabytes': 1000, 'totalGigabytesUsed': SIZE,
           'maxTotalSnapshots': 10, 'totalSnapshotsUsed': 0}


def answer(
    cinder: typing.Any, request: webob.Request,
) -> dict[str, typing.Any]:
    """Return what Cinder answers to a request to list or show something.

    :param cinder: Nova's fixture
    :raises webob.exc.HTTPNotFound: there is nothing like that
    """
    path = request.path_info.strip('/').split('/')
    if path in ([''], ['v3']):
        # In Cinder's own words: python-cinderclient reads "version".
        return {'versions': [{
            'id': 'v3.0', 'status': 'CURRENT', 'version': '3.70',
            'min_version': '3.0', 'links': [
                {'rel': 'self', 'href': f'{request.host_url}/volume/v3/'}]}]}
    volume = _volume(cinder)
    if path == ['v3', 'volumes', 'detail']:
        return {'volumes': [volume] if request.GET.get('name') in (
            None, NAME) else []}
    if path == ['v3', 'volumes', volume['id']]:
        return {'volume': volume}
    if path == ['v3', 'snapshots', 'detail']:
        return {'snapshots': []}
    if path == ['v3', 'os-volume-transfer', 'detail']:
        return {'transfers': []}
    if path == ['v3', 'types']:
        return {'volume_types': [_TYPE]}
    if path == ['v3', 'types', 'default']:
        return {'volume_type': _TYPE}
    if path == ['v3', 'limits']:
        return {'limits': {'rate': [], 'absolute': _LIMITS}}
    raise webob.exc.HTTPNotFound()


def _volume(cinder: typing.Any) -> dict[str, typing.Any]:
    image = cinder.fake_get(None, cinder.IMAGE_BACKED_VOL)
    return {'id': cinder.IMAGE_BACKED_VOL, 'name': NAME, 'size': SIZE,
            'status': 'available', 'bootable': 'true', 'attachments': [],
            'metadata': {}, 'volume_type': _TYPE['name'],
            'availability_zone': image['availability_zone'],
            'volume_image_metadata': image['volume_image_metadata']}
