"""OpenStack-Helm's Dockerfile on Nova 32 and Python 3.12, with its values.

The base is not Loci's: Nova from PyPI lies where Loci puts it. nova-api is the
script that the chart's uWSGI loads, with a server of its own.
"""

import configparser
import io

import pytest

from tests.images import image
from tests.kits import kit
from tests.kits import web_servers


@pytest.fixture(scope='module')
def built(debian, wheel):
    base = image.base('loci', '32', python='3.12')
    return image.build(
        f'{base}-override', kit.DEPLOY / 'openstack-helm' / 'Dockerfile',
        wheel, f'--build-arg=NOVA={base}')


def merged(path):
    """Return api-paste.ini as the chart writes it: the values over Nova's."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(path)
    parser.read_dict(kit.read('openstack-helm/values.yaml')['conf']['paste'])
    text = io.StringIO()
    parser.write(text)
    return text.getvalue()


def test_nova_api_starts_and_says_what_is_allowed(built, identity, log):
    with image.container(built) as container:
        paste = container.root / 'etc/nova/api-paste.ini'
        paste.write_text(merged(paste))
        container.configure(identity)
        container.assert_nova_api_would_start()
        port = web_servers.free_port()
        container.assert_discovery(
            ['python3', '-c', image.SCRIPT_SERVER,
             '/var/lib/openstack/bin/nova-api-wsgi', str(port)], port, log)


def test_nova_compute_is_the_other_command(built):
    with image.container(built) as container:
        # As the chart's script starts it: by name.
        said = container.run('nova-compute', '--version', user='nova')
        assert said.startswith('32.'), said
        command = container.run('which', 'nova-compute').strip()
        assert (container.root / command.lstrip('/')).readlink().name == (
            'nova-compute-image-override')
