"""Horizon with our plugin, whose users Keystone knows."""

import json
import subprocess

import pytest

from testing.dashboard import horizon
from testing.deployment import places
from testing.deployment import state
from testing.deployment import tenants
from tests import environments
from tests.dashboard import pages

USER = 'tenant'


@pytest.fixture(scope='module')
def url(deployment, tmp_path_factory):
    """Where Horizon is."""
    environments.find(
        'dashboard', 'DASHBOARD', '.venv/dashboard-27', 'bin/python')
    # While one does not answer, the wizard offers no images either.
    tenants.leave(deployment.operator.identity, 'block-storage')
    folder = tmp_path_factory.mktemp('horizon')
    with horizon.running(folder, state.url('keystone', '/v3'),
                         horizon.make_static(folder)) as url:
        yield url


@pytest.fixture
def password(deployment):
    return deployment.state.secret(USER)


@pytest.mark.usefixtures('cleared')
def test_a_tenant_launches_a_server_and_sees_its_overrides(
        deployment, tenant, url, password):
    done = subprocess.run(
        [horizon.ENVIRONMENT / 'bin' / 'python', '-W', 'ignore', '-m',
         'tests.integration.browse', url, USER], cwd=environments.ROOT,
        input=f'{password}\n', capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    assert seen['offered'] == {
        'hw_disk_bus': True, 'hw_rng_model': False, 'hw_numa_nodes': False}
    assert 'flavor' in seen['refused']
    assert not seen['can launch']
    assert seen['launched'] is None
    # Horizon's own complain that the cloud has no security groups.
    assert not [each for each in seen['complaints'] if 'image-props' in each]
    assert seen['badge'] == '2'
    assert seen['tab'] == [
        'hw_disk_bus scsi none', 'hw_scsi_model virtio-scsi none']
    (created,) = places.created(deployment)
    server = places.Server(deployment, tenant, created.id)
    server.settled('ACTIVE')
    assert server.api == places.SCSI
    assert server.told.disks == ['sda']


def test_the_form_of_a_rebuild_says_what_the_tenant_may_not_override(
        deployment, boot, url, password):
    server = boot({'hw_boot_menu': 'true'})
    image = deployment.operator.image.find_image('guest').id
    page = pages.Session(url, USER, password).post(
        f'/project/instances/{server.id}/rebuild', {
            'instance_id': server.id, 'image': image,
            'disk_config': 'AUTO', 'description': '',
            'image_props_override': json.dumps({'image_props_override': {
                'hw_rng_model': 'virtio', 'hw_numa_nodes': '1'}})})
    assert page.url.endswith('/rebuild')
    said = pages.text_of(page)
    assert 'hw_rng_model: not_allowed: ' in said
    assert 'hw_numa_nodes: policy: ' in said
    assert server.api == {'hw_boot_menu': 'true'}
