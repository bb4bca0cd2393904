"""What a nova-api needs to start alone under a web server.

Its own databases, and a Keystone that says who sent a token. No request in
these tests reaches another service.
"""

import contextlib
import pathlib
import signal
import socket
import subprocess
import time
import typing

from keystoneauth1 import fixture
from nova.db.api import models as api_models
from nova.db.main import models as main_models
import requests
import sqlalchemy
import webob
import webob.dec
import webob.exc

from testing import paste_config

#: Token of the user who asks; Nova's own user has another.
TOKEN = 'member'  # noqa: S105

#: What tests allow.
ALLOWED = 'hw_disk_bus=virtio|scsi, hw_scsi_model=virtio-scsi'

_CONF = '''\
[DEFAULT]
state_path = {folder}
transport_url = fake:/
log_file = {folder}/nova-api.log
[oslo_concurrency]
lock_path = {folder}
[api_database]
connection = sqlite:///{folder}/api.sqlite
[database]
connection = sqlite:///{folder}/main.sqlite
[keystone_authtoken]
auth_type = password
auth_url = {identity}/v3
username = nova
password = nova
project_name = service
user_domain_name = Default
project_domain_name = Default
[image_override]
allowed_properties = {allowed}
'''


def configure(folder: pathlib.Path, identity: str, allowed: str) -> None:
    """Write the two files of a nova-api, and create its databases.

    :param identity: URL of :func:`identity`
    :param allowed: ``allowed_properties``
    """
    paste_config.write(folder, paste_config.APP)
    (folder / 'nova.conf').write_text(nova_conf(folder, identity, allowed))
    create_databases(folder)


def nova_conf(folder: pathlib.Path, identity: str, allowed: str) -> str:
    """Return the ``nova.conf`` of a nova-api whose files are in FOLDER."""
    return _CONF.format(folder=folder, identity=identity, allowed=allowed)


def create_databases(folder: pathlib.Path) -> None:
    """Create the databases that it names."""
    for name, models in ('api', api_models), ('main', main_models):
        engine = sqlalchemy.create_engine(f'sqlite:///{folder}/{name}.sqlite')
        models.BASE.metadata.create_all(engine)
        engine.dispose()


@webob.dec.wsgify
def identity(request: webob.Request) -> typing.Any:
    """Answer what keystonemiddleware asks of Keystone."""
    url = request.host_url
    if request.path_info.rstrip('/') in ('', '/v3'):
        return webob.Response(json_body={
            'version': fixture.V3Discovery(f'{url}/v3')})
    if request.path_info != '/v3/auth/tokens':
        raise webob.exc.HTTPNotFound()
    token = fixture.V3Token(project_id='project', user_id='user')
    token.add_role('member')
    token.add_service('identity').add_standard_endpoints(
        public=url, internal=url, admin=url)
    if request.method == 'POST':
        return webob.Response(json_body=token, status=201, headers={
            'X-Subject-Token': 'service'})
    if request.headers.get('X-Subject-Token') != TOKEN:
        raise webob.exc.HTTPNotFound()
    return webob.Response(json_body=token)


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return typing.cast(int, listener.getsockname()[1])


def get(url: str) -> requests.Response:
    """Return what GET answers to the user."""
    return requests.get(url, headers={'X-Auth-Token': TOKEN}, timeout=120)


def assert_discovery(url: str) -> None:
    """Fail unless nova-api says to the user what may be overridden."""
    answer = get(f'{url}/v2.1/image-props-override')
    assert answer.status_code == 200, answer.text
    schema = answer.json()['image_props_override']['schema']
    assert set(schema['properties']) == {'hw_disk_bus', 'hw_scsi_model'}


@contextlib.contextmanager
def running(
    command: list[str], url: str, log: pathlib.Path,
    environment: dict[str, str], end: signal.Signals = signal.SIGTERM,
) -> typing.Iterator[None]:
    """Run a web server until the context ends.

    :param url: what it answers once it is up
    :param log: where its output goes
    :param end: what ends it
    :raises AssertionError: it has ended, or is not up within five minutes
    """
    with log.open('wb') as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=environment)
    try:
        deadline = time.monotonic() + 300
        while True:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            try:
                get(url)
                break
            except requests.ConnectionError:
                time.sleep(0.2)
        yield
    finally:
        process.send_signal(end)
        process.wait(timeout=60)
