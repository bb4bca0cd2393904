"""``nova-image-override metadefs``, without a Glance."""

import json

import pytest


@pytest.fixture
def metadefs(deployment):
    """Print the definitions for a nova.conf; return them, and what is told."""
    def metadefs(options, *arguments):
        deployment.write('nova.conf', f'[image_override]\n{options}\n')
        status, out, err = deployment.run('metadefs', *arguments)
        assert status == 0, err
        said = json.loads(out)
        return {name: each for part in said['objects']
                for name, each in part['properties'].items()}, err
    return metadefs


def test_only_what_is_allowed_is_there_with_what_is_left_of_its_values(
        metadefs):
    found, _ = metadefs(
        'allowed_properties = hw_disk_bus=virtio|scsi, hw_boot_menu,'
        'hw_numa_nodes, os_command_line=quiet*, trait:CUSTOM_GOLD\n'
        'denied_properties = os_command_line=*debug*', '--allowed')
    assert set(found) == {
        'hw_disk_bus', 'hw_boot_menu', 'hw_numa_nodes', 'os_command_line',
        'trait:CUSTOM_GOLD'}
    assert found['hw_disk_bus']['enum'] == ['scsi', 'virtio']
    assert found['hw_boot_menu']['type'] == 'boolean'
    assert found['hw_numa_nodes']['maximum'] == 128
    assert found['os_command_line']['pattern'].startswith('(?=^(?:quiet')


def test_nothing_that_the_user_may_not_have_is_offered(metadefs):
    assert metadefs('', '--allowed') == ({}, '')


def test_without_it_everything_but_what_is_never_overridden_is_there(metadefs):
    found, _ = metadefs('')
    assert {'hw_disk_bus', 'hw_numa_mem.0', 'hw_numa_mem.1'} <= set(found)
    assert not [name for name in found
                if name.startswith(('img_signature', 'trait:'))]
    assert all(each['title'] and each['description']
               and len(each['description']) <= 500 for each in found.values())


def test_what_glance_defines_alike_is_left_out_and_the_rest_is_told(
        metadefs, tmp_path):
    folder = tmp_path / 'metadefs'
    folder.mkdir()
    (folder / 'a.json').write_text(json.dumps({
        'namespace': 'OS::Own', 'visibility': 'public',
        'resource_type_associations': [
            {'name': 'OS::Nova::Flavor', 'prefix': 'hw:'},
            {'name': 'OS::Glance::Image', 'prefix': 'hw_'}],
        'properties': {
            'boot_menu': {'type': 'string', 'enum': ['True', 'False']},
            'pmu': {'type': 'string'}, 'other': {'type': 'string'}}}))
    (folder / 'b.json').write_text(json.dumps({
        'namespace': 'OS::Flavors', 'visibility': 'public',
        'resource_type_associations': [{'name': 'OS::Nova::Flavor'}],
        'properties': {'hw_vif_multiqueue_enabled': {'type': 'boolean'}}}))
    found, told = metadefs('', '--glance', str(folder))
    assert 'hw_boot_menu' not in found
    assert {'hw_pmu', 'hw_vif_multiqueue_enabled'} <= set(found)
    assert [line.partition(' has')[0] for line in told.splitlines()] == [
        'hw_pmu: OS::Own']


@pytest.mark.parametrize('text', ['{', '[]', '"x"'])
def test_a_folder_that_is_no_json_is_one_line(deployment, tmp_path, text):
    (tmp_path / 'x.json').write_text(text)
    deployment.write('nova.conf', '[image_override]\n')
    status, out, err = deployment.run('metadefs', '--glance', str(tmp_path))
    assert (status, out) == (1, '')
    assert 'x.json' in err
