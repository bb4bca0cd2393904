"""Glance takes the metadata definitions that the command prints."""

import json
import pathlib
import subprocess
import sys

import pytest

from nova_image_override.cmd import metadefs
from tests.glance import real
from tests.unit.cmd import processes

PATH = f'/metadefs/namespaces/{metadefs.NAMESPACE}'


@pytest.fixture
def client(glance, tmp_path):
    """Run Glance's own client as an administrator; return the exit status."""
    def client(*arguments):
        return subprocess.run(
            [pathlib.Path(sys.executable).parent / 'glance', *arguments],
            capture_output=True, text=True, check=False,
            env={'OS_IMAGE_URL': glance.url, 'OS_AUTH_TOKEN': real.ADMIN,
                 'HOME': str(tmp_path)},
        ).returncode

    yield client
    client('md-namespace-delete', metadefs.NAMESPACE)


@pytest.fixture
def printed(tmp_path):
    """Return the file with the definitions that the lists of rules make."""
    def printed(allowed):
        conf = tmp_path / 'nova.conf'
        conf.write_text(f'[image_override]\nallowed_properties = {allowed}\n')
        done = processes.run(
            'nova-image-override', 'metadefs', '--config-file', conf)
        assert (done.status, done.lines) == (0, [])
        path = tmp_path / 'overrides.json'
        path.write_text(done.out)
        return path
    return printed


def properties(glance):
    """Return what a tenant reads of the properties."""
    return glance.ok('GET', PATH)['properties']


def test_glance_stores_every_definition_as_it_is(glance, client, printed):
    path = printed('*, hw_numa_mem.0, trait:CUSTOM_GOLD')
    assert client('md-namespace-import', '--file', path) == 0
    expected = json.loads(path.read_text())['properties']
    assert properties(glance) == expected
    assert len(expected) > 70


def test_definitions_are_replaced_as_the_documentation_says(
        glance, client, printed):
    assert client('md-namespace-import', '--file', printed('hw_pmu')) == 0
    assert client('md-namespace-delete', metadefs.NAMESPACE) == 0
    path = printed('hw_disk_bus=scsi, hw_numa_nodes')
    assert client('md-namespace-import', '--file', path) == 0
    assert set(properties(glance)) == {'hw_disk_bus', 'hw_numa_nodes'}


def test_tools_find_it_by_the_resource_type_and_target(
        glance, client, printed):
    assert client(
        'md-namespace-import', '--file', printed('hw_disk_bus')) == 0
    found = glance.ok(
        'GET', '/metadefs/namespaces?resource_types=OS::Nova::Server'
        '&properties_target=image_props_override')['namespaces']
    assert metadefs.NAMESPACE in {each['namespace'] for each in found}


def test_glance_manage_loads_it(glance, client, printed):
    path = printed('hw_disk_bus')
    subprocess.run(
        [real.python().parent / 'glance-manage', '--config-file',
         glance.folder / 'glance-api.conf', 'db', 'load_metadefs', '--path',
         path], check=True, capture_output=True)
    assert set(properties(glance)) == {'hw_disk_bus'}
