"""``explain`` about removal, and with one image."""

import json

import pytest

from nova_image_override import policies
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
    """Explain with an image that has some properties."""
    def beside(asked, image=None):
        arguments = () if image is None else ('--image', run.write(
            'image.json', json.dumps({**IMAGE, 'properties': image})))
        return explained(run, asked, *arguments)
    return beside


# --- removal -----------------------------------------------------------------


def test_removal_asks_what_removing_needs(beside):
    status, verdict, rules = beside('hw_boot_menu=')
    assert (status, verdict) == (0, 'permits')
    assert {rule for rule in rules if rule.startswith('protections')} == {
        'protections: delete hw_boot_menu'}


@pytest.mark.parametrize(('asked', 'rule', 'reason'), [
    # An entry with values permits no removal.
    ('hw_disk_bus=', 'allowed_properties',
     'only the values of hw_disk_bus=virtio|scsi'),
    ('hw_disk_bus=', 'protections: delete hw_disk_bus',
     '[^hw_disk_bus$] delete = admin'),
    ('hw_numa_mem.1=', 'denied_properties', 'entry hw_numa_mem.1'),
    ('hw_pmu=', 'policy', policies.PROPERTY_RULE.format('hw_pmu'))])
def test_a_refused_removal_names_its_rule(beside, asked, rule, reason):
    status, verdict, rules = beside(asked)
    assert (status, verdict) == (1, 'refuses')
    assert rules[rule] == ('refuses', reason)


def test_an_entry_that_denies_a_value_does_not_deny_removal(beside):
    assert beside('os_type=')[2]['denied_properties'][0] == 'permits'


# --- one image ---------------------------------------------------------------


@pytest.mark.parametrize(('image', 'verdict', 'operation'), [
    ({}, 'permits', 'create'), ({'hw_disk_bus': 'ide'}, 'refuses', 'update')])
def test_an_image_decides_what_glance_must_permit(
        beside, image, verdict, operation):
    status, found, rules = beside('hw_disk_bus=scsi', image=image)
    assert (status, found) == (int(verdict == 'refuses'), verdict)
    assert rules[f'protections: {operation} hw_disk_bus'][0] == verdict
    assert len([rule for rule in rules
                if rule.endswith(' hw_disk_bus')]) == 1


def test_a_name_that_only_the_image_has_is_asked_about(beside):
    _, _, rules = beside(
        'hw_disk_bus=scsi', image={'vmware_adaptertype': 'ide'})
    assert rules['protections: update vmware_adaptertype'][0] == 'permits'


# --- what cannot be asked ----------------------------------------------------


def failing(run, *arguments):
    status, out, err = run.run('explain', *arguments)
    assert status == 1
    assert not out
    return err


@pytest.mark.parametrize('text', [
    '| Field |', '[]', '{"properties": "a"}', '\udcff'])
def test_a_file_of_something_else_is_named(run, text):
    path = run.folder / 'it.json'
    path.write_bytes(text.encode(errors='surrogateescape'))
    assert f'{path} is not what openstack image show prints' in failing(
        run, 'hw_boot_menu=true', '--image', str(path))


def test_a_file_that_is_not_there_is_named(run):
    assert 'No such file' in failing(
        run, 'hw_boot_menu=true', '--image', str(run.folder / 'no.json'))


# --- what is read ------------------------------------------------------------


def test_the_properties_are_read_as_glance_has_them(run):
    properties = explain.image_properties(
        run.write('image.json', json.dumps(IMAGE)))
    assert properties == {
        'hw_boot_menu': 'true', 'hw_disk_bus': 'virtio', 'os_hidden': 'false'}
    (override,) = overrides_of({'hw_boot_menu': None})
    assert override.image_value(properties) == 'true'


def test_an_image_without_properties_is_printed_without_them(run):
    assert explain.image_properties(run.write('image.json', '{}')) == {}
