"""A cloud that answers discovery, and adapters that ask it."""

from keystoneauth1 import adapter
from keystoneauth1 import noauth
from keystoneauth1 import session

from nova_image_override import versions

URL = 'http://nova/v2.1'
ENTRY = f'{versions.SERVICE_TYPE} {versions.MAX}'
HEADER = versions.HEADER


def discovered(low='1.0', high=str(versions.MAX), **changes):
    return {'json': {'image_props_override': {
        'min_version': low, 'max_version': high, 'schema': {}, 'presets': {},
        **changes}}}


def make(kind=adapter.Adapter, **kwargs):
    return kind(session.Session(auth=noauth.NoAuth(endpoint=URL)),
                service_type='compute', **kwargs)
