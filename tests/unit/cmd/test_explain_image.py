"""``explain`` with one image and one flavor."""

import json
import subprocess
import sys

import pytest

from nova_image_override import override
from nova_image_override.cmd import openstack_files
from tests.unit.cmd import test_explain

run = test_explain.run
explained = test_explain.explained

#: As openstack 10.5 prints them, shortened.
IMAGE = {
    'id': '0f6d5c6e-1c1b-4d4a-9f0e-0a3c5f9b7a11', 'name': 'debian',
    'status': 'active', 'min_disk': 0, 'min_ram': 0, 'size': 1, 'tags': [],
    'properties': {'hw_boot_menu': True, 'hw_disk_bus': 'virtio',
                   'os_hidden': False}}
FLAVOR = {
    'OS-FLV-DISABLED:disabled': False, 'OS-FLV-EXT-DATA:ephemeral': 0,
    'id': '1', 'name': 'two-cpus', 'disk': 10, 'ram': 1024, 'swap': 0,
    'vcpus': 2, 'properties': {'hw:numa_nodes': '1'}}


@pytest.fixture
def beside(run):
    """Explain with an image that has some properties, and some flavor."""
    def beside(asked, *arguments, image=None, flavor=None):
        if image is not None:
            arguments += ('--image', run.write('image.json', json.dumps(
                {**IMAGE, 'properties': image})))
        if flavor is not None:
            arguments += ('--flavor', run.write('flavor.json', json.dumps(
                {**FLAVOR, 'properties': flavor})))
        return explained(run, asked, *arguments)
    return beside


# --- removal -----------------------------------------------------------------


def test_removal_asks_what_removing_needs(beside):
    status, verdict, rules = beside('hw_boot_menu=')
    assert (status, verdict) == (0, 'permits')
    assert {rule for rule in rules if rule.startswith('protections')} == {
        'protections: delete hw_boot_menu'}


@pytest.mark.parametrize(('asked', 'rule', 'source'), [
    # An entry with values permits no removal.
    ('hw_disk_bus=', 'allowed_properties', 'nova.conf:2'),
    ('hw_disk_bus=', 'protections: delete hw_disk_bus', 'protections.conf:5'),
    ('hw_numa_mem.1=', 'denied_properties', 'nova.conf:5'),
    ('hw_pmu=', 'policy', 'policy.yaml:1')])
def test_a_refused_removal_names_its_rule(beside, asked, rule, source):
    status, verdict, rules = beside(asked)
    assert (status, verdict) == (1, 'refuses')
    assert rules[rule] == ('refuses', source)


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


@pytest.mark.parametrize(('image', 'verdict'), [
    ({}, 'permits'), ({'hw_disk_bus': 'ide'}, 'refuses')])
def test_any_value_may_be_set_although_removal_is_closed(
        beside, image, verdict):
    _, found, rules = beside('hw_disk_bus', image=image)
    assert found == verdict
    assert rules['protections: delete hw_disk_bus'][0] == 'refuses'


# --- one flavor --------------------------------------------------------------


@pytest.mark.parametrize(('asked', 'image', 'flavor', 'expected'), [
    ('hw_numa_nodes=2', None, {}, {
        'flavor': 'permits', 'effect': 'permits', 'all': 'permits'}),
    ('hw_numa_nodes=2', None, {'hw:numa_nodes': '1'}, {
        'flavor': 'refuses', 'all': 'refuses'}),
    ('hw_numa_nodes=', {'hw_numa_nodes': '2'}, {'hw:numa_nodes': '1'}, {
        'flavor': 'permits', 'effect': 'permits', 'all': 'permits'}),
    ('hw_numa_mem.0=512', {}, {}, {
        'flavor': 'permits', 'effect': 'refuses', 'all': 'refuses'}),
    ('hw_numa_mem.0=1024', {'hw_numa_nodes': '1', 'hw_numa_cpus.0': '0-1'},
     {}, {'flavor': 'permits', 'effect': 'permits', 'all': 'permits'}),
    # The image's own fault refuses the create, too.
    ('hw_boot_menu=true', {'hw_numa_nodes': '2'}, {'hw:numa_nodes': '1'}, {
        'flavor': 'refuses', 'all': 'refuses'}),
    # A rule's refusal stays a refusal, whatever the flavor says.
    ('os_distro=debian', {}, {}, {
        'allowed_properties': 'refuses', 'flavor': 'permits',
        'effect': 'permits', 'all': 'refuses'}),
])
def test_a_flavor_decides_in_rows_of_its_own(
        beside, asked, image, flavor, expected):
    status, _, rules = beside(asked, image=image, flavor=flavor)
    assert status == int(expected['all'] == 'refuses')
    assert {rule: verdict for rule, (verdict, _) in rules.items()
            if rule in expected or rule in ('flavor', 'effect')} == expected
    assert rules['flavor'][1] == 'flavor.json'


def test_without_a_flavor_there_is_no_row_of_it(beside):
    assert not {'flavor', 'effect'} & set(
        beside('hw_numa_nodes=2', image={})[2])


def test_the_reasons_are_those_that_requests_are_told(run):
    flavor = run.write('flavor.json', json.dumps(FLAVOR))
    _, rows = run.rows('explain', 'hw_numa_nodes=2', '--flavor', flavor)
    (reason,) = [row['Reason'] for row in rows if row['Rule'] == 'flavor']
    assert reason == ('the flavor has hw:numa_nodes=1; choose a flavor without '
                      'hw:numa_nodes')
    image = run.write('image.json', json.dumps(IMAGE))
    _, rows = run.rows('explain', 'hw_boot_menu=true', '--flavor', flavor,
                       '--image', image)
    told = {row['Rule']: row['Reason'] for row in rows}
    assert told['flavor'] == 'two-cpus, with image debian'


# --- what cannot be asked ----------------------------------------------------


def failing(run, *arguments):
    status, out, err = run.run('explain', *arguments)
    assert status == 1
    assert not out
    return err


def test_a_flavor_agrees_with_values_only(run):
    flavor = run.write('flavor.json', json.dumps(FLAVOR))
    assert 'write hw_boot_menu=VALUE, or hw_boot_menu= to remove it' in (
        failing(run, 'hw_boot_menu', '--flavor', flavor))


@pytest.mark.parametrize('option', ['--image', '--flavor'])
@pytest.mark.parametrize(('text', 'reason'), [
    ('| Field |', 'line 1 column 1'), ('[]', 'it is no object'),
    ('{"properties": "a"}', '"properties" is no object')])
def test_a_file_of_something_else_is_named(run, option, text, reason):
    err = failing(run, 'hw_boot_menu=true', option,
                   run.write('it.json', text))
    assert '/it.json is not what openstack image show, or flavor' in err
    assert reason in err


@pytest.mark.parametrize(('changes', 'reason'), [
    ({'vcpus': None}, 'None'), ({'ram': 'much'}, 'much')])
def test_a_flavor_of_other_values_is_named(run, changes, reason):
    err = failing(run, 'hw_boot_menu=true', '--flavor', run.write(
        'it.json', json.dumps({**FLAVOR, **changes})))
    assert '/it.json is not what ' in err
    assert reason in err


def test_a_flavor_that_lacks_something_is_named(run):
    image = run.write('it.json', json.dumps(IMAGE))
    assert "it has no 'vcpus'" in failing(
        run, 'hw_boot_menu=true', '--flavor', image)


def test_a_file_that_is_not_there_is_named(run):
    assert 'No such file' in failing(
        run, 'hw_boot_menu=true', '--image', str(run.folder / 'no.json'))


# --- what is read ------------------------------------------------------------


def test_an_image_is_read_as_nova_has_it(run, catalog):
    image = openstack_files.read_image(
        run.write('image.json', json.dumps(IMAGE)))
    assert image == {
        'name': 'debian', 'status': 'active', 'size': 1, 'min_ram': 0,
        'min_disk': 0, 'properties': {
            'hw_boot_menu': 'true', 'hw_disk_bus': 'virtio',
            'os_hidden': 'false'}}
    assert override.Merger(catalog).image_value(
        image['properties'], 'hw_boot_menu') == 'true'


def test_a_flavor_without_swap_as_old_versions_print_it(run):
    flavor = openstack_files.read_flavor(run.write(
        'flavor.json', json.dumps({**FLAVOR, 'swap': '', 'properties': {}})))
    assert (flavor.swap, flavor.memory_mb, flavor.extra_specs) == (0, 1024, {})


def test_it_runs_where_nothing_of_nova_is_imported_yet(run):
    flavor = run.write('flavor.json', json.dumps(FLAVOR))
    done = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c',
         'import sys\nfrom nova_image_override.cmd import shell\n'
         'sys.exit(shell.main(sys.argv[1:]))',
         'explain', 'hw_boot_menu=true', '--flavor', flavor, '-f', 'json',
         '--config-file', str(run.folder / 'nova.conf')],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert 'effect' in [row['Rule'] for row in json.loads(done.stdout)]
