"""POST /image-props-override/check: what a create would get."""

from unittest import mock

from nova.compute import api
import pytest

from nova_image_override import errors
from nova_image_override import versions
from testing.harness import base
from testing.harness import statements
from tests.functional import check_case


class Cloud(check_case.Cloud):
    OPTIONS = {
        'allowed_properties': ['*'], 'denied_properties': ['hw_vif_model']}


class TestAnswers:
    BUILD = False

    def test_the_merged_properties_and_whose_values_they_are(self, cloud):
        image = cloud.image(hw_disk_bus='virtio', os_distro='debian')
        assert cloud.told(
            {'hw_disk_bus': 'scsi', 'hw_boot_menu': 'yes'}, image=image) == {
                'properties': {
                    'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true',
                    'os_distro': 'debian'}, 'overridden': {
                        'hw_disk_bus': {
                            'value': 'scsi', 'image_value': 'virtio'},
                        'hw_boot_menu': {'value': 'true', 'image_value': None}},
                'numa_topology': None}
        cloud.assert_nothing_created()

    def test_a_removed_property_has_no_value(self, cloud):
        told = cloud.told({'hw_disk_bus': None},
                          image=cloud.image(hw_disk_bus='virtio'))
        assert told['properties'] == {}
        assert told['overridden'] == {
            'hw_disk_bus': {'value': None, 'image_value': 'virtio'}}

    def test_an_answer_has_at_most_64_kib_and_says_what_it_leaves_out(
            self, cloud):
        image = cloud.image(**{f'x_{n}': 'y' * 200 for n in range(400)})
        answer = cloud.check({'hw_boot_menu': 'true'}, image=image)
        assert 60 * 1024 < len(answer.text) <= errors.ANSWER_MAX
        told = answer.body[base.PARAMETER]
        assert list(told['overridden']) == ['hw_boot_menu']
        assert told['properties']
        assert len(told['properties']) + told['left_out'] == 401

    def test_an_answer_that_has_room_leaves_nothing_out(self, cloud):
        image = cloud.image(**{f'x_{n}': 'y' * 200 for n in range(280)})
        answer = cloud.check({'hw_boot_menu': 'true'}, image=image)
        assert len(answer.text) > 58 * 1024
        assert len(answer.body[base.PARAMETER]['properties']) == 281
        assert 'left_out' not in answer.body[base.PARAMETER]

    def test_a_volume_s_properties_are_those_of_its_metadata(self, cloud):
        told = cloud.told(
            {'hw_disk_bus': 'scsi'}, image=None, server=cloud.from_volume(
                cloud.volume(hw_disk_bus='virtio', os_distro='debian')))
        assert told['properties']['os_distro'] == 'debian'
        assert told['properties']['hw_disk_bus'] == 'scsi'
        assert told['overridden']['hw_disk_bus']['image_value'] == 'virtio'

    def test_a_blank_boot_volume_has_nothing(self, cloud):
        assert cloud.told(image=None, server={'block_device_mapping_v2': [{
            'boot_index': 0, 'source_type': 'blank',
            'destination_type': 'volume', 'volume_size': 1}]}) == {
                'properties': {}, 'overridden': {}, 'numa_topology': None}

    def test_a_legacy_name_of_the_image_is_gone_as_at_create(self, cloud):
        told = cloud.told({'hw_disk_bus': 'ide'},
                          image=cloud.image(vmware_adaptertype='lsiLogic'))
        assert 'vmware_adaptertype' not in {
            name for name, value in told['properties'].items()
            if value == 'lsiLogic'}

    def test_without_overrides_it_tells_what_image_and_flavor_make(self, cloud):
        for overrides in (None, {}):
            assert cloud.told(
                overrides, image=cloud.image(hw_disk_bus='ide')) == {
                    'properties': {'hw_disk_bus': 'ide'}, 'overridden': {},
                    'numa_topology': None}

    def test_a_name_and_networks_may_be_left_out_in_every_microversion(
            self, cloud):
        server = cloud.server_body({'hw_disk_bus': 'ide'})['server']
        del server['name'], server['networks']
        for compute in (None, '2.1', '2.36', '2.37', '2.93', 'latest'):
            answer = cloud.http('POST', versions.CHECK_PATH,
                                {'server': server}, compute=compute)
            assert answer.status == 200, (compute, answer.text)

    def test_a_check_is_permitted_to_whom_a_create_is(self, cloud):
        cloud.assert_as_create(
            cloud.server_body({'hw_disk_bus': 'ide'}), 403, roles='reader')


class TestTopologies:
    @pytest.mark.smoke
    def test_the_topology_that_is_told_is_the_one_that_is_built(self, cloud):
        overrides = {
            'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0',
            'hw_numa_cpus.1': '1-3', 'hw_numa_mem.0': '256',
            'hw_numa_mem.1': '768'}
        flavor = cloud.flavor(vcpus=4, ram=1024)
        told = cloud.told(overrides, flavor=flavor)['numa_topology']
        assert told == {
            'nodes': [{
                'id': 0, 'cpus': [0], 'dedicated_cpus': [], 'memory_mb': 256,
                'page_size': None, 'cpu_policy': None,
                'cpu_thread_policy': None}, {
                    'id': 1, 'cpus': [1, 2, 3], 'dedicated_cpus': [],
                    'memory_mb': 768, 'page_size': None, 'cpu_policy': None,
                    'cpu_thread_policy': None}],
            'emulator_threads_policy': None}
        server = cloud.boot(overrides, flavor=flavor)
        assert [(sorted(cell.total_cpus), cell.memory)
                for cell in cloud.instance(server).numa_topology.cells] == [
                    (node['cpus'], node['memory_mb']) for node in told['nodes']]

    def test_page_sizes_and_policies_are_told_by_their_names(self, cloud):
        def node(overrides, **specs):
            return cloud.told(overrides, flavor=cloud.flavor(**specs))[
                'numa_topology']['nodes'][0]

        for size, told in (('small', 'small'), ('large', 'large'),
                           ('any', 'any'), ('2MB', 2048), ('1048576', 2**20)):
            assert node({'hw_mem_page_size': size},
                        hw__mem_page_size='any')['page_size'] == told
        found = node({'hw_cpu_policy': 'dedicated',
                      'hw_cpu_thread_policy': 'isolate'})
        assert (found['cpu_policy'], found['cpu_thread_policy'], found['cpus'],
                found['dedicated_cpus']) == ('dedicated', 'isolate', [0, 1], [
                    0, 1])
        # No image property sets this.
        assert cloud.told({'hw_cpu_policy': 'dedicated'}, flavor=cloud.flavor(
            hw__cpu_policy='dedicated', hw__emulator_threads_policy='isolate'
        ))['numa_topology']['emulator_threads_policy'] == 'isolate'


class TestRefusals:
    BUILD = False

    @pytest.mark.smoke
    def test_a_refusal_is_exactly_that_of_the_create(self, cloud):
        for status, overrides in (
                (400, {'hw_disk_buss': 'ide', 'hw_boot_menu': 'perhaps'}),
                (400, {'hw_numa_nodes': '5'}),
                (400, {'hw_cpu_realtime_mask': '^0'}),
                (400, {'hw_mem_page_size': 'large'}),
                (400, 'hw_disk_bus=ide'),
                (400, ['hw_disk_bus']),
                (403, {'hw_vif_model': 'e1000', 'img_signature': 'x'})):
            cloud.assert_as_create(cloud.server_body(overrides), status)

    def test_a_refusal_of_novas_own_is_exactly_that_of_the_create(self, cloud):
        overrides = {'hw_disk_bus': 'ide'}
        missing = '7c1f1b1e-1d6a-4b43-9f39-3b1b1a1c0f00'
        for server in (
                {'flavor': 'none'}, {'image': missing}, {'image': None},
                {'image': None, 'block_device_mapping_v2': [{
                    'boot_index': 0, 'source_type': 'image', 'uuid': missing,
                    'destination_type': 'volume', 'volume_size': 1}]},
                {'key_name': 'none'}, {'name': ''}, {'min_count': 0},
                {'min_count': 2, 'max_count': 1}, {'no_such_key': 'x'},
                {'availability_zone': 'none'}):
            cloud.assert_as_create(cloud.server_body(overrides, **server), 400)
        for body in ({}, {'server': None}, {'server': []}, [], 'server',
                     {**cloud.server_body(overrides), base.PARAMETER: {}}):
            cloud.assert_as_create(body, 400)

    def test_a_full_quota_is_told(self, cloud):
        cloud.flags(group='quota', instances=1)
        cloud.assert_as_create(
            cloud.server_body({'hw_disk_bus': 'ide'}, min_count=2), 403)

    def test_a_disk_that_the_flavor_does_not_take_is_refused(self, cloud):
        cloud.assert_as_create(cloud.server_body(
            {'hw_disk_bus': 'ide'}, block_device_mapping_v2=[
                {'boot_index': 0, 'source_type': 'image', 'uuid': base.IMAGE,
                 'destination_type': 'local'},
                {'boot_index': -1, 'source_type': 'blank',
                 'destination_type': 'local', 'guest_format': 'ext4',
                 'volume_size': 1}]), 400)

    def test_a_full_quota_of_a_server_group_is_told(self, cloud):
        cloud.flags(group='quota', server_group_members=1)
        made = cloud.http('POST', '/os-server-groups', {
            'server_group': {'name': 'test', 'policies': ['affinity']}},
            compute='2.1').expect(200)
        hints = {'group': made.body['server_group']['id']}

        def body(count):
            return {**cloud.server_body(
                {'hw_disk_bus': 'ide'}, min_count=count),
                'os:scheduler_hints': hints}

        cloud.http('POST', versions.CHECK_PATH, body(1)).expect(200)
        cloud.assert_as_create(body(2), 403)

    def test_a_request_that_does_not_name_the_extension_is_refused(self, cloud):
        answer = cloud.check({'hw_disk_bus': 'ide'}, extension=None)
        cloud.assert_refused(
            answer, 400, {base.PARAMETER: errors.VERSION_MISSING})

    def test_the_legacy_api_does_not_take_it(self, cloud):
        assert cloud.check({'hw_disk_bus': 'ide'}, api='v2',
                           compute=None).problems == {
                               base.PARAMETER: errors.NOT_HERE}

    def test_nothing_is_left_behind(self, cloud):
        made = []
        volume = cloud.volume()
        cloud.useFixture(statements.Statements(made.append))
        # What the Cinder fixture has put there cannot be autospecced again.
        with mock.patch('nova.volume.cinder.API.attachment_create',
                        autospec=False) as attach:
            for image, server in (
                    (None, cloud.from_volume(volume)), (base.IMAGE, {}),
                    (base.IMAGE, {'block_device_mapping_v2': [
                        {'boot_index': 0, 'source_type': 'image',
                         'destination_type': 'local', 'uuid': base.IMAGE},
                        {'boot_index': -1, 'source_type': 'volume',
                         'destination_type': 'volume', 'uuid': volume}]})):
                cloud.check({'hw_disk_bus': 'ide'}, image=image,
                            server=server).expect(200)
        attach.assert_not_called()
        # With all services stopped, tests/proof/test_check.py counts whatever
        # changes anything.
        assert [
            text for text in statements.changing(made)
            if 'flavor' not in text] == []

    def test_a_check_that_nova_does_not_end_creates_no_server_in_silence(
            self, cloud):
        with mock.patch.object(
                api.API, '_provision_instances', autospec=True,
                side_effect=KeyError('renamed')):
            assert cloud.check({'hw_disk_bus': 'ide'}).status == 500
        cloud.assert_nothing_created()
