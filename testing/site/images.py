"""Glance's API, as far as it is read, on top of Nova's own fake of it."""

import typing

import webob
import webob.exc

#: Schemas, which tell python-glanceclient what an object is: anything.
_SCHEMAS = ('image', 'metadefs/namespace', 'metadefs/resource_type')

#: Metadata definitions that define nothing. Without any, Horizon's wizard fails
#: (openstack_dashboard/utils/futurist_utils.py).
_NAMESPACE = {
    'namespace': 'OS::Demo::Nothing', 'display_name': 'Nothing',
    'description': '', 'visibility': 'public', 'protected': True,
    'owner': 'admin', 'properties': {}, 'resource_type_associations': [
        {'name': 'OS::Nova::Server', 'properties_target': target}
        for target in ('metadata', 'scheduler_hints')]}


def answer(
    glance: typing.Any, request: webob.Request,
) -> dict[str, typing.Any]:
    """Return what Glance answers to a request to list or show something.

    :param glance: Nova's fixture
    :raises webob.exc.HTTPNotFound: there is nothing like that
    """
    path = request.path_info.strip('/')
    if path in ('', 'v2'):
        return {'versions': [{
            'id': 'v2.0', 'status': 'CURRENT', 'min_version': '',
            'max_version': 'v2.0', 'links': [
                {'rel': 'self', 'href': f'{request.host_url}/image/v2/'}]}]}
    if path.removeprefix('v2/schemas/') in _SCHEMAS:
        return {'name': path.rpartition('/')[2], 'properties': {}}
    if path == 'v2/metadefs/namespaces':
        return {'namespaces': [_NAMESPACE]}
    if path.startswith('v2/metadefs/namespaces/'):
        return _NAMESPACE
    images = {image['id']: _image(image) for image in glance.detail(None)}
    if path == 'v2/images':
        name = request.GET.get('name')
        return {'images': [image for image in images.values()
                           if name in (None, image['name'])]}
    prefix, _, which = path.rpartition('/')
    if prefix == 'v2/images' and which in images:
        return images[which]
    raise webob.exc.HTTPNotFound()


def _image(image: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """Return what version 2 of Glance's API shows of one of Nova's images."""
    return {
        **{name: str(value) for name, value in image['properties'].items()},
        **{name: image.get(name) for name in (
            'id', 'name', 'status', 'visibility', 'container_format',
            'disk_format', 'min_ram', 'min_disk', 'size')}}
