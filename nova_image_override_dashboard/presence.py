"""Whether a cloud has the extension, without asking it for every page.

Horizon pages that have something of ours on them only if the cloud has the
extension ask here, so a cloud without it is not slowed down.
"""

import hashlib

from django import http
from django.core import cache
from horizon import exceptions
from horizon.utils import memoized
from keystoneauth1 import exceptions as ksa_exceptions
import microversion_parse
from openstack_dashboard.api import base

from nova_image_override import versions
from nova_image_override.client import discovery
from nova_image_override_dashboard import cloud

#: Seconds for which a cloud's answer is remembered.
REMEMBERED = 60

_ABSENT = 'absent'


@memoized.memoized
def version(request: http.HttpRequest) -> versions.Version | None:
    """Return the newest version of the extension that cloud and client know.

    :returns: None if the cloud does not have it, or does not say
    """
    try:
        url = base.url_for(request, 'compute')
        # Not every cache takes a URL as a key.
        key = 'image_props_override.' + hashlib.sha256(
            url.encode()).hexdigest()
        found = cache.cache.get(key)
        if found is None:
            found = _ask(request)
            cache.cache.set(key, found, REMEMBERED)
    except (exceptions.ServiceCatalogException, discovery.Error,
            ksa_exceptions.ClientException):
        return None
    return None if found == _ABSENT else (
        microversion_parse.parse_version_string(found))


def _ask(request: http.HttpRequest) -> str:
    try:
        return str(cloud.compute(request).discover().version)
    except discovery.NotAvailable:
        return _ABSENT


def takes_update(request: http.HttpRequest) -> bool:
    """Return whether overrides of existing servers can be changed."""
    found = version(request)
    return found is not None and versions.takes_update(found)


def takes_rebuild(request: http.HttpRequest) -> bool:
    """Return whether a rebuild can change overrides."""
    found = version(request)
    return found is not None and versions.takes_rebuild(found)


def takes_filter(request: http.HttpRequest) -> bool:
    """Return whether servers can be listed by what they override."""
    found = version(request)
    return found is not None and versions.takes_filter(found)
