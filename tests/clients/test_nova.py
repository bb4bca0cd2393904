"""The nova command with overrides."""

import pytest

from nova_image_override import versions
from tests.clients.commands import BOOT
from tests.clients.commands import creates
from tests.clients.commands import nova as run


@pytest.fixture
def nova(client):
    """Run nova against the cloud that has the extension."""
    return lambda *arguments: run(client, *arguments)


def test_boot_sends_overrides_beside_nova_s_version(nova, client, cloud):
    done = nova(*BOOT, '--poll', '--image-prop-override', 'hw_disk_bus=scsi',
                '--image-prop-override', 'os_command_line=a=b=c',
                '--image-prop-override-preset', 'windows', 'guest')
    assert done.returncode == 0, done.stderr
    (request,) = creates(client)
    assert request.body['server']['image_props_override'] == {
        'hw_disk_bus': 'scsi', 'os_command_line': 'a=b=c'}
    assert request.body['server']['image_props_override_preset'] == 'windows'
    assert '"hw_disk_bus": "scsi"' in done.stdout
    assert request.version == (
        f'compute {request.legacy_version}, {versions.SERVICE_TYPE} '
        f'{versions.MAX}')
    (server,) = cloud.http('GET', '/servers').body['servers']
    assert cloud.system_metadata(server['id'])['hw_disk_bus'] == 'scsi'


def test_boot_without_the_option_is_as_it_ever_was(nova, client, cloud):
    assert nova(*BOOT, '--poll', 'guest').returncode == 0
    (request,) = creates(client)
    assert 'image_props_override' not in request.body['server']
    assert versions.SERVICE_TYPE not in request.version


def test_a_refusal_is_shown(nova, client):
    done = nova(*BOOT, '--image-prop-override', 'hw_disk_bus=floppy', 'guest')
    assert done.returncode == 1
    assert 'hw_disk_bus: invalid_value: must be one of ' in done.stderr


def test_a_key_given_twice_is_refused(nova, client):
    done = nova(*BOOT, '--image-prop-override', 'hw_disk_bus=scsi',
                '--image-prop-override', 'hw_disk_bus=ide', 'guest')
    assert done.returncode != 0
    assert 'hw_disk_bus is given twice' in done.stderr
    assert creates(client) == []


def test_a_cloud_without_the_extension_gets_no_request(plain_client):
    done = run(plain_client, *BOOT, '--image-prop-override', 'hw_disk_bus=ide',
               'guest')
    assert done.returncode == 1
    assert 'This cloud does not take image property overrides' in done.stderr
    assert creates(plain_client) == []
