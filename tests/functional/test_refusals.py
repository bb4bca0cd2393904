"""What is refused, how the answer reads, and that nothing is left behind."""

import json

import pytest

from testing.harness import base
from testing.harness import ids


class TestInvalid:
    """400: the request is wrong, whoever makes it."""

    BUILD = False

    @pytest.mark.smoke
    def test_one_answer_names_every_offending_property(self, cloud):
        answer = cloud.create({
            'hw_disk_bus': 'scsi', 'hw_numa_node': '2',
            'hw_boot_menu': 'maybe', 'vm_mode': 'hvm', 'os_type': 3})
        cloud.assert_refused(answer, 400, {
            'hw_boot_menu': 'invalid_value', 'hw_numa_node': 'unknown',
            'os_type': 'invalid_type', 'vm_mode': 'legacy_name'})
        assert list(answer.body) == ['badRequest']
        fault = answer.body['badRequest']
        assert fault['code'] == 400
        positions = [fault['message'].index(f'{name}: {detail["code"]}: '
                                            f'{detail["reason"]}')
                     for name, detail in fault[base.PARAMETER].items()]
        assert positions == sorted(positions)

    # One of each kind, and what JSON could spoil: the unit tests of the parser
    # have the others.
    @pytest.mark.parametrize('name, value, code, hint', [
        ('hw_os_command_line', '1', 'unknown', 'os_command_line'),
        ('hw_numa_nodes\n', '1', 'unknown', 'hw_numa_nodes'),
        ('hw_numa_nodes\x00', '1', 'unknown', ''),
        ('', '1', 'unknown', ''),
        ('\uff48w_numa_nodes', '1', 'unknown', 'hw_numa_nodes'),
        ('\ud800', '1', 'unknown', ''),
        ('x' * 10000, '1', 'unknown', ''),
        ('vmware_adaptertype', '1', 'legacy_name',
         'hw_disk_bus or hw_scsi_model'),
        ('traits_required', '1', 'list_field', 'trait:NAME'),
        ('hw_numa_nodes', 2.0, 'invalid_type', 'a number'),
        ('hw_boot_menu', {'a': 'b'}, 'invalid_type', 'an object'),
        ('hw_boot_menu', '', 'invalid_value', 'send null'),
        ('hw_numa_nodes', '\uff12', 'invalid_value', 'from 1 to 128'),
        ('hw_numa_cpus.1', '0', 'numa_gap', 'hw_numa_cpus.0'),
        ('os_command_line', 'é' * 128, 'too_long', '256 bytes'),
        ('os_command_line', 'x' * 100000, 'too_long', '255 bytes'),
        ('os_command_line', 'a\x00b', 'invalid_value', 'control'),
        ('os_command_line', 'a\ud800', 'invalid_value', 'control'),
        ('os_command_line', '\U0001f600', 'invalid_value', 'U+FFFF'),
    ], ids=ids.short)
    def test_a_wrong_name_or_value_is_refused_and_nothing_is_created(
            self, cloud, name, value, code, hint):
        answer = cloud.create({name: value}).expect(400, {name: code})
        assert hint in answer.message
        cloud.assert_nothing_created()

    @pytest.mark.parametrize('value, code', [
        ('hw_numa_nodes=2', 'invalid_type'), (None, 'invalid_type'),
        (['hw_numa_nodes'], 'invalid_type'), (True, 'invalid_type'),
        ({f'hw_numa_mem.{n}': '1' for n in range(129)}, 'too_many'),
    ], ids=ids.short)
    def test_the_parameter_as_a_whole(self, cloud, value, code):
        cloud.assert_refused(
            cloud.create(server={base.PARAMETER: value}), 400,
            {base.PARAMETER: code})

    def test_beside_the_server_it_is_novas_400(self, cloud):
        answer = cloud.http('POST', '/servers', {
            **cloud.server_body(), base.PARAMETER: {'hw_numa_nodes': '2'}})
        assert answer.status == 400
        assert 'Additional properties' in answer.message
        cloud.assert_nothing_created()

    def test_of_a_name_sent_twice_the_last_counts_as_for_all_of_nova(
            self, cloud):
        body = json.dumps(cloud.server_body({'hw_disk_bus': 'X'}))
        body = body.replace('"hw_disk_bus": "X"',
                            '"hw_disk_bus": "bad", "hw_disk_bus": "scsi"')
        cloud.http('POST', '/servers', body.encode()).expect(202)
        shown = cloud.http('GET', '/servers/detail').body['servers']
        assert shown[0][base.PARAMETER] == {'hw_disk_bus': 'scsi'}

    @pytest.mark.parametrize('properties, problems', [
        ({'architecture': 'bogus'}, {'architecture': 'unreadable'}),
        ({'hw_numa_cpus__0': 'abc'}, {'hw_numa_cpus.0': 'unreadable'}),
        ({'hw_numa_cpus__0': '0-99999999999'},
         {'hw_numa_cpus.0': 'unreadable'}),
        ({'hw_cpu_realtime_mask': '^0-99999999999'},
         {'hw_cpu_realtime_mask': 'unreadable'})], ids=ids.short)
    def test_what_the_image_itself_gets_wrong_is_named(
            self, cloud, properties, problems):
        answer = cloud.create({'hw_boot_menu': 'true'},
                              image=cloud.image(**properties))
        cloud.assert_refused(answer, 400, problems)
        assert 'image' in answer.message

    def test_what_the_image_gets_wrong_can_be_overridden(self, cloud):
        image = cloud.image(hw_numa_cpus__0='0-99999999999')
        nodes = {'hw_numa_nodes': '1', 'hw_numa_cpus.0': '0-1',
                 'hw_numa_mem.0': '1024'}
        assert cloud.create(nodes, image=image).status == 202
        answer = cloud.create({**nodes, 'hw_numa_nodes': '3'},
                              image=image).expect(400)
        assert set(answer.problems.values()) == {'flavor_conflict'}


class TestForbidden:
    """403: rules 1 to 3."""

    BUILD = False

    OPTIONS = {
        'allowed_properties': [
            'hw_*', 'img_*', 'os_type=linux', 'trait:CUSTOM_*',
            'hw_numa_mem.0'],
        'denied_properties': [
            'hw_numa_cpus', 'hw_boot_menu=True', 'trait:CUSTOM_SECRET*',
            'hw_disk_bus=s*'],
    }

    @pytest.mark.smoke
    def test_one_answer_names_every_refused_property(self, cloud):
        answer = cloud.create({
            'hw_vif_model': 'e1000',
            'img_signature': 'x', 'img_mappings': 'x',
            'img_signature_certificate_uuid': 'x',
            'hw_numa_cpus.0': '0', 'hw_boot_menu': 'on',
            'trait:CUSTOM_SECRET_1': 'required', 'hw_disk_bus': 'scsi',
            'os_distro': 'debian', 'os_type': 'windows',
            'trait:HW_CPU_X86_AVX': 'required'})
        cloud.assert_refused(answer, 403, {
            'hw_boot_menu': 'denied',
            'hw_disk_bus': 'denied',
            'img_signature_certificate_uuid': 'never',
            'hw_numa_cpus.0': 'denied',
            'img_mappings': 'never',
            'img_signature': 'never',
            'os_distro': 'not_allowed',
            'os_type': 'value_not_allowed',
            'trait:CUSTOM_SECRET_1': 'denied',
            'trait:HW_CPU_X86_AVX': 'not_allowed'})
        assert list(answer.body) == ['forbidden']
        assert 'only linux' in answer.message

    def test_one_answer_names_what_flavor_and_image_exclude_too(self, cloud):
        answer = cloud.create({
            'os_distro': 'debian', 'hw_video_ram': '16',
            'hw_numa_mem.0': '64', 'hw_vif_model': 'e1000'})
        cloud.assert_refused(answer, 403, {
            'os_distro': 'not_allowed', 'hw_video_ram': 'flavor_conflict',
            'hw_numa_mem.0': 'no_effect'})

    @pytest.mark.parametrize('wrong', [
        {'hw_cpu_sockets': 'many'}, {'hw_numa_mem.1': '64'}])
    def test_one_answer_names_what_cannot_be_read_and_what_is_left_to_check(
            self, cloud, wrong):
        answer = cloud.create({
            'os_distro': 'debian', 'hw_vif_model': 'e1000', **wrong})
        assert answer.status == 403, answer.text
        assert answer.problems.keys() == {'os_distro', *wrong}
        assert answer.message.endswith(
            'Not checked with flavor and image yet: hw_vif_model')

    def test_what_is_left_is_permitted(self, cloud):
        asked = {'hw_vif_model': 'e1000', 'hw_boot_menu': 'false',
                 'hw_disk_bus': 'virtio', 'os_type': 'linux'}
        assert cloud.create(asked).status == 202
        shown = cloud.http('GET', '/servers/detail').body['servers']
        assert shown[0][base.PARAMETER] == asked

    def test_removal_needs_an_entry_without_values(self, cloud):
        image = cloud.image(os_type='linux', hw_vif_model='e1000')
        cloud.assert_refused(
            cloud.create({'os_type': None}, image=image), 403,
            {'os_type': 'value_not_allowed'})
        assert cloud.create({'hw_vif_model': None}, image=image).status == 202

    def test_overrides_of_a_volume_are_judged_alike(self, cloud):
        cloud.assert_refused(
            cloud.create({'os_distro': 'debian'}, image=None,
                         server=cloud.from_volume(cloud.volume())),
            403, {'os_distro': 'not_allowed'})


class TestNothingAllowed:
    """The default: closed until the deployer says otherwise."""

    OPTIONS: dict[str, list[str]] = {}

    def test_every_override_is_refused(self, cloud):
        for admin in (False, True):
            cloud.assert_refused(
                cloud.create({'hw_boot_menu': 'true'}, admin=admin), 403,
                {'hw_boot_menu': 'not_allowed'})

    def test_a_server_without_overrides_boots(self, cloud):
        assert cloud.record(cloud.boot({})) == {}


class TestPolicy:
    """403: rule 6."""

    BUILD = False

    _CREATE = 'os_compute_api:servers:create:image_props_override'
    POLICY = {
        _CREATE + ':hw_numa_nodes': 'role:nfv',
        _CREATE + ':traits_required': 'role:nfv or role:admin',
        _CREATE + ':hw_numa_mem': '!',
    }

    @pytest.mark.smoke
    def test_a_rule_of_policy_yaml_guards_one_property(self, cloud):
        asked = {'hw_numa_nodes': '1', 'hw_disk_bus': 'scsi'}
        answer = cloud.create(asked)
        cloud.assert_refused(answer, 403, {'hw_numa_nodes': 'policy'})
        assert self._CREATE + ':hw_numa_nodes' in answer.message
        assert cloud.create(asked, roles='member,reader,nfv').status == 202

    def test_a_rule_of_a_field_covers_its_spellings(self, cloud):
        cloud.assert_refused(
            cloud.create({'trait:CUSTOM_A': 'required', 'hw_numa_mem.0': '1'}),
            403, {'trait:CUSTOM_A': 'policy', 'hw_numa_mem.0': 'policy'})

    def test_a_reader_may_not_override(self, cloud):
        cloud.create({'hw_disk_bus': 'scsi'}, roles='reader').expect(403)
        cloud.assert_nothing_created()


class TestPolicyForbidsAll:
    BUILD = False
    POLICY = {
        'os_compute_api:servers:create:image_props_override': 'role:admin'}

    def test_members_are_refused_by_the_rule_and_admins_not(self, cloud):
        asked = {'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true'}
        answer = cloud.create(asked)
        cloud.assert_refused(
            answer, 403, {'hw_disk_bus': 'policy', 'hw_boot_menu': 'policy'})
        assert cloud.create(asked, admin=True).status == 202
        assert cloud.create({}).status == 202
