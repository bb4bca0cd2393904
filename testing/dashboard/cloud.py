"""The cloud that Horizon is tested on, in a process of its own.

``python -m testing.dashboard.cloud PRESETS``, with the file of its presets,
prints the URLs as one line of JSON and serves until its input is closed.
Horizon's environment has nothing of Nova.
"""

import contextlib
import json
import logging
import sys
import typing

import webob
import webob.dec

from testing import paste_config
from testing import wsgi_server
from testing.harness import applications
from testing.site import cloud as cloud_module
from testing.site import loopback
from testing.site import site

#: The users of the site, with one more, who may do more.
USERS = {**site.USERS, 'nfv': 'member,nfv,reader'}

#: What only that user may override.
NFV_PROPERTIES = (
    'hw_cpu_policy', 'hw_cpu_thread_policy', 'hw_mem_page_size',
    'hw_numa_cpus', 'hw_numa_mem', 'hw_numa_nodes')

#: The properties of another image, for rebuilds.
SECOND_IMAGE = {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi'}


class Cloud(cloud_module.Cloud):
    """The demo's cloud with a rule for NFV."""

    # Spelled out: the harness has to be imported before anything of ours.
    POLICY: typing.ClassVar = {
        f'os_compute_api:servers:create:image_props_override:{name}':
        'role:nfv' for name in NFV_PROPERTIES} | cloud_module.Cloud.POLICY


class Recorder:
    """WSGI middleware that reports which requests came in.

    ``GET /requests`` lists those since ``DELETE /requests``.

    :param application: what answers everything else
    """

    def __init__(self, application: typing.Any) -> None:
        self._application = application
        self._seen: list[dict[str, typing.Any]] = []

    @webob.dec.wsgify
    def __call__(self, request: webob.Request) -> typing.Any:
        """Note a request, and pass it on."""
        if request.path_info == '/requests':
            if request.method == 'DELETE':
                self._seen.clear()
            return webob.Response(json_body=self._seen)
        self._seen.append({
            'method': request.method, 'path': request.path_qs,
            'version': request.headers.get('OpenStack-API-Version'),
            'body': request.text})
        return self._application


@contextlib.contextmanager
def running(
) -> typing.Iterator[tuple[Cloud, str]]:
    """Run the cloud for the duration of the context.

    :returns: the cloud, and the URL of its site
    """
    with (Cloud.running() as cloud,
          wsgi_server.serving(Recorder(site.Site(
              cloud, cloud.api_fixture.app(), USERS, networks=True))) as url):
        loopback.furnish(cloud)
        cloud.image('debian-scsi', **SECOND_IMAGE)
        yield cloud, url


@contextlib.contextmanager
def plain(cloud: Cloud) -> typing.Iterator[str]:
    """Serve the same cloud with Nova's own nova-api, without the extension."""
    nova_api = applications.load(paste_config.NOVA_APP)
    with wsgi_server.serving(Recorder(site.Site(
            cloud, nova_api, USERS, networks=True))) as url:
        yield url


if __name__ == '__main__':
    # Nova would log to the output.
    logging.disable()
    Cloud.OPTIONS = {**Cloud.OPTIONS, 'presets_file': sys.argv[1]}
    with running() as (served, address), plain(served) as without:
        print(json.dumps({'extended': address, 'plain': without}), flush=True)
        sys.stdin.read()
