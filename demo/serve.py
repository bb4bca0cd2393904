"""``make demo-serve``: a cloud that stays up, for any client."""
from __future__ import annotations

import pathlib
import signal
import tempfile
import typing

from demo import page as page_module
from demo import story
from testing import wsgi_server
from testing.site import cloud as cloud_module
from testing.site import loopback
from testing.site import site


def until_stopped(
    page: page_module.Page, clients: str | None,
) -> typing.NoReturn:
    """Keep a cloud up until a signal ends the process.

    :param clients: folder that has the clients' commands, if known
    """
    # Before the cloud, whose harness nests folders for temporary files.
    with (tempfile.TemporaryDirectory(prefix='nova-image-override-') as folder,
          cloud_module.Cloud.running() as cloud,
          wsgi_server.serving(
              site.Site(cloud, cloud.api_fixture.app())) as url):
        # As by default. Here, unlike in a cloud, a rebuild has finished when
        # it is answered, and the answer has no "progress".
        cloud.flags(response_validation='warn', group='api')
        loopback.furnish(cloud)
        path = loopback.clouds_yaml(
            pathlib.Path(folder), url, vendor_hook=loopback.VENDOR_HOOK)
        story.introduce(page)
        page.heading(f'Up at {url}')
        page.line('In another terminal:')
        page.line()
        page.line(f'export OS_CLOUD=demo OS_CLIENT_CONFIG_FILE={path}')
        if clients:
            page.line(f'export PATH={pathlib.Path(clients).resolve()}:$PATH')
        page.line()
        page.line('The libvirt XML of a guest, by the name or the ID of its '
                  'server:')
        page.line()
        page.line(f'curl {url}/guest/NAME')
        page.line()
        _tell_nfv(page)
        page.line()
        page.line('No guest runs, so there is no console and no migration to '
                  'another host; servers')
        page.line('can be stopped, resized, rescued and rebuilt.')
        page.line()
        page.line('Ctrl-C ends it, and leaves nothing behind.')
        while True:
            signal.pause()


def _tell_nfv(page: page_module.Page) -> None:
    """Explain the flavors, and boot a server with large pages."""
    page.line('The host has 8 dedicated CPUs, and 4 GiB of each of its two '
              'NUMA nodes in pages')
    page.line('of 2 MiB and 4 GiB in pages of 1 GiB. The flavors:')
    page.line()
    page.table(['flavor', 'vCPUs', 'MiB', 'extra specs'], [
        [name, str(vcpus), str(ram), ' '.join(
            f'{key.replace("__", ":")}={value}'
            for key, value in specs.items())]
        for name, (vcpus, ram, specs) in cloud_module.FLAVORS.items()])
    page.line()
    page.line('A server with pages of 2 MiB, and what it got:')
    page.line()
    page.line('openstack --os-cloud demo server create --image debian '
              '--flavor nfv --wait \\')
    page.line('    --image-prop-override hw_mem_page_size=2MB huge')
    page.line('openstack --os-cloud demo --os-compute-api-version 2.78 \\')
    page.line('    server show --topology huge')
