"""``explain`` with one image."""

import json

import pytest

from nova_image_override.cmd import explain
from tests.unit.cmd.deployed import explained
from tests.unit.strategies import overrides_of

#: As openstack 10.5 prints it, shortened.
IMAGE = {
    'id': '0f6d5c6e-1c1b-4d4a-9f0e-0a3c5f9b7a11', 'name': 'debian',
    'status': 'active', 'min_disk': 0, 'min_ram': 0, 'size': 1, 'tags': [],
    'properties': {'hw_boot_menu': True, 'hw_disk_bus': 'virtio',
                   'os_hidden': False}}


@pytest.fixture
def beside(run):
    """Explain hw_disk_bus=scsi with an image that has some properties."""
    def beside(image):
        return explained(run, 'hw_disk_bus=scsi', '--image', run.write(
            'image.json', json.dumps({**IMAGE, 'properties': image})))
    return beside


@pytest.mark.parametrize(('image', 'verdict', 'operation'), [
    ({}, 'permits', 'create'), ({'hw_disk_bus': 'ide'}, 'refuses', 'update')])
def test_an_image_decides_what_glance_must_permit(
        beside, image, verdict, operation):
    status, found, rules = beside(image)
    assert (status, found) == (int(verdict == 'refuses'), verdict)
    assert rules[f'protections: {operation} hw_disk_bus'][0] == verdict
    assert len([rule for rule in rules
                if rule.endswith(' hw_disk_bus')]) == 1


def test_a_name_that_only_the_image_has_is_asked_about(beside):
    _, _, rules = beside({'vmware_adaptertype': 'ide'})
    assert rules['protections: update vmware_adaptertype'][0] == 'permits'


@pytest.mark.parametrize('text', [
    '| Field |', '[]', '{"properties": "a"}', '\udcff'])
def test_a_file_of_something_else_is_named(run, text):
    path = run.folder / 'it.json'
    path.write_bytes(text.encode(errors='surrogateescape'))
    assert run.run('explain', 'hw_boot_menu=true', '--image', str(path)) == (
        1, '', f'{path} is not what openstack image show prints with -f json\n')


def test_a_file_that_is_not_there_is_named(run):
    status, out, err = run.run(
        'explain', 'hw_boot_menu=true', '--image', '/nowhere.json')
    assert (status, out) == (1, '')
    assert err.endswith("No such file or directory: '/nowhere.json'\n")


def test_the_properties_are_read_as_glance_has_them(run):
    properties = explain.image_properties(
        run.write('image.json', json.dumps(IMAGE)))
    assert properties == {
        'hw_boot_menu': 'true', 'hw_disk_bus': 'virtio', 'os_hidden': 'false'}
    (override,) = overrides_of({'hw_boot_menu': None})
    assert override.image_value(properties) == 'true'


def test_an_image_without_properties_is_printed_without_them(run):
    assert explain.image_properties(run.write('image.json', '{}')) == {}
