"""One cloud and one Horizon for all tests of the folder.

They run in Horizon's environment, which has nothing of Nova: the cloud is a
process in Nova's. There are two nova-apis in front of it, ours and Nova's own.
"""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import typing

from django.conf import settings
import pytest
import requests

from testing.dashboard import horizon as horizon_module
from tests import environments
from tests.dashboard import browser as browser_module
from tests.dashboard import pages
from tests.dashboard import wizard as wizard_module

#: The newest version of everything.
VERSIONS = 'compute 2.98, image-props-override latest'

#: Seconds between two looks at a server, which leave the cloud some time.
_POLLING = 0.05


# For the tests that need no Horizon: it has a process of its own.
settings.configure(USE_I18N=False)


class Cloud:
    """A cloud, accessed without Horizon.

    :param url: of its site
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(
        self, method: str, path: str, body: typing.Any = None,
        user: str = 'admin',
    ) -> typing.Any:
        """Send a request to nova-api; return its answer, or None."""
        answer = requests.request(
            method, f'{self.url}/compute/v2.1{path}', json=body, timeout=300,
            headers={'X-Auth-Token': user, 'OpenStack-API-Version': VERSIONS})
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def servers(self) -> list[dict[str, typing.Any]]:
        """Return all servers."""
        return self.ask('GET', '/servers/detail')['servers']

    def create(
        self, name: str, overrides: dict[str, str | None],
        image: str = 'debian', flavor: str = 'two-cpus',
        settle: bool = True, user: str = 'demo', preset: str | None = None,
        stop: bool = False,
    ) -> str:
        """Create a server; return its ID once it runs, or is stopped."""
        images = requests.get(f'{self.url}/image/v2/images', timeout=300,
                              params={'name': image}).json()['images']
        made = self.ask('POST', '/servers', {'server': {
            'name': name, 'imageRef': images[0]['id'], 'flavorRef': flavor,
            'networks': 'none', 'image_props_override': overrides,
            **({'image_props_override_preset': preset} if preset else {}),
        }}, user)
        server = made['server']['id']
        if settle:
            self.settled(server)
        if stop:
            self.ask('POST', f'/servers/{server}/action', {'os-stop': None})
            self.settled(server)
        return server

    def settled(self, server: str) -> dict[str, typing.Any]:
        """Return a server once nothing is being done to it."""
        while True:
            shown = self.ask('GET', f'/servers/{server}')['server']
            if shown['status'] != 'BUILD' and not shown[
                    'OS-EXT-STS:task_state']:
                return shown
            time.sleep(_POLLING)

    def clear(self) -> None:
        """Delete all servers, and forget the requests so far."""
        for server in self.servers():
            self.settled(server['id'])
            self.ask('DELETE', f'/servers/{server["id"]}')
        while self.servers():
            time.sleep(_POLLING)
        self.forget()

    def forget(self) -> None:
        """Forget the requests so far."""
        requests.delete(f'{self.url}/requests', timeout=300)

    def requests(self, method: str, path: str) -> list[dict[str, typing.Any]]:
        """Return the requests to a path of nova-api since :meth:`forget`."""
        return [each for each in requests.get(
            f'{self.url}/requests', timeout=300).json()
            if each['method'] == method
            and each['path'].partition('?')[0] == f'/compute/v2.1{path}']


@pytest.fixture(scope='session')
def _presets_file(tmp_path_factory):
    path = tmp_path_factory.mktemp('cloud') / 'presets.yaml'
    shutil.copy(environments.ROOT / 'testing/site/presets.yaml', path)
    return path


@pytest.fixture
def presets(_presets_file):
    """Replace a text in the file of presets, for one test."""
    before = _presets_file.read_text()

    def replace(old, new):
        assert old in before
        _presets_file.write_text(before.replace(old, new))
    yield replace
    _presets_file.write_text(before)


@pytest.fixture(scope='session')
def _urls(_presets_file):
    python = environments.find(
        'dashboard', 'NOVA', '.venv/nova-34', 'bin/python') / 'bin/python'
    with subprocess.Popen(
            [python, '-W', 'ignore', '-m', 'testing.dashboard.cloud',
             _presets_file], cwd=environments.ROOT, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            ) as process:
        try:
            # Nova logs to its output before it can be told not to.
            for line in process.stdout:
                if line.startswith('{'):
                    break
            else:
                pytest.fail('the cloud has ended:\n'
                            + process.stderr.read()[-4000:])
            yield json.loads(line)
        finally:
            process.stdin.close()
            process.wait(120)


@pytest.fixture(scope='session')
def _static(tmp_path_factory):
    return horizon_module.make_static(tmp_path_factory.mktemp('static'))


@pytest.fixture(scope='session')
def _horizon(_urls, _static, tmp_path_factory):
    def running(cloud, settings=''):
        return horizon_module.running(
            tmp_path_factory.mktemp('horizon'),
            f'{_urls[cloud]}/identity/v3', _static, settings)
    return running


@pytest.fixture(scope='session')
def horizon_url(_horizon):
    """Horizon in front of the cloud."""
    with _horizon('extended') as url:
        yield url


@pytest.fixture(scope='module')
def busy_horizon_url(_horizon):
    """Horizon that has forgotten each client when it is asked for it again.

    By default it remembers the last 25 of all its threads (horizon/utils/
    memoized.py).
    """
    with _horizon('extended', 'MEMOIZED_MAX_SIZE_DEFAULT = 0\n') as url:
        yield url


@pytest.fixture
def failing_horizon_url(_horizon):
    """Horizon that gets an error where it asks for the extension."""
    with _horizon('extended', 'from nova_image_override import versions\n'
                  'versions.PATH = "/servers?limit=none"\n') as url:
        yield url


@pytest.fixture(scope='session')
def plain_horizon_url(_horizon):
    """Horizon in front of the cloud without the extension."""
    with _horizon('plain') as url:
        yield url


@pytest.fixture
def cloud(_urls):
    """The cloud; it has no servers to begin with."""
    found = Cloud(_urls['extended'])
    found.clear()
    return found


@pytest.fixture
def stopped(cloud):
    """A stopped server with overrides."""
    return cloud.create('web-1', pages.OVERRIDES, stop=True)


@pytest.fixture
def plain_cloud(_urls, cloud):
    """The same cloud without the extension."""
    plain = Cloud(_urls['plain'])
    plain.forget()
    return plain


@pytest.fixture
def _chromium():
    # One for each test: an answer that is still on its way to the page of
    # another brings the cookie of its session.
    with browser_module.running() as driver:
        yield driver


@pytest.fixture
def browser(_chromium, horizon_url, cloud):
    """A browser that nobody is logged in with; its console stays empty."""
    return browser_module.Browser(horizon_url, _chromium)


@pytest.fixture
def picture(browser, tmp_path):
    """Take a picture for the documentation.

    It is kept there if PICTURES is set, and otherwise only taken.
    """
    folder = environments.ROOT / 'docs' / 'source' / 'pictures' if (
        os.environ.get('PICTURES')) else tmp_path

    def take(name: str, selector: str | None = None) -> None:
        browser.screenshot(folder / f'{name}.png', selector)
    return take


@pytest.fixture
def plain_browser(_chromium, plain_horizon_url):
    """The same in front of the cloud without the extension."""
    return browser_module.Browser(plain_horizon_url, _chromium)


@pytest.fixture
def wizard(browser):
    """Launch Instance, not yet open."""
    return wizard_module.Wizard(browser)


@pytest.fixture(scope='module')
def _sessions():
    return {}


@pytest.fixture
def session(_sessions, horizon_url, cloud):
    """Return the session of a user, who logs in once."""
    def get(user='demo'):
        if user not in _sessions:
            _sessions[user] = pages.Session(horizon_url, user)
        return _sessions[user]
    return get
