"""A real Ironic: its environment, its process, its HTTP API."""

import os
import pathlib
import socket
import subprocess
import time
import typing

import pytest
import requests

from tests import environments
from tests.drivers.ironic import images

SERVER = pathlib.Path(__file__).parent / 'server'

#: What the deploy template named by the key runs: a step that records that it
#: ran, see server/recording_ironic.py.
TEMPLATES = {
    'CUSTOM_RAID5': {
        'interface': 'raid', 'args': {'raid_config': {'logical_disks': [
            {'size_gb': 'MAX', 'raid_level': '5'}]}}},
    'CUSTOM_UEFI': {
        'interface': 'bios', 'args': {'settings': [
            {'name': 'BootMode', 'value': 'Uefi'}]}},
}

CONFIG = '''
[DEFAULT]
auth_strategy = noauth
rpc_transport = none
host = localhost
my_ip = 127.0.0.1
state_path = {folder}
tempdir = {folder}
enabled_hardware_types = fake-hardware
{interfaces}
[api]
host_ip = 127.0.0.1
port = {port}
[conductor]
automated_clean = false
[database]
connection = sqlite:///{folder}/ironic.sqlite
[glance]
auth_type = none
endpoint_override = {glance}
[oslo_concurrency]
lock_path = {folder}/locks
'''

_FAKE = ('boot', 'console', 'deploy', 'inspect', 'management', 'power',
         'rescue', 'vendor')
_OTHERS = {'bios': 'recording', 'raid': 'recording', 'network': 'noop',
           'storage': 'noop', 'firmware': 'no-firmware'}

#: How setuptools tells Ironic about the interfaces.
ENTRY_POINTS = '''
[ironic.hardware.interfaces.bios]
recording = recording_ironic:BIOS
[ironic.hardware.interfaces.raid]
recording = recording_ironic:RAID
'''


def _interfaces() -> str:
    # The default of an interface would be the hardware type's own.
    chosen = {**dict.fromkeys(_FAKE, 'fake'), **_OTHERS}
    return '\n'.join(
        f'enabled_{kind}_interfaces = {name}\n'
        f'default_{kind}_interface = {name}' for kind, name in chosen.items())


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(('127.0.0.1', 0))
        return listening.getsockname()[1]


class Ironic:
    """A running Ironic: API and conductor, with one node.

    The node is of fake hardware, has the traits of ``TEMPLATES`` and the
    resource class ``gold``, and is available.

    :ivar url: where it answers
    :ivar glance: where it finds images
    """

    VERSION = '1.95'

    def __init__(
        self, folder: pathlib.Path, glance: images.Images,
    ) -> None:
        """Start it, and make the node.

        :param glance: where its conductor finds images
        """
        self.glance = glance
        python = environments.find(
            'drivers', 'IRONIC_PYTHON', '.venv/ironic-39/bin/python')
        port = _free_port()
        self.url = f'http://127.0.0.1:{port}'
        config = folder / 'ironic.conf'
        config.write_text(CONFIG.format(
            folder=folder, port=port, glance=glance.url,
            interfaces=_interfaces()))
        distribution = folder / 'recording_ironic-1.dist-info'
        distribution.mkdir()
        (distribution / 'METADATA').write_text(
            'Metadata-Version: 2.1\nName: recording-ironic\nVersion: 1\n')
        (distribution / 'entry_points.txt').write_text(ENTRY_POINTS)
        environment = {**os.environ, 'PYTHONPATH': f'{SERVER}:{folder}',
                       'PYTHONWARNINGS': 'ignore'}
        self._log = (folder / 'log').open('w')
        subprocess.run(
            [python.parent / 'ironic-dbsync', '--config-file', config,
             'create_schema'], env=environment, check=True,
            stdout=self._log, stderr=self._log)
        self._process = subprocess.Popen(
            [python.parent / 'ironic', '--config-file', config],
            env=environment, stdout=self._log, stderr=self._log)
        try:
            self._wait_for_the_api()
            self._make_templates()
            self.node = self._make_node()
        except BaseException:
            self.stop()
            print((folder / 'log').read_text()[-4000:])
            raise

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def request(self, method: str, path: str,
                body: typing.Any = None) -> typing.Any:
        """Send a request that must succeed; return the answer."""
        response = requests.request(
            method, f'{self.url}/v1{path}', json=body, timeout=60,
            headers={'X-OpenStack-Ironic-API-Version': self.VERSION})
        assert response.ok, response.text
        return response.json() if response.text else None

    def show(self) -> dict[str, typing.Any]:
        """Return the node."""
        return self.request('GET', '/nodes/metal-1')

    def steps(self) -> list[str]:
        """Return the steps of deploy templates that ran, and forget them."""
        steps = self.show()['extra'].get('steps', [])
        if steps:
            self.request('PATCH', '/nodes/metal-1', [
                {'op': 'remove', 'path': '/extra/steps'}])
        return steps

    def wait_until_available(self) -> None:
        """Wait until the node can be deployed on."""
        self._until(lambda node: node['provision_state'] == 'available'
                    and not node['instance_uuid'])

    def _until(self, reached: typing.Callable[[dict], bool]) -> None:
        deadline = time.monotonic() + 120
        while not reached(node := self.show()):
            assert time.monotonic() < deadline, node
            time.sleep(0.1)

    def _wait_for_the_api(self) -> None:
        deadline = time.monotonic() + 180
        while True:
            try:
                if self.request('GET', '/drivers')['drivers']:
                    return
            except requests.ConnectionError:
                pass
            if self._process.poll() is not None or \
                    time.monotonic() > deadline:
                pytest.fail('Ironic does not start')
            time.sleep(0.2)

    def _make_templates(self) -> None:
        for trait, step in TEMPLATES.items():
            self.request('POST', '/deploy_templates', {
                'name': trait, 'steps': [
                    {**step, 'step': 'apply_configuration', 'priority': 150}]})

    def _make_node(self) -> str:
        node = self.request('POST', '/nodes', {
            'name': 'metal-1', 'driver': 'fake-hardware',
            'resource_class': 'gold', 'properties': {
                'cpus': 4, 'memory_mb': 8192, 'local_gb': 100,
                'cpu_arch': 'x86_64'}})['uuid']
        path = f'/nodes/{node}'
        self.request('PUT', f'{path}/traits', {'traits': list(TEMPLATES)})
        self.request('POST', '/ports', {
            'node_uuid': node, 'address': '52:54:00:00:00:01'})
        for target, state in (('manage', 'manageable'),
                              ('provide', 'available')):
            self.request('PUT', f'{path}/states/provision',
                         {'target': target})
            self._until(lambda node, state=state:
                        node['provision_state'] == state)
        # Fake power is in no state before it is set for the first time, which
        # IronicDriver._node_resources_unavailable takes for unavailable.
        self.request('PUT', f'{path}/states/power', {'target': 'power off'})
        self._until(lambda node: node['power_state'] == 'power off')
        return node
