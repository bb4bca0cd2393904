"""What the operator's commands say of presets."""

from nova import objects
import pytest

from nova_image_override import policies
from nova_image_override.authorization import presets
from nova_image_override.cmd import cells
from nova_image_override.cmd import list_servers
from nova_image_override.override import UsedPreset
from nova_image_override.server_record import ServerRecord
from testing import examples
from tests.unit.cmd import deployed
from tests.unit.strategies import overrides_of

PRESETS = '''
menu: {description: x, properties: {hw_boot_menu: yes, os_admin_user: me}}
pages: {description: x, properties: {hw_mem_page_size: large}, flavors: [big]}
secret: {description: x, properties: {hw_boot_menu: yes}}
'''

POLICY = f'"{policies.PRESET_RULE.format("secret")}": "role:secret"\n'


@pytest.fixture
def run(deployment):
    """Write the files of a deployment with PRESETS, and run a command."""
    def run(*arguments, text=PRESETS, policy=POLICY, options=''):
        deployment.write('policy.yaml', policy)
        deployment.write('presets.yaml', text)
        deployment.write('nova.conf', (
            '[image_override]\npresets_file = {folder}/presets.yaml\n'
            + options +
            '\n[oslo_policy]\npolicy_file = {folder}/policy.yaml\n'))
        return deployment.rows(*arguments)
    objects.register_all()
    return run


def flavor(name, **specs):
    return objects.Flavor(
        name=name, vcpus=4, memory_mb=4096, root_gb=1, ephemeral_gb=0, swap=0,
        extra_specs={key.replace('__', ':'): value
                     for key, value in specs.items()})


def checked(run, *arguments, **kwargs):
    status, rows = run('check', *arguments, **kwargs)
    return status, [(row['Code'], row['Subject']) for row in rows]


class TestCheck:
    def test_each_is_judged_alone(self, run):
        status, rows = run('check')
        assert [(row['Code'], row['Subject']) for row in rows] == [
            ('N2', 'pages')]
        assert status == 0
        assert 'hw_mem_page_size: flavor_conflict: ' in rows[0]['Why']

    @pytest.mark.parametrize('properties, codes', [
        ('hw_machine_type: q35, hw_disk_bus: ide', [('N6', 'old')]),
        ('hw_machine_type: pc, hw_viommu_model: intel', [('N6', 'old')]),
        ('hw_machine_type: pc, hw_disk_bus: ide', []),
        ('hw_disk_bus: ide', [])])
    def test_what_no_host_builds_is_a_warning(self, run, properties, codes):
        text = f'old: {{description: x, properties: {{{properties}}}}}'
        status, found = checked(run, text=text, policy='')
        assert found == codes
        assert status == bool(codes)

    def test_what_the_rules_refuse_is_told(self, run):
        status, rows = run('check', '--role', 'secret', '--role', 'member',
                           options='denied_properties = os_admin_user')
        assert status == 1
        assert [(row['Code'], row['Subject']) for row in rows] == [
            ('N1', 'menu'), ('N2', 'pages')]
        assert 'os_admin_user: denied: ' in rows[0]['Why']

    def test_flavors_are_read_when_they_are_asked_for(self, run, monkeypatch):
        monkeypatch.setattr(cells, 'flavors', lambda: [
            flavor('plain'), flavor('big', hw__mem_page_size='large')])
        status, rows = run('check', '--flavors', '--role', 'secret',
                           '--role', 'member')
        assert status == 0
        assert {(row['Code'], row['Subject'], row['Why']) for row in rows} == {
            ('N5', 'menu', 'the preset goes with the flavors plain, big'),
            ('N5', 'secret', 'the preset goes with the flavors plain, big'),
            ('N5', 'pages', 'the preset goes with the flavors big')}
        (change,) = [row['What to change'] for row in rows
                     if row['Subject'] == 'pages']
        assert change.startswith('not with plain: hw_mem_page_size: ')

    @pytest.mark.parametrize(('policy', 'refused'), [
        ('', []),
        # What the rules refuse hides no flavor that does.
        (f'"{policies.PROPERTY_RULE.format("hw_mem_page_size")}": "!"\n',
         [('N1', 'pages')])])
    def test_a_preset_that_goes_with_no_flavor_is_told(
            self, run, monkeypatch, policy, refused):
        monkeypatch.setattr(cells, 'flavors', lambda: [flavor('plain')])
        assert checked(run, '--flavors', policy=policy) == (1, [
            *refused, ('N3', 'pages'), ('N4', 'pages'),
            ('N5', 'menu'), ('N5', 'secret')])

    def test_a_policy_of_no_preset_is_told(self, run):
        for name, told in (
                ('menu', []), ('gone', ['name a preset that there is'])):
            _, rows = run('check', policy=(
                f'"{policies.PRESET_RULE.format(name)}": "@"\n'))
            assert [row['What to change'][:27] for row in rows
                    if row['Code'] == 'P1'] == told

    def test_a_broken_file_is_told_and_nothing_else_of_it(self, run):
        _, found = checked(run, text='one: {}\ntwo: {}', policy='')
        assert {code for code, _ in found} == {'S1'}
        _, rows = run('check', text='one: [', policy='')
        assert 'nova-api does not start: [image_override] presets_file: ' in (
            rows[0]['Why'])

    def test_the_examples_need_nothing_but_flavors(self, run):
        status, found = checked(
            run, text=examples.PRESETS.read_text(), policy='')
        assert (status, found) == (
            0, [('N2', 'nfv-2m-pinned'), ('N2', 'nfv-realtime')])

    def test_the_examples_go_with_the_flavors_that_they_name(
            self, run, monkeypatch):
        monkeypatch.setattr(cells, 'flavors', lambda: [
            flavor('nfv', hw__mem_page_size='any'),
            flavor('realtime', hw__mem_page_size='any',
                   hw__cpu_realtime='yes')])
        status, found = checked(
            run, '--flavors', text=examples.PRESETS.read_text(), policy='')
        assert (status, {code for code, _ in found}) == (0, {'N5'})
        assert len(found) == 5


class TestExplain:
    def test_the_preset_comes_first_and_then_its_properties(self, run):
        status, rows = run('explain', '--preset', 'menu')
        assert status == 0
        assert rows[0] == {'Rule': 'preset menu', 'Verdict': 'permits',
                           'Reason': policies.CREATE}
        assert {'Rule': 'os_admin_user: allowed_properties',
                'Verdict': 'permits', 'Reason': 'preset menu'} in rows
        assert [row['Rule'] for row in rows].count('all') == 1

    def test_a_preset_that_is_closed_is_refused(self, run):
        status, rows = run('explain', '--preset', 'secret')
        assert status == 1
        assert rows[0] == {'Rule': 'preset secret', 'Verdict': 'refuses',
                           'Reason': policies.PRESET_RULE.format('secret')}
        assert run('explain', '--preset', 'secret', '--role', 'secret',
                   '--role', 'member')[0] == 0

    @pytest.mark.parametrize(('asked', 'status'), [
        ('hw_boot_menu=true', 0), ('hw_boot_menu=false', 1),
        ('hw_pmu=true', 1)])
    def test_a_property_beside_it(self, run, asked, status):
        found, rows = run('explain', asked, '--preset', 'menu')
        assert found == status
        assert 'allowed_properties' in [row['Rule'] for row in rows]

    def test_what_is_taken_out_of_it_needs_no_permission(self, run):
        found, rows = run('explain', 'hw_boot_menu=', '--preset', 'menu')
        assert found == 0
        assert {'Rule': 'preset menu', 'Verdict': 'permits',
                'Reason': 'hw_boot_menu is taken out of it'} in rows

    @pytest.mark.parametrize(('arguments', 'message'), [
        (['--preset', 'mneu'], 'did you mean menu?'),
        (['hw_pmu', '--preset', 'menu'], 'write hw_pmu=VALUE'),
        ([], 'write PROPERTY=VALUE')])
    def test_what_cannot_be_asked_is_told(
            self, run, deployment, arguments, message):
        run('explain', '--preset', 'menu')
        status, _, err = deployment.run('explain', *arguments)
        assert status == 1
        assert message in err


class TestServers:
    USED = presets.Preset.of(
        'menu', overrides_of({'hw_boot_menu': 'true'})).overrides.preset

    @pytest.fixture
    def listed(self, deployment, monkeypatch):
        for name, text in deployed.FILES.items():
            deployment.write(name, text.replace(
                '[image_override]',
                '[image_override]\npresets_file = {folder}/presets.yaml'))
        deployment.write('presets.yaml', (
            'menu: {description: x, properties: {hw_boot_menu: yes}}\n'
            'bus: {description: x, properties: {hw_disk_bus: ide}}\n'))
        servers = []
        for name, used, asked in (
                ('now', self.USED, {'hw_boot_menu': 'true'}),
                ('older', ('menu', 'another'), {'hw_boot_menu': 'true'}),
                ('gone', ('old', self.USED.digest), {'hw_disk_bus': 'ide'}),
                ('none', None, {'hw_disk_bus': 'ide'}),
                ('kept', ('bus', 'another'), {'hw_disk_bus': 'ide'})):
            server = deployed.server(name, **asked)
            server.system_metadata.update(
                ServerRecord.read({}).with_properties(
                    overrides_of(asked, used and UsedPreset(*used)).recorded(
                        {})))
            servers.append(('cell1', server))
        monkeypatch.setattr(
            list_servers, 'overridden', lambda *asked: iter(servers))

        def listed(*arguments):
            status, rows = deployment.rows('servers', *arguments)
            return status, {row['Server']: row['Preset'] for row in rows}
        return listed

    def test_the_preset_is_beside_the_overrides(self, listed):
        assert listed() == (0, {
            'now': 'menu', 'older': 'menu', 'gone': 'old', 'none': None,
            'kept': 'bus'})

    def test_the_outdated_ones_are_those_of_another_file(self, listed):
        assert listed('--outdated') == (
            0, {'older': 'menu', 'gone': 'old', 'kept': 'bus'})

    def test_what_a_preset_still_has_is_still_allowed(self, listed):
        status, found = listed('--no-longer-allowed')
        assert (status, found) == (1, {'gone': 'old', 'none': None})
