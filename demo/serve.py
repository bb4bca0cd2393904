"""``make demo-serve``: a cloud that stays up, for any client."""

import pathlib
import signal
import tempfile
import typing

from demo import page as page_module
from demo import story
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
          loopback.serving(site.Site(cloud, cloud.api_fixture.app())) as url):
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
        page.line('Ctrl-C ends it, and leaves nothing behind.')
        while True:
            signal.pause()
