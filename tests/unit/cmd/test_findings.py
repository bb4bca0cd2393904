"""Each finding that is documented comes from ``check`` run as a process.

A few deployments have all of them between them: a process takes seconds.
"""

import json
import pathlib
import re

import pytest

from testing import paste_config
from tests.unit.cmd import processes

pytestmark = pytest.mark.process

ROOT = pathlib.Path(__file__).parents[3]
CREATE = 'os_compute_api:servers:create:image_props_override'

#: Nothing here stops nova-api.
MISTAKES = '''
[DEFAULT]
denied_properties = hw_*
[image_overrides]
[image_override]
allowed_properties = hw_disk_bus
allowed_properties = hw_bot_menu, xx_*, os_type, hw_tpm_model, hw_rng_model,
    os_admin_user, os_require_quiesce, hw_time_hpet, img_linked_clone,
    hw_video_model
denied_propertys = os_*
denied_properties = hw_rng_model
virt_drivers = libvirt, ironic
presets_file = {folder}/presets.yaml
glance_image_import_files = {folder}/import.conf
property_protection_file = {folder}/protections.conf
property_protection_rule_format = policies
property_protection_policy_file = {folder}/glance-policy.yaml
[oslo_policy]
policy_file = {folder}/policy.yaml
policy_dirs = {folder}/nowhere.d
'''

FILES = {
    'policy.yaml': f'''
"os_compute_api:servers:create:image_prop_override": "role:admin"
"{CREATE}": "rol:admin or rule:project_member_or_admin"
"{CREATE}:hw_time_hpet": "rule:admin_apii or role member"
''',
    'presets.yaml': '''
small: {description: x, properties: {os_admin_user: me}}
pages: {description: x, flavors: [gone],
        properties: {hw_mem_page_size: small}}
many: {description: x, properties: {hw_cpu_sockets: '64'}}
pair: {description: x,
       properties: {hw_machine_type: pc, hw_viommu_model: intel}}
''',
    'import.conf': '''
[image_import_opts]
image_import_plugins = [inject_image_metadata]
[inject_metadata_properties]
inject = os_require_quiesce:no
''',
    'protections.conf': '''
[^os_admin_user$]
create = nobody
read = nobody
update = nobody
delete = nobody
[.*]
create = members
read = members
update = members
delete = members
''',
    'glance-policy.yaml': '"members": "role:member"\n',
}

#: Run in place of the command, with a Nova that differs from all that we know.
ANOTHER_NOVA = '''
import sys
import nova.cmd
from nova.objects import image_meta
from oslo_versionedobjects import fields
image_meta.ImageMetaProps.fields['hw_later'] = fields.StringField()
{more}
from nova_image_override.cmd import shell
sys.exit(shell.main())
'''


def check(*arguments, code=None):
    """Run the check; return its findings, and the summary."""
    command = ('python', '-W', 'ignore', '-c', code) if code else (
        'nova-image-override',)
    done = processes.run(*command, 'check', *arguments, '-f', 'json')
    assert done.out, done.lines
    # Before the summary come nova-api's own warnings.
    return json.loads(done.out), done.lines[-1], done.status


def write(folder, text, **files):
    for name, content in files.items():
        (folder / name).write_text(content)
    path = folder / 'nova.conf'
    path.write_text(text.replace('{folder}', str(folder)))
    return path


@pytest.fixture
def mistakes(tmp_path, databases):
    path = pathlib.Path(paste_config.write(tmp_path, paste_config.APP))
    # Of two composites one leads to Nova's.
    path.write_text(path.read_text().replace(
        'legacy_v2_compatible osapi_compute_app_v21',
        'legacy_v2_compatible novas') + (
            f'[app:novas]\npaste.app_factory = {paste_config.NOVA_APP}\n'))
    conf = write(tmp_path, MISTAKES, **FILES)
    return check('--config-file', databases, '--config-file', conf,
                 '--compute-nodes', '--flavors')


#: How the other deployments differ from an empty one without api-paste.ini.
OTHERS = {
    'stops': {'text': '''
allowed_properties = *, vm_mode
presets_file = {folder}/presets.yaml
[wsgi]
api_paste_config = {folder}/misspelt.ini
''', 'files': {
        'misspelt.ini': '[composite:osapi_compute]\nuse = call:nova.apy:x\n',
        'presets.yaml': 'a: {description: x, propertis: {hw_pmu: yes}}\n'}},
    'wrong_class': {'app': 'nova_image_override.errors:Problem'},
    'no_paste_file': {'words': ('--api-paste', 'nowhere.ini')},
    'another_nova': {'text': 'allowed_properties =\n', 'more': ''},
    'presets': {
        'app': paste_config.APP, 'files': FILES,
        'text': 'presets_file = {folder}/presets.yaml\n'},
    'unsupported_nova': {'app': paste_config.APP, 'more': '''
from nova.compute import utils
del utils.get_root_bdm
'''},
}


@pytest.fixture
def other(tmp_path):
    def other(app=None, text='', files=(), words=(), more=None):
        if app:
            paste_config.write(tmp_path, app)
        conf = write(tmp_path, f'[image_override]\n{text}', **dict(files))
        return check('--config-file', conf, *words, code=None if more is None
                     else ANOTHER_NOVA.format(more=more))
    return other


#: deployment, code, subject -> what the row says besides.
FINDINGS = [
    ('stops', 'S1', 'vm_mode', 'legacy name'),
    ('stops', 'S1', 'presets.yaml', 'did you mean properties?'),
    ('unsupported_nova', 'S2', 'Nova', 'get_root_bdm'),
    ('stops', 'S3', 'misspelt.ini', 'nova.apy'),
    ('wrong_class', 'S3', 'api-paste.ini', 'correct the file'),
    ('no_paste_file', 'S3', 'nowhere.ini', 'Could not find config'),
    ('mistakes', 'S4', '[app:novas]', 'the extension is off'),
    ('another_nova', 'S5', 'api-paste.ini', 'has not been tried'),
    ('mistakes', 'O1', 'denied_propertys', 'write denied_properties'),
    ('mistakes', 'O1', 'denied_properties', 'move it to [image_override]'),
    ('mistakes', 'O2', '[image_overrides]', 'call it [image_override]'),
    ('mistakes', 'O3', 'allowed_properties', 'only the last one counts: '
     'hw_bot_menu'),
    ('mistakes', 'L1', 'hw_bot_menu', 'write hw_boot_menu'),
    ('mistakes', 'L2', 'xx_*', 'matches no property'),
    ('mistakes', 'L3', 'hw_rng_model', 'denies everything'),
    ('another_nova', 'L4', 'allowed_properties', 'empty'),
    ('another_nova', 'L5', 'hw_later', 'newer release'),
    ('stops', 'L6', '*', 'every property'),
    ('mistakes', 'H1', 'img_linked_clone', 'no driver'),
    ('mistakes', 'H2', 'ironic', 'no compute node has this driver'),
    ('mistakes', 'H3', 'hw_video_model', 'qxl'),
    ('mistakes', 'H4', 'hw_tpm_model', 'swtpm_enabled'),
    ('mistakes', 'B1', 'os_type', 'notifications'),
    ('mistakes', 'P1', 'os_compute_api:servers:create:image_prop_override',
     f'write {CREATE}'),
    ('mistakes', 'P2', 'nowhere.d', 'not there'),
    ('mistakes', 'P3', CREATE, 'did you mean role?'),
    ('mistakes', 'P3', f'{CREATE}:hw_time_hpet', 'cannot read'),
    ('mistakes', 'A1', 'os_admin_user', 'may neither create nor update'),
    ('mistakes', 'A2', 'os_require_quiesce', 'injects'),
    ('mistakes', 'A3', 'nobody', 'not defined'),
    ('mistakes', 'N1', 'small', 'protected'),
    ('presets', 'N2', 'many', 'flavor without extra specs'),
    ('mistakes', 'N3', 'many', 'no flavor'),
    ('mistakes', 'N4', 'pages', 'no such flavor'),
    ('mistakes', 'N5', 'pages', 'plain'),
    ('presets', 'N6', 'pair', 'vIOMMU'),
]


#: deployment -> what the last line says of the start.
STARTS = {
    'mistakes': "nova-api would start with Nova's own application",
    'stops': 'nova-api would not start',
    'unsupported_nova': 'nova-api would not start',
    'wrong_class': 'nova-api would not start',
    'no_paste_file': 'nova-api would not start',
    'another_nova': 'api-paste.ini has not been tried',
    'presets': 'nova-api would start; ',
}


@pytest.mark.parametrize('deployment', STARTS)
def test_check_finds(deployment, request):
    rows, summary, status = (
        request.getfixturevalue('other')(**OTHERS[deployment])
        if deployment in OTHERS else request.getfixturevalue(deployment))
    for name, code, subject, words in FINDINGS:
        if name == deployment:
            said = [f'{row["Why"]} {row["What to change"]}' for row in rows
                    if row['Code'] == code
                    and row['Subject'].endswith(subject)]
            assert len(said) == 1, (code, subject, rows)
            assert words in said[0]
    assert STARTS[deployment] in summary
    assert status == int(any(row['Severity'] != 'note' for row in rows))


def test_every_documented_finding_is_here_and_the_other_way_round():
    page = (ROOT / 'docs/source/admin/findings.rst').read_text()
    documented = re.findall(r'^   \* - ([A-Z][0-9])$', page, re.M)
    assert set(documented) == {code for _, code, _, _ in FINDINGS}
    assert STARTS.keys() == {name for name, *_ in FINDINGS}
