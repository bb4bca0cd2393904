"""nova-api's applications in this process: requests without HTTP."""
from __future__ import annotations

import json
import pathlib
import tempfile
import typing

from paste import deploy
import webob

from nova_image_override import versions
from testing import paste_config

#: A project member, as the harness's api-paste.ini authenticates it.
MEMBER = {'X-Auth-User': 'fake', 'X-User-Id': 'fake',
          'X-Roles': 'member,reader'}
ADMIN = {'X-Auth-User': 'admin', 'X-User-Id': 'admin',
         'X-Roles': 'admin,member,reader'}


def load(app: str) -> typing.Any:
    """Load the application that api-paste.ini names APP.

    It has the options of this moment: the extension reads its rules now.
    """
    with tempfile.TemporaryDirectory() as folder:
        ini = paste_config.write(pathlib.Path(folder), app)
        # As nova/api/wsgi.py Loader.load_app does it.
        return deploy.loadapp(f'config:{ini}', name='osapi_compute')


def version_header(compute: str | None, named: bool) -> dict[str, str]:
    """Return the header that asks for versions.

    :param compute: Nova's microversion, or None
    :param named: whether the extension is named, in its newest version
    """
    entries = [f'compute {compute}'] if compute else []
    if named:
        entries.append(f'{versions.SERVICE_TYPE} {versions.MAX}')
    return {versions.HEADER: ', '.join(entries)} if entries else {}


def request(
    method: str, path: str, body: typing.Any = None, *,
    headers: dict[str, str], content_type: str | None = 'application/json',
) -> webob.Request:
    """Make a request.

    :param path: from the root of nova-api, its version included
    :param body: what to send as JSON; bytes are sent as they are
    """
    if body is None:
        body = b''
    elif not isinstance(body, bytes):
        body = json.dumps(body).encode()
    made = webob.Request.blank(
        path, method=method, body=body, headers=headers)
    # webob gives requests with a body a content type of its own.
    made.headers.pop('Content-Type', None)
    if content_type is not None:
        made.headers['Content-Type'] = content_type
    return made
