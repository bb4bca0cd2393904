"""Metadata definitions of what may be overridden, in Glance's format."""

import json
import re

import pytest

CONF = '''
[image_override]
allowed_properties = {allowed}
denied_properties = {denied}
'''


@pytest.fixture
def made(deployment):
    """Return the namespace that these lists make."""
    def made(allowed='*', denied='', *arguments):
        deployment.write('nova.conf', CONF.format(
            allowed=allowed, denied=denied))
        status, out, err = deployment.run('metadefs', *arguments)
        assert status == 0, err
        return json.loads(out)
    return made


def test_the_namespace_is_bound_to_servers_under_a_target_of_its_own(made):
    namespace = made()
    assert namespace['namespace'] == 'OS::Compute::ImagePropsOverride'
    assert namespace['resource_type_associations'] == [{
        'name': 'OS::Nova::Server',
        'properties_target': 'image_props_override'}]
    assert namespace['visibility'] == 'public'


def test_properties_have_their_names_in_full_and_their_types(made):
    properties = made()['properties']
    assert properties['hw_disk_bus']['type'] == 'string'
    assert 'scsi' in properties['hw_disk_bus']['enum']
    assert properties['os_require_quiesce']['enum'] == ['true', 'false']
    assert properties['hw_numa_nodes'] == {
        'title': 'Numa nodes', 'type': 'integer', 'minimum': 1,
        'maximum': 128,
        'description': 'Number of guest NUMA nodes. Acts with: libvirt.'}
    assert properties['os_command_line']['maxLength'] == 255


def test_everything_is_within_glances_limits(made):
    namespace = made()
    assert len(namespace['namespace']) <= 80
    assert len(namespace['display_name']) <= 80
    assert len(namespace['description']) <= 500
    for name, body in namespace['properties'].items():
        assert len(name) <= 80
        assert 0 < len(body['title']) <= 80
        assert len(body['description']) <= 500
        assert set(body) <= {
            'title', 'description', 'type', 'enum', 'minimum', 'maximum',
            'minLength', 'maxLength', 'pattern'}
        assert all(isinstance(v, str) for v in body.get('enum', ()))


def test_only_what_may_be_overridden_is_told(made):
    assert set(made('hw_boot_menu,hw_disk_bus', 'hw_disk_bus')[
        'properties']) == {'hw_boot_menu'}
    assert made('')['properties'] == {}


def test_what_may_only_be_removed_cannot_be_told(made):
    assert set(made('hw_boot_menu,hw_disk_bus', 'hw_disk_bus=*')[
        'properties']) == {'hw_boot_menu'}


def test_only_permitted_values_are_told(made):
    properties = made(
        'hw_disk_bus=scsi|ide,os_distro=ubuntu*', 'os_distro=*core')[
        'properties']
    assert properties['hw_disk_bus']['enum'] == ['ide', 'scsi']
    pattern = properties['os_distro']['pattern']
    assert re.search(pattern, 'ubuntu-server')
    assert not re.search(pattern, 'ubuntu-core')
    assert not re.search(pattern, 'debian')


def test_members_of_families_are_told_when_the_lists_name_them(made):
    properties = made(
        'hw_numa_mem.0,hw_numa_mem.1,trait:CUSTOM_GOLD,trait:CUSTOM_A*',
        'hw_numa_mem.1')['properties']
    assert set(properties) == {'hw_numa_mem.0', 'trait:CUSTOM_GOLD'}
    assert properties['hw_numa_mem.0']['type'] == 'integer'
    assert properties['trait:CUSTOM_GOLD']['enum'] == ['required']


def test_families_as_such_cannot_be_told(made):
    assert not [name for name in made()['properties']
                if re.match('hw_numa_(mem|cpus)|trait', name)]
