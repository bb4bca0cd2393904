"""A real Glance: its environment, its process, its HTTP API."""

import json
import os
import pathlib
import subprocess
import time
import typing
import uuid

import pytest
import requests

from tests import environments

SERVER = pathlib.Path(__file__).parent / 'server'

#: The tenants' project, that of Nova's functional tests.
PROJECT = '6f70656e737461636b20342065766572'

MEMBER = f'fake:{PROJECT}:member,reader'
ADMIN = f'admin:{PROJECT}:admin,member,reader'

PROTECTIONS = '''
[^hw_pmu$]
create = admin
read = @
update = admin
delete = admin

[^hw_video_model$]
create = @
read = @
update = admin
delete = admin

[.*]
create = @
read = @
update = @
delete = @
'''

IMPORT = '''
[image_import_opts]
image_import_plugins = [inject_image_metadata]

[inject_metadata_properties]
ignore_user_roles = admin
inject = hw_vif_model:e1000,x_origin:tenant
'''

CONFIG = '''
[DEFAULT]
log_file = {folder}/log
property_protection_file = {folder}/property-protections.conf
enabled_import_methods = [glance-direct]
enabled_backends = main:file
[glance_store]
default_backend = main
[main]
filesystem_store_datadir = {folder}/images
[os_glance_staging_store]
filesystem_store_datadir = {folder}/staging
[os_glance_tasks_store]
filesystem_store_datadir = {folder}/tasks
[database]
connection = sqlite:///{folder}/glance.sqlite?timeout=60
[paste_deploy]
config_file = {folder}/paste.ini
flavor = test
[oslo_concurrency]
lock_path = {folder}/locks
'''

#: Added to the api-paste.ini that Glance ships.
PASTE = '''
[composite:glance-api-test]
paste.composite_factory = glance.api:root_app_factory
/: api

[filter:identity]
paste.filter_factory = identity:filter_factory
'''


def python() -> pathlib.Path:
    """Return the interpreter of Glance's environment."""
    return environments.find(
        'Glance', 'GLANCE_PYTHON', '.venv/glance-33/bin/python')


class Glance:
    """A running Glance.

    :ivar url: where it answers
    :ivar folder: where its configuration files are
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        interpreter = python()
        for name in ('images', 'staging', 'tasks', 'locks'):
            (folder / name).mkdir()
        shipped = interpreter.parent.parent / 'etc/glance/glance-api-paste.ini'
        pipelines = '[composite:api]\npaste.composite_factory = ' \
            'glance.api:pipeline_factory\n'
        text = shipped.read_text()
        assert pipelines in text
        (folder / 'paste.ini').write_text(text.replace(
            pipelines, pipelines + 'test = versionnegotiation identity '
            'context rootapp\n') + PASTE)
        (folder / 'glance-api.conf').write_text(
            CONFIG.format(folder=folder))
        (folder / 'glance-image-import.conf').write_text(IMPORT)
        (folder / 'property-protections.conf').write_text(PROTECTIONS)
        environment = {**os.environ, 'PYTHONPATH': str(SERVER),
                       'PYTHONWARNINGS': 'ignore'}
        self._log = (folder / 'log').open('a')
        subprocess.run(
            [interpreter.parent / 'glance-manage', '--config-file',
             folder / 'glance-api.conf', 'db', 'sync'],
            env=environment, check=True, stdout=self._log,
            stderr=self._log)
        self._process = subprocess.Popen(
            [interpreter, SERVER / 'serve.py', folder], env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            text=True)
        assert self._process.stdout is not None
        # Glance's libraries may print before it.
        for line in self._process.stdout:
            if line.startswith('port '):
                self.url = f'http://127.0.0.1:{line.split()[1]}'
                break
        else:
            pytest.fail('Glance does not start:\n'
                        + (folder / 'log').read_text()[-4000:])

    def stop(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._log.close()

    def request(
        self, method: str, path: str, body: typing.Any = None,
        token: str = MEMBER, kind: str = 'application/json',
    ) -> requests.Response:
        """Send a request; bytes are sent as they are."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return requests.request(
            method, f'{self.url}/v2{path}', data=body, timeout=60,
            headers={'X-Auth-Token': token, 'Content-Type': kind})

    def ok(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """Send a request that must succeed; return the answer."""
        response = self.request(*args, **kwargs)
        assert response.ok, response.text
        return response.json() if response.text else None

    def create(self, token: str = MEMBER, **properties: str) -> str:
        """Make an image without data, and return its id."""
        return self.ok('POST', '/images', {
            'id': str(uuid.uuid4()), 'name': 'test', 'disk_format': 'raw',
            'container_format': 'bare', **properties}, token)['id']

    def imported(self, token: str = MEMBER, **properties: str) -> str:
        """Import an image by glance-direct, and return its id."""
        image = self.create(token, **properties)
        self.ok('PUT', f'/images/{image}/stage', b'data', token,
                'application/octet-stream')
        self.ok('POST', f'/images/{image}/import',
                {'method': {'name': 'glance-direct'}}, token)
        # The image is active before the import has saved it for the last time
        # and given up its lock. Only then are the tasks asked for: Glance
        # writes where it lists them, and SQLite refuses what an import stores
        # after it has read where another has written in between.
        for _ in range(300):
            shown = self.show(image)
            if shown['status'] == 'active' and \
                    'os_glance_import_task' not in shown:
                tasks = self.ok('GET', f'/images/{image}/tasks', None, token)
                if all(each['status'] == 'success' for each in tasks['tasks']):
                    return image
            time.sleep(0.1)
        raise AssertionError((
            shown, (self.folder / 'log').read_text()[-4000:]))

    def show(self, image: str) -> dict[str, typing.Any]:
        """Return an image as its tenant sees it."""
        return self.ok('GET', f'/images/{image}')

    def set(
        self, image: str, name: str, value: str, token: str,
        operation: str = 'add',
    ) -> requests.Response:
        """Set a property of an image."""
        return self.request(
            'PATCH', f'/images/{image}',
            [{'op': operation, 'path': f'/{name}', 'value': value}], token,
            'application/openstack-images-v2.1-json-patch')
