"""A real Glance takes what ``nova-image-override metadefs`` prints."""

import json
import subprocess
import sys

import pytest

from nova_image_override.properties import book
from nova_image_override.properties import catalog
from tests.glance import real

NAMESPACE = 'OS::Compute::ImagePropsOverride'
PATH = f'/metadefs/namespaces/{NAMESPACE}'
OURS = real.python().parent.parent / 'etc' / 'glance' / 'metadefs'


def printed(folder, *options, conf='allowed_properties = trait:CUSTOM_GOLD'):
    path = folder / 'nova.conf'
    path.write_text(f'[image_override]\n{conf}\n')
    done = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c',
         'import sys; from nova_image_override.cmd import shell; '
         'sys.exit(shell.main())', 'metadefs', '--config-file', path, *options],
        capture_output=True, text=True, timeout=300, check=True)
    return done.stdout, done.stderr


def load(glance, path):
    done = subprocess.run(
        [real.python().parent / 'glance-manage', '--config-file',
         glance.folder / 'glance-api.conf', 'db_load_metadefs', path],
        capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def offered(glance, path=PATH, kind='OS::Glance::Image'):
    """Return what tools are offered for a kind of resource, by full name."""
    said = glance.ok('GET', f'{path}?resource_type={kind}')
    found = dict(said.get('properties', {}))
    for each in said.get('objects', ()):
        found |= each['properties']
    return found


@pytest.fixture(scope='module')
def text(tmp_path_factory):
    return printed(tmp_path_factory.mktemp('metadefs'))[0]


@pytest.fixture(scope='module')
def loaded(glance, text):
    path = glance.folder / 'ours.json'
    path.write_text(text)
    load(glance, path)
    yield path
    assert glance.request('DELETE', PATH, token=real.ADMIN).status_code == 204


def test_a_tenant_reads_back_what_was_printed(glance, loaded, text):
    said = json.loads(text)
    read = glance.ok('GET', PATH)
    assert {each['name']: each['properties'] for each in read['objects']} == {
        each['name']: each['properties'] for each in said['objects']}
    assert list(book.PURPOSES) == [each['name'] for each in said['objects']]


@pytest.mark.parametrize(('kind', 'target'), [
    ('OS::Glance::Image', None), ('OS::Cinder::Volume', 'image'),
    ('OS::Nova::Server', 'image_props_override')])
def test_it_is_offered_for_images_volumes_and_servers(
        glance, loaded, kind, target):
    listed = glance.ok(
        'GET', f'/metadefs/namespaces?resource_types={kind}')['namespaces']
    (ours,) = [each for each in listed if each['namespace'] == NAMESPACE]
    (found,) = [each for each in ours['resource_type_associations']
                if each['name'] == kind]
    assert found.get('properties_target') == target
    assert 'hw_disk_bus' in offered(glance, kind=kind)


def test_a_second_load_changes_nothing(glance, loaded):
    before = glance.ok('GET', PATH)
    load(glance, loaded)
    assert glance.ok('GET', PATH) == before


def test_every_property_of_the_book_is_here_or_glances_own(
        glance, tmp_path):
    load(glance, str(OURS))
    there = set()
    for each in glance.ok(
            'GET', '/metadefs/namespaces?resource_types=OS::Glance::Image'
            '&limit=100')['namespaces']:
        if each['namespace'] != NAMESPACE:
            there |= offered(
                glance, f'/metadefs/namespaces/{each["namespace"]}').keys()
    said, _ = printed(tmp_path, '--glance', OURS)
    here = {name for each in json.loads(said)['objects']
            for name in each['properties']}
    missing = {
        prop.family.member('CUSTOM_GOLD' if field == 'traits_required' else 0)
        if prop.family else field for field, prop in catalog.running().items()
        if not prop.record.never} - here - there
    assert missing == set()
    # What Glance says, too, is left out.
    assert 'hw_boot_menu' not in here
    assert 'hw_cpu_policy' in here & there


def test_what_glance_says_otherwise_is_told(tmp_path):
    _, told = printed(tmp_path, '--glance', OURS)
    (line,) = [each for each in told.splitlines()
               if each.startswith('hw_cpu_policy: ')]
    assert 'OS::Compute::CPUPinning' in line
    assert 'mixed' in line.split('here it is')[1]


@pytest.mark.parametrize(('option', 'target'), [
    ('accept_scheduler_hint', 'scheduler_hints'),
    ('accept_server_metadata', 'metadata')])
def test_where_a_server_takes_them_otherwise_names_are_those_it_takes(
        glance, loaded, tmp_path, option, target):
    said, _ = printed(tmp_path, conf=f'{option} = true')
    path = tmp_path / 'other.json'
    path.write_text(said)
    assert glance.request('DELETE', PATH, token=real.ADMIN).status_code == 204
    load(glance, path)
    found = offered(glance, kind='OS::Nova::Server')
    assert 'image_props_override:hw_disk_bus' in found
    assert glance.ok('GET', PATH)['resource_type_associations'][-1][
        'properties_target'] == target
