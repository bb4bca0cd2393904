"""A real Heat's engine code, in a process of its own."""

import json
import pathlib
import subprocess
import typing

import pytest

from tests import environments

STOP = {'image_props_override_update_policy': 'STOP'}

PLUGINS = environments.ROOT / 'nova_image_override' / 'client' / 'heat'
DRIVER = pathlib.Path(__file__).parent / 'engine' / 'drive.py'

CONFIG = '''
[DEFAULT]
deferred_auth_method = password
plugin_dirs = {plugins}
environment_dir = {environment}/etc/heat/environment.d
template_dir = {environment}/etc/heat/templates
[database]
connection = sqlite:///{folder}/heat.sqlite
[oslo_messaging_notifications]
driver = noop
'''


#: A stack of one server; tests fill it in.
TEMPLATE = '''
heat_template_version: 2021-04-16
resources:
  guest:
    type: OS::Nova::Server
    properties:
      name: guest
      networks: [{allocate_network: none}]
      user_data_format: RAW
'''


def created(answer: dict[str, typing.Any]) -> str:
    """Assert that the stack is complete; return the server's id."""
    assert answer.get('state') == 'CREATE_COMPLETE', answer
    return answer['resources']['guest']


def failed(answer: dict[str, typing.Any]) -> str:
    """Assert that what was done with a stack failed; return the reason."""
    assert answer.get('state', '').endswith('_FAILED'), answer
    return answer['reason']


def refused(answer: dict[str, typing.Any]) -> str:
    """Assert that Heat found the template wrong; return what it says."""
    assert answer.get('kind') == 'StackValidationFailed', answer
    return answer['error']


class Heat:
    """An engine that runs in a process of its own.

    :param folder: for its files
    :param identity: URL of Keystone
    :param project: the user's project
    """

    def __init__(
        self, folder: pathlib.Path, identity: str, project: str,
    ) -> None:
        where = environments.find(
            'Heat', 'HEAT', '.venv/heat-27', 'bin/python')
        (folder / 'heat.conf').write_text(CONFIG.format(
            plugins=PLUGINS, folder=folder,
            environment=where))
        self._log = folder / 'log'
        with self._log.open('w') as log:
            self._process = subprocess.Popen(
                [where / 'bin' / 'python', '-W', 'ignore', DRIVER, folder,
                 identity, project], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, text=True)
        self._line('ready')

    def _line(self, start: str) -> str:
        assert self._process.stdout is not None
        # Heat's libraries may print, too.
        for line in self._process.stdout:
            if line.startswith(start):
                return line[len(start):]
        pytest.fail('Heat has ended:\n' + self._log.read_text()[-4000:])

    def __call__(self, do: str, **request: typing.Any) -> typing.Any:
        """Call a method of the driver; return its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({'do': do, **request}) + '\n')
        self._process.stdin.flush()
        return json.loads(self._line('answer '))

    def stop(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def status(cloud, server):
    return cloud.request('GET', f'/servers/{server}').body['server']['status']


def in_force(cloud, server):
    return cloud.request('GET', f'/servers/{server}').body['server'][
        'image_props_override']


def used(cloud, server):
    """Return the name of a server's preset, and the overrides."""
    shown = cloud.request('GET', f'/servers/{server}').body['server']
    preset = shown['image_props_override_preset']
    return preset and preset['name'], shown['image_props_override']


def updated(stack, server, template):
    """Update a stack whose server is to stay."""
    answer = stack('update', template)
    assert answer['state'] == 'UPDATE_COMPLETE', answer
    assert answer['resources']['guest'] == server
