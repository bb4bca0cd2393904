"""Ansible, whose modules get their tokens from Keystone."""

import json

import pytest

from testing.deployment import places
from testing.deployment import tenants
from tests.ansible import real

OVERRIDES = {**places.SCSI, 'hw_boot_menu': 'true'}
BOOT = 'Boot the server'


def of_this_cloud(path, cloud='tenant'):
    """Return a playbook of the documentation, for what there is here."""
    text = path.read_text()
    for named, here in {
            'cloud: demo': f'cloud: {cloud}',
            'name: guest': 'name: test-guest', 'image: debian': 'image: guest',
            'name: two-cpus': 'name: small'}.items():
        text = text.replace(named, here)
    return text


@pytest.fixture(scope='module')
def credential(deployment):
    """What clouds.yaml has in place of the tenant's password."""
    identity = tenants.connect(deployment.state, 'tenant').identity
    owner = identity.session.auth.get_user_id(identity.session)
    made = identity.create_application_credential(owner, 'test-ansible')
    yield {'application_credential_id': made.id,
           'application_credential_secret': made.secret}
    identity.delete_application_credential(owner, made)


@pytest.fixture
def ansible(deployment, credential, cleared, tmp_path):
    def clouds(**keys):
        known = json.loads(tenants.write_clouds(deployment.state).read_text())
        tenant = known['clouds']['tenant']
        known['clouds']['credential'] = {
            **tenant, 'auth_type': 'v3applicationcredential',
            'auth': {'auth_url': tenant['auth']['auth_url'], **credential}}
        for cloud in known['clouds'].values():
            cloud.update(keys)
        path = tmp_path / 'clouds.yaml'
        path.write_text(json.dumps(known))
        return path

    return real.Ansible(tmp_path, clouds)


@pytest.fixture
def run(ansible):
    """Run a playbook, which succeeds; return the results of its tasks."""
    def run(path, cloud='tenant'):
        succeeded, tasks = ansible.run(of_this_cloud(path, cloud))
        assert succeeded, str(tasks)
        return tasks

    return run


@pytest.fixture
def the_server(deployment, tenant):
    """Return the one server that there is."""
    def find():
        (found,) = places.created(deployment)
        return places.Server(deployment, tenant, found.id)

    return find


def test_playbooks_boot_a_server_and_change_it(run, the_server):
    assert run(real.PLAYBOOK)[BOOT]['changed']
    server = the_server()
    assert server.api == OVERRIDES
    assert server.domain.find('os/bootmenu').get('enable') == 'yes'
    assert server.told.disks == ['sda']
    assert not run(real.PLAYBOOK)[BOOT]['changed']
    assert run(real.CHANGE)['Change the overrides']['changed']
    assert the_server().id == server.id
    server.settled('ACTIVE')
    assert server.api == {**places.SCSI, 'hw_video_model': 'vga'}
    assert server.domain.find('devices/video/model').get('type') == 'vga'
    assert run(real.CHANGE)['Change the overrides'].get('skipped')


def test_an_application_credential_is_as_good(run, the_server):
    assert run(real.PLAYBOOK, 'credential')[BOOT]['changed']
    assert the_server().api == OVERRIDES
    assert not run(real.PLAYBOOK, 'credential')[BOOT]['changed']


@pytest.mark.parametrize(('cloud', 'written', 'says'), [
    ('tenant', 'hw_boot_menu: maybe', 'hw_boot_menu: invalid_value'),
    ('tenant', 'hw_rng_model: virtio', 'hw_rng_model: not_allowed'),
    ('credential', 'hw_numa_nodes: "1"', 'hw_numa_nodes: policy')])
def test_a_refusal_fails_the_task_and_says_why(
        deployment, ansible, cloud, written, says):
    succeeded, tasks = ansible.run(of_this_cloud(
        real.PLAYBOOK, cloud).replace('hw_boot_menu: "true"', written))
    assert not succeeded
    assert says in str(tasks[BOOT])
    assert not places.created(deployment)
