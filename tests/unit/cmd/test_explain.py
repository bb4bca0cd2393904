"""``explain`` and ``list`` show what nova-api does, and which rule says so."""

import pytest

from nova_image_override import policies
from tests.unit.cmd.deployed import explained


def test_each_rule_names_what_decides(run):
    status, verdict, rules = explained(run, 'hw_boot_menu=yes')
    assert (status, verdict) == (0, 'permits')
    assert rules == {
        'never': ('permits', ''),
        'denied_properties': ('permits', 'no entry'),
        'allowed_properties': ('permits', 'entry hw_boot_menu'),
        'injection': ('permits', 'not injected for these roles'),
        'protections: create hw_boot_menu': ('permits', '[.*] create = @'),
        'policy': ('permits', policies.CREATE),
        'all': ('permits', ''),
    }


@pytest.mark.parametrize(('asked', 'rule', 'reason'), [
    ('os_type=windows', 'denied_properties', 'entry os_type=windows'),
    ('hw_numa_mem.1=1', 'denied_properties', 'entry hw_numa_mem.1'),
    ('hw_disk_bus=ide', 'allowed_properties',
     'only the values of hw_disk_bus=virtio|scsi'),
    ('os_distro=debian', 'allowed_properties', 'no entry'),
    ('hw_video_model=vga', 'injection',
     "this cloud's image service sets hw_video_model on the images that you "
     'import'),
    ('hw_pmu=true', 'policy', policies.PROPERTY_RULE.format('hw_pmu')),
    ('img_owner_id=x', 'never',
     'describes the image itself and can never be overridden'),
    # An entry with values permits no removal.
    ('hw_disk_bus=', 'allowed_properties',
     'only the values of hw_disk_bus=virtio|scsi'),
    ('hw_disk_bus=', 'protections: delete hw_disk_bus',
     '[^hw_disk_bus$] delete = admin'),
    ('hw_numa_mem.1=', 'denied_properties', 'entry hw_numa_mem.1'),
    ('hw_pmu=', 'policy', policies.PROPERTY_RULE.format('hw_pmu')),
])
def test_a_refusal_names_its_rule_and_what_decides(run, asked, rule, reason):
    status, verdict, rules = explained(run, asked)
    assert (status, verdict) == (1, 'refuses')
    assert rules[rule] == ('refuses', reason)
    assert rules['all'] == ('refuses', 'the first refusal above is the answer')


def test_removal_asks_what_removing_needs(run):
    status, verdict, rules = explained(run, 'hw_boot_menu=')
    assert (status, verdict) == (0, 'permits')
    assert {rule for rule in rules if rule.startswith('protections')} == {
        'protections: delete hw_boot_menu'}


def test_an_entry_that_denies_a_value_does_not_deny_removal(run):
    assert explained(run, 'os_type=')[2]['denied_properties'][0] == 'permits'


def test_without_an_image_it_is_one_without_properties(run):
    status, verdict, rules = explained(run, 'hw_disk_bus=scsi')
    assert (status, verdict) == (0, 'permits')
    assert {rule: row for rule, row in rules.items() if ' ' in rule} == {
        'protections: create hw_disk_bus': (
            'permits', '[^hw_disk_bus$] create = member'),
        'protections: create vmware_adaptertype': (
            'permits', '[.*] create = @')}


def test_roles_change_the_verdict(run):
    for asked in 'hw_video_model=vga', 'hw_pmu=true':
        assert explained(run, asked)[1] == 'refuses'
        assert explained(run, asked, '--role', 'admin')[1] == 'permits'
    assert explained(
        run, 'hw_disk_bus=scsi', '--role', 'admin')[1] == 'refuses'


@pytest.mark.parametrize(('asked', 'message'), [
    ('hw_pmu', 'write hw_pmu=VALUE, or hw_pmu= to ask about its removal\n'),
    ('hw_nothing=x', 'hw_nothing: unknown'),
    ('vm_mode=hvm', 'vm_mode: legacy_name'),
    ('hw_disk_bus=floppy', 'hw_disk_bus: invalid_value'),
    ('hw_nothing=', 'hw_nothing: unknown'),
    ('hw_numa_mem=', 'hw_numa_mem: list_field'),
])
def test_what_no_request_may_say_is_refused(run, asked, message):
    status, out, err = run.run('explain', asked)
    assert (status, out) == (1, '')
    assert message in err
    assert err.count('\n') == 1


def test_list_tells_what_discovery_tells(run):
    status, rows = run.rows('list')
    assert status == 0
    assert {row['Property'].split(' ')[0]: row['Values'] for row in rows} == {
        'hw_boot_menu': ['true', 'false'],
        'hw_disk_bus': ['scsi', 'virtio'],
        'hw_numa_cpus.N': ['a CPU list such as 0-3,^2,5, without blanks, of '
                           'ids up to 4095'],
        'hw_numa_mem.N': ['an integer from 1 to 2147483647'],
        'hw_numa_nodes': ['an integer from 1 to 128'],
        'os_type': ['linux'],
    }
    assert {row['Property']: row['Removable'] for row in rows}[
        'hw_disk_bus'] == 'no'


def test_list_depends_on_the_roles(run):
    _, rows = run.rows('list', '--role', 'admin', '--role', 'member')
    assert {'hw_pmu', 'hw_video_model'} <= {row['Property'] for row in rows}


def test_rules_that_stop_nova_api_stop_the_commands(run):
    run.write('protections.conf', '[x_(]\n')
    for command in (['list'], ['explain', 'hw_pmu=']):
        status, out, err = run.run(*command)
        assert (status, out) == (1, '')
        assert 'malformed regular expression' in err
