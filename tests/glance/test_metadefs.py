"""Glance accepts the metadata definitions, and their updates."""

import json
import subprocess
import sys

import openstack
import pytest

from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.cmd import metadefs
from nova_image_override.properties import catalog as catalog_module
from tests import environments
from tests.glance import real

PATH = f'/metadefs/namespaces/{metadefs.NAMESPACE}'


@pytest.fixture
def image(glance):
    """The image service, through openstacksdk, for an administrator."""
    cloud = openstack.connect(
        load_yaml_config=False, load_envvars=False, auth_type='admin_token',
        auth={'endpoint': glance.url, 'token': real.ADMIN},
        image_endpoint_override=glance.url)
    yield cloud.image
    glance.request('PUT', PATH, {
        'namespace': metadefs.NAMESPACE, 'protected': False}, real.ADMIN)
    glance.request('DELETE', PATH, token=real.ADMIN)


def made(allowed):
    rules = enforcer_module.Enforcer(catalog_module.running(), allowed=allowed)
    return metadefs.namespace(
        rules, caller_module.Caller(can=lambda rule: True)
    )


def stored(glance):
    """Return what a tenant reads, in the form in which it was made."""
    found = glance.ok('GET', PATH)
    return {
        # What is stored on its own gets its name stored with it.
        'properties': {
            name: {key: value for key, value in body.items() if key != 'name'}
            for name, body in found['properties'].items()},
        'protected': found['protected'],
        'resource_type_associations': [
            {key: each[key] for key in ('name', 'properties_target')}
            for each in found['resource_type_associations']]}


def expected(namespace):
    return {key: namespace[key] for key in (
        'properties', 'protected', 'resource_type_associations')}


def test_everything_that_may_be_overridden_is_registered(glance, image):
    namespace = made(['*', 'hw_numa_mem.0', 'trait:CUSTOM_GOLD'])
    assert metadefs.upload(image, namespace) == 'registered'
    assert stored(glance) == expected(namespace)
    assert len(namespace['properties']) > 70


def test_an_update_adds_changes_and_removes(glance, image):
    metadefs.upload(image, made(['hw_disk_bus', 'hw_boot_menu']))
    namespace = made(['hw_disk_bus=scsi', 'hw_numa_nodes'])
    assert metadefs.upload(image, namespace) == \
        'updated, 2 properties, 1 removed'
    assert stored(glance) == expected(namespace)


def test_tools_find_it_by_the_resource_type_and_target(glance, image):
    metadefs.upload(image, made(['hw_disk_bus']))
    found = glance.ok(
        'GET', '/metadefs/namespaces?resource_types=OS::Nova::Server'
        '&properties_target=image_props_override')['namespaces']
    assert metadefs.NAMESPACE in {each['namespace'] for each in found}


def test_a_member_may_not_register_it(glance, image):
    cloud = openstack.connect(
        load_yaml_config=False, load_envvars=False, auth_type='admin_token',
        auth={'endpoint': glance.url, 'token': real.MEMBER},
        image_endpoint_override=glance.url)
    with pytest.raises(openstack.exceptions.ForbiddenException):
        metadefs.upload(cloud.image, made(['hw_disk_bus']))
    assert glance.request('GET', PATH).status_code == 404


def test_the_command_uploads_with_the_credentials_of_the_environment(
        glance, image, tmp_path):
    (tmp_path / 'nova.conf').write_text(
        '[image_override]\nallowed_properties = hw_disk_bus\n')
    (tmp_path / 'clouds.yaml').write_text(json.dumps({'clouds': {'test': {
        'auth_type': 'admin_token',
        'auth': {'endpoint': glance.url, 'token': real.ADMIN},
        'image_endpoint_override': glance.url}}}))
    done = run(
        tmp_path, 'metadefs', '--upload', '--os-cloud', 'test',
        '--config-file', str(tmp_path / 'nova.conf'))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f'{metadefs.NAMESPACE}: registered\n'
    assert set(stored(glance)['properties']) == {'hw_disk_bus'}


def test_glance_manage_loads_what_the_command_prints(
        glance, image, tmp_path):
    path = tmp_path / 'overrides.json'
    namespace = made(['hw_disk_bus'])
    path.write_text(json.dumps(namespace))
    subprocess.run(
        [real.python().parent / 'glance-manage', '--config-file',
         glance.folder / 'glance-api.conf', 'db', 'load_metadefs', '--path',
         path], check=True, capture_output=True)
    assert stored(glance)['properties'] == namespace['properties']


def run(folder, *arguments):
    """Run the command as an operator does, in a process of its own."""
    return subprocess.run(
        [sys.executable, '-W', 'ignore', '-c',
         'import sys; from nova_image_override.cmd.shell import main; '
         'sys.exit(main())', *arguments],
        capture_output=True, text=True, cwd=folder,
        env={'PYTHONPATH': str(environments.ROOT), 'HOME': str(folder)})
