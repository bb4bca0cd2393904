"""``make demo-serve`` serves what it prints, until it is told to end."""

import json
import re
import signal
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import requests

from tests.clients import tools

pytestmark = pytest.mark.skipif(
    not tools.NEWEST, reason='whose clients they are changes nothing')


@pytest.fixture
def folder(tmp_path):
    """Where everything temporary goes."""
    return tmp_path


@pytest.fixture
def served(folder):
    """The running process, and what it printed before waiting."""
    with subprocess.Popen(
            [sys.executable, '-m', 'demo', '--serve', '--clients',
             str(tools.CLIENTS / 'bin')],
            cwd=tools.ROOT, env={'TMPDIR': str(folder), 'PATH': '/usr/bin'},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            ) as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith('Ctrl-C'):
                break
        try:
            yield process, ''.join(lines)
        finally:
            process.kill()


def openstack(printed, command):
    """Run a command in a shell that has done what was printed."""
    exports = '\n'.join(re.findall('^export .*$', printed, re.M))
    return subprocess.run(
        ['/bin/sh', '-c', f'{exports}\n{command}'], capture_output=True,
        text=True, timeout=300, check=False)


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_a_client_works_until_a_signal_and_nothing_is_left(
        served, folder, number):
    process, printed = served
    done = openstack(
        printed, 'openstack server create --image debian --flavor two-cpus '
        '--image-prop-override hw_disk_bus=scsi --wait guest >/dev/null && '
        'openstack server show guest -f json -c image_props_override')
    assert done.returncode == 0, done.stderr
    assert '"hw_disk_bus": "scsi"' in done.stdout
    assert list(folder.iterdir())
    process.send_signal(number)
    rest, errors = process.communicate(timeout=120)
    assert (process.returncode, rest, errors) == (0, '', '')
    assert list(folder.iterdir()) == []
    done = openstack(printed, 'openstack --os-cloud demo flavor list')
    assert 'Cloud demo was not found' in done.stderr


def test_a_guest_s_definition_can_be_read_through_resize_and_rescue(served):
    _, printed = served
    (url,) = re.findall('^curl (http://127.0.0.1:.*/)NAME$', printed, re.M)

    def guest():
        return ElementTree.fromstring(
            requests.get(f'{url}guest', timeout=60).text)

    def settled(status):
        """Wait for a status, as the client does for few operations."""
        return (f'until openstack server show guest -f value -c status | '
                f'grep -qx {status}; do sleep 1; done')

    def run(*commands):
        done = openstack(printed, ' && '.join(commands))
        assert done.returncode == 0, done.stderr

    assert requests.get(f'{url}guest', timeout=60).status_code == 404
    run('openstack server create --image debian --flavor two-cpus --wait '
        '--image-prop-override hw_disk_bus=scsi guest')
    assert guest().find('devices/disk/target').get('bus') == 'scsi'
    assert guest().findtext('vcpu') == '2'
    run('openstack server resize --flavor nfv --wait guest',
        'openstack server resize confirm guest', settled('ACTIVE'))
    assert guest().findtext('vcpu') == '4'
    assert guest().find('devices/disk/target').get('bus') == 'scsi'
    run('openstack server rescue guest', settled('RESCUE'))
    assert len(guest().findall('devices/disk')) == 2
    run('openstack server unrescue guest', settled('ACTIVE'))
    assert len(guest().findall('devices/disk')) == 1


def test_only_what_is_needed_is_printed_and_boots_a_server_with_large_pages(
        served):
    _, printed = served
    assert 'nova-image-override' in printed
    assert '\033' not in printed
    assert re.search('^export OS_CLOUD=demo OS_CLIENT_CONFIG_FILE=/',
                     printed, re.M)
    assert not re.search('Warning|DEBUG|INFO|Traceback', printed)
    create, show = re.findall(r'^openstack (?:.*\\\n)*.*$', printed, re.M)
    assert openstack(printed, create).returncode == 0
    done = openstack(printed, f'{show} -f json -c topology')
    assert done.returncode == 0, done.stderr
    topology = json.loads(done.stdout)['topology']
    assert [node['memory_mb'] for node in topology['nodes']] == [2048]
    assert topology['pagesize_kb'] == 2048
