"""``check`` finds each planted fault once, and nothing on a clean pair."""

import pathlib
import re

import pytest

from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.nova_interfaces import interface
from nova_image_override.properties import catalog
from testing import paste_config

ROOT = pathlib.Path(__file__).parents[3]

#: Files of a deployment with nothing wrong; faults are planted by replacing.
CLEAN = {
    'nova.conf': '''
        [image_override]
        allowed_properties = hw_boot_menu,hw_disk_bus=virtio|scsi,os_s*
        denied_properties = os_skip_*
        glance_image_import_files = {folder}/import.conf
        property_protection_file = {folder}/protections.conf
        property_protection_rule_format = roles
        property_protection_policy_file = {folder}/glance-policy.yaml
        [oslo_policy]
        policy_file = {folder}/policy.yaml
        ''',
    'policy.yaml': '''
        "os_compute_api:servers:create:image_props_override:os_secure_boot": "@"
        ''',
    'import.conf': '''
        [image_import_opts]
        image_import_plugins = [inject_image_metadata]
        [inject_metadata_properties]
        ignore_user_roles = admin
        inject = x_origin:tenant
        ''',
    'protections.conf': '''
        [^(os_admin_user|x_billing)$]
        create = admin
        read = @
        update = admin
        delete = admin
        [.*]
        create = @
        read = @
        update = @
        delete = @
        ''',
    'glance-policy.yaml': '''
        "members": "role:member"
        ''',
}


@pytest.fixture
def check(deployment):
    """Write the clean files with REPLACED text, and run the check."""
    def check(*replaced, options=()):
        files = dict(CLEAN)
        for name, old, new in replaced:
            assert old in files[name]
            files[name] = files[name].replace(old, new)
        for name, text in files.items():
            deployment.write(name, text)
        status, rows = deployment.rows('check', *options)
        return status, [(row['Severity'], row['Code'], row['Subject'])
                        for row in rows]
    return check


def allow(entry):
    option = 'allowed_properties = '
    return 'nova.conf', option, f'{option}{entry},'


def section(name, **permissions):
    lines = ''.join(
        f'{operation} = {permissions.get(operation, "@")}\n        '
        for operation in ('create', 'read', 'update', 'delete'))
    return 'protections.conf', '[.*]', f'[{name}]\n        {lines}[.*]'


POLICIES = ('nova.conf', 'rule_format = roles', 'rule_format = policies')
BY_POLICY = ('protections.conf', '= admin', '= !')

MATRIX = {
    'glob of nothing but what is never permitted': (
        [allow('img_signature*')], 'warning', 'L2', 'img_signature*'),
    'value that the property does not take': (
        [allow('hw_c*_bus=floppy|ide')], 'warning', 'L2',
        'hw_c*_bus=floppy|ide'),
    'allowed and denied': (
        [allow('os_skip_*')], 'warning', 'L3', 'os_skip_*'),
    'a value allowed and denied': (
        [allow('hw_rng_model=virt*'),
         ('nova.conf', 'denied_properties = ',
          'denied_properties = hw_*=virtio,')],
        'warning', 'L3', 'hw_rng_model=virt*'),
    'policy for a spelling instead of a field': (
        [('policy.yaml', ':os_secure_boot"', ':hw_numa_mem.0"')],
        'error', 'P1',
        'os_compute_api:servers:create:image_props_override:hw_numa_mem.0'),
    'A1 allowed by name, closed by Glance': (
        [allow('os_admin_user')], 'warning', 'A1', 'os_admin_user'),
    'A3 undefined policy': (
        [POLICIES, BY_POLICY, section('^x_origin$', delete='nobody')],
        'error', 'A3', 'nobody'),
    'option that is like none of ours': (
        [('nova.conf', 'denied_properties', '''x_y = 1
        denied_properties''')], 'warning', 'O1', 'x_y'),
    'option in another section': (
        [('nova.conf', '[image_override]', """[DEFAULT]
        denied_properties = hw_*
        [image_override]""")], 'warning', 'O1', 'denied_properties'),
    'section named after the parameter': (
        [('nova.conf', '[image_override]', """[image_props_override]
        [image_override]""")], 'warning', 'O2', '[image_props_override]'),
    'section that oslo.config reads as another': (
        [('nova.conf', '[image_override]', '''[Image_Override]
        denied_propertys = hw_*
        [image_override]''')], 'warning', 'O1', 'denied_propertys'),
    'list that the same section has again': (
        [('nova.conf', '[image_override]', '''[Image_Override]
        denied_properties = hw_*
        [image_override]''')], 'warning', 'O3', 'denied_properties'),
    'compute microversion unknown to Nova': (
        [('nova.conf', 'denied_properties',
          'compute_microversion = 2.9999\n        denied_properties')],
        'error', 'S1', None),
    'undecidable expression': (
        [section('(x+)+$')], 'error', 'S1', None),
    'option that is neither on nor off': (
        [('nova.conf', 'denied_properties',
          'accept_scheduler_hint = perhaps\n        denied_properties')],
        'error', 'S1', 'accept_scheduler_hint'),
    'policy rules in a circle': (
        [('policy.yaml', ':os_secure_boot": "@"',
          ':os_secure_boot": "rule:one"\n        "one": "not rule:one"')],
        'error', 'S1', 'policy'),
    'policy.yaml that is not YAML': (
        [('policy.yaml', '"@"', '"@')], 'error', 'S1', 'policy'),
}


@pytest.mark.parametrize('fault', MATRIX)
def test_finds_a_planted_fault_once(check, fault):
    replaced, severity, code, subject = MATRIX[fault]
    status, ((*kind, about),) = check(*replaced)
    assert (status, kind) == (1, [severity, code])
    assert subject in (None, about)


def test_a_property_that_only_a_newer_package_knows_is_a_note(
        check, monkeypatch):
    monkeypatch.setattr(catalog.running(), 'unknown', ['hw_later'])
    assert check() == (0, [('note', 'L5', 'hw_later')])


def test_each_file_that_stops_the_start_is_named(check):
    status, found = check(
        allow('vm_mode'), section('x_('),
        ('nova.conf', '/import.conf', '/nowhere.conf'))
    assert status == 1
    assert [(code, subject.rpartition('/')[2])
            for _, code, subject in found] == [
        ('S1', 'vm_mode'), ('S1', 'nowhere.conf'), ('S1', 'protections.conf')]


@pytest.mark.parametrize(('also', 'warning'), [
    (allow('hw_nothing'), ('warning', 'L1', 'hw_nothing')),
    (('import.conf', 'x_origin', 'hw_boot_menu'),
     ('warning', 'A2', 'hw_boot_menu')),
    (('nova.conf', 'denied_properties', """denied_propertys = os_*
        denied_properties"""), ('warning', 'O1', 'denied_propertys'))])
@pytest.mark.parametrize('stops', [
    allow('vm_mode'), section('x_('),
    ('nova.conf', '/glance-policy.yaml', '/nowhere.yaml')], ids=[
        'list', 'protections', 'policies'])
def test_warnings_come_with_what_stops_the_start(check, stops, also, warning):
    status, found = check(stops, also, *(
        [POLICIES] if stops[1] == '/glance-policy.yaml' else []))
    assert status == 1
    assert found[0][:2] == ('error', 'S1')
    assert warning in found


def test_notes_wait_until_nova_api_starts(check):
    _, found = check(
        ('nova.conf', 'hw_boot_menu,', 'hw_tpm_model,vm_mode,'))
    assert found == [('error', 'S1', 'vm_mode')]


def test_errors_come_first_and_notes_last(check):
    _, found = check(
        ('nova.conf', 'hw_boot_menu,', 'hw_tpm_model,hw_nothing,'),
        ('policy.yaml', ':os_secure_boot"', ':hw_nothing"'))
    assert [each[:2] for each in found] == [
        ('error', 'P1'), ('warning', 'L1'), ('note', 'H4')]


def test_a_nova_of_another_shape_is_found_before_nova_api_is_restarted(
        check, monkeypatch):
    monkeypatch.setattr(api_interfaces, 'INTERFACES', interface.called(
        'nova', 'a test', missing=''))
    assert check(allow('hw_nothing')) == (1, [
        ('error', 'S2', 'Nova'), ('warning', 'L1', 'hw_nothing')])


def test_the_columns_say_what_is_wrong_and_why(check, deployment):
    check(allow('hw_disk_bus=IDE'), section('x_('))
    _, (entry, file) = deployment.rows('check')
    assert entry['Subject'] == 'hw_disk_bus=IDE'
    assert entry['Why'].startswith(
        'nova-api does not start: [image_override] allowed_properties: '
        "entry 'hw_disk_bus=IDE': hw_disk_bus never has the value IDE, ")
    assert file['Subject'] == str(deployment.folder / 'protections.conf')
    assert file['Why'].startswith(
        'nova-api does not start: [image_override] property_protection_file: ')


def test_a_value_after_a_comma_is_told_with_the_entry_that_was_meant(
        check, deployment):
    assert check(allow('hw_cdrom_bus=ide,scsi')) == (
        1, [('warning', 'L1', 'scsi')])
    _, (found,) = deployment.rows('check')
    assert found['What to change'] == (
        'a comma separates entries: write hw_cdrom_bus=ide|scsi')


@pytest.mark.parametrize(('entry', 'permits_all'), [
    ('*', True), ('**', True), ('hw_*', False), ('os_*', False),
    ('*=virtio', False), ('*_bus', False)])
def test_a_list_that_permits_everything_is_a_warning(check, entry, permits_all):
    assert (('warning', 'L6', entry) in check(allow(entry))[1]) == permits_all


def test_each_thing_that_stops_the_start_is_one_line(deployment):
    deployment.write('nova.conf', """
        [image_override]
        virt_drivers = libvirt, vmware
        accept_scheduler_hint = perhaps
        property_protection_rule_format = names
        denied_properties = vm_mode
        property_protection_file = /etc/$nosuch
        """)
    status, out, err = deployment.run('list')
    assert (status, out) == (1, '')
    assert err.splitlines() == [
        '[image_override] property_protection_file: no such option nosuch in '
        'group [DEFAULT]: write $$ for a $',
        '[image_override] property_protection_rule_format: '
        "Valid values are [roles, policies], but found 'names'",
        '[image_override] virt_drivers: Valid values are [libvirt, vmwareapi, '
        "ironic, zvm, fake], but found 'vmware'",
        '[image_override] accept_scheduler_hint: '
        "Unexpected boolean value 'perhaps'",
        "[image_override] denied_properties: entry 'vm_mode': "
        'legacy name, write hw_vm_mode']


def test_what_is_wrong_depends_on_the_roles(check):
    fault = allow('os_admin_user')
    assert check(fault, options=('--role', 'admin', '--role', 'member')) == (
        0, [])


def test_without_nova_conf_nothing_is_checked(deployment):
    status, out, err = deployment.run('check')
    assert status == 1
    assert not out
    assert 'nova.conf' in err


# --- in words ----------------------------------------------------------------


def test_a_clean_pair_is_told_in_words(check, deployment):
    check()
    number = 2 + sum(
        name.startswith('os_s') and not name.startswith('os_skip_')
        for name in catalog.running())
    assert deployment.run('check') == (0, '\n', (
        f'0 findings; nova-api would start; {number} properties may be '
        'overridden by member, reader; Glance: the files that nova.conf names'
        '\n'))


@pytest.mark.parametrize(('allowed', 'status', 'told'), [
    ('', 0, '1 note; nova-api would start; no properties may be overridden by '
     'member, reader; Glance: not given'),
    ('vm_mode', 1, '1 error; nova-api would not start')])
def test_what_is_found_is_counted_in_words(
        deployment, allowed, status, told):
    deployment.write(
        'nova.conf', f'[image_override]\nallowed_properties = {allowed}')
    found, out, err = deployment.run('check')
    assert (found, err.splitlines()[-1]) == (status, told)
    assert 'allowed_properties' in out


def test_options_that_nova_knows_are_not_ours(check):
    """Nova's own sections that look like ours are none of our business."""
    assert check(('nova.conf', '[oslo_policy]', """[ironic]
        api_max_retries = 3
        [image_cache]
        manager_interval = 3
        [oslo_policy]""")) == (0, [])


@pytest.mark.parametrize(('page', 'app'), [
    ('README.md', paste_config.APP),
    # It changes api-paste.ini in a later step.
    ('docs/source/install/first-override.rst', paste_config.NOVA_APP)])
def test_pages_show_what_check_says_of_their_lists(deployment, page, app):
    paste_config.write(deployment.folder, app)
    text = (ROOT / page).read_text()
    lists = re.search(
        r'^ *\[image_override\]\n(?: +\w+ =.*\n)+', text, re.M)[0]
    deployment.write('nova.conf', lists)
    _, _, err = deployment.run('check')
    assert f'   {err.strip().splitlines()[-1]}\n' in text
