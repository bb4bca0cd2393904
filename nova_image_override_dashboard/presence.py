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
from openstack_dashboard.api import base

from nova_image_override.client import answers
from nova_image_override_dashboard import cloud

#: Seconds for which a cloud's answer is remembered.
REMEMBERED = 60


@memoized.memoized
def has_extension(request: http.HttpRequest) -> bool:
    """Return whether the cloud has the extension; False if it does not say."""
    try:
        return ask(request)
    except (exceptions.ServiceCatalogException, answers.Error,
            ksa_exceptions.ClientException):
        return False


def ask(request: http.HttpRequest) -> bool:
    """Return whether the cloud has the extension.

    :raises exceptions.ServiceCatalogException: the cloud has no Nova
    :raises answers.Error: its answer says nothing
    :raises ksa_exceptions.ClientException: it does not answer
    """
    # Not every cache takes a URL as a key.
    key = 'image_props_override.' + hashlib.sha256(
        base.url_for(request, 'compute').encode()).hexdigest()
    found: bool | None = cache.cache.get(key)
    if found is None:
        try:
            cloud.compute(request).discover()
            found = True
        except answers.NotAvailable:
            found = False
        cache.cache.set(key, found, REMEMBERED)
    return found
