"""Nova's api-paste.ini, with the extension or without it."""

import pathlib
import sys

APP = 'nova_image_override.api.router:APIRouterV21.factory'
NOVA_APP = 'nova.api.openstack.compute:APIRouterV21.factory'


def write(
    folder: pathlib.Path, app: str,
    etc: pathlib.Path = pathlib.Path(sys.prefix, 'etc'),
) -> str:
    """Write Nova's own api-paste.ini with the README's one line changed.

    :param app: what ``[app:osapi_compute_app_v21]`` names
    :param etc: where services have their files
    """
    line = 'paste.app_factory = '
    text = (etc / 'nova' / 'api-paste.ini').read_text()
    assert line + NOVA_APP in text
    path = folder / 'api-paste.ini'
    path.write_text(text.replace(line + NOVA_APP, line + app))
    return str(path)
