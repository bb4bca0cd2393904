"""RHOSO's Containerfile on Nova 27 and Python 3.9, which are RHOSO 18's.

The base is not EL 9: Nova from PyPI lies where its packages put it. nova-api is
the script that the operator's Apache loads, with a server of its own.
"""

import re

import pytest

from tests.images import image
from tests.kits import kit
from tests.kits import web_servers


@pytest.fixture(scope='module', params=['rhoso-api', 'rhoso'])
def base(request, debian):
    return image.base(request.param, '27', python='3.9')


@pytest.fixture(scope='module')
def built(base, wheel):
    return image.build(
        f'{base}-override', kit.DEPLOY / 'rhoso' / 'Containerfile', wheel,
        f'--build-arg=NOVA={base}')


def paste_command():
    """Return what the README prints api-paste.ini with."""
    readme = (kit.DEPLOY / 'rhoso' / 'README.md').read_text()
    return re.search(r"(sed '\S+' /etc/nova/api-paste.ini) >", readme)[1]


def test_nova_api_starts_and_says_what_is_allowed(built, identity, log):
    with image.container(built) as container:
        paste = container.run('sh', '-c', paste_command())
        (container.root / 'etc/nova/api-paste.ini').write_text(paste)
        container.configure(identity)
        container.assert_nova_api_would_start()
        port = web_servers.free_port()
        container.assert_discovery(
            ['python3', '-c', image.SCRIPT_SERVER, '/usr/bin/nova-api-wsgi',
             str(port)], port, log)


def test_nova_compute_is_the_other_command_where_there_is_one(base, built):
    with image.container(built) as container:
        command = container.root / 'usr/bin/nova-compute'
        if 'rhoso-api' in base:
            assert not command.exists()
            return
        assert command.readlink().name == 'nova-compute-image-override'
        # It checks Nova before it reads any option.
        said = container.run('/usr/bin/nova-compute', '--version', user='nova')
        assert said.startswith('27.'), said
