"""PUT /servers/{id} replaces the overrides of a server that is not running.

They act when the guest is next built: at the start of a stopped server, or at
the unshelving of an offloaded one.
"""

import pytest

from testing.harness import base
from tests.functional import update_case


class Cloud(update_case.Cloud):
    def assert_gets_numa(self, server):
        answer = self.update(server, update_case.NUMA)
        assert answer.status == 200, answer.text
        self.assert_changed(server, update_case.NUMA)
        self.do(server, 'unshelve')
        assert [(cell.get('cpus'), cell.get('memory'))
                for cell in self.guest(server).findall('cpu/numa/cell')] == [
                    ('0', str(256 * 1024)), ('1', str(768 * 1024))]
        self.assert_changed(server, update_case.NUMA)
        self.hard_reboot(server)
        assert len(self.guest(server).findall('cpu/numa/cell')) == 2


class TestStopped:
    @pytest.mark.smoke
    def test_an_override_acts_at_the_next_start(self, cloud):
        server = cloud.stopped({'hw_machine_type': 'pc-q35-2.10'})
        before = cloud.built[server]
        answer = cloud.update(server, {'hw_video_model': 'vga'})
        assert answer.status == 200, answer.text
        assert answer.body['server'][base.PARAMETER] == {
            'hw_video_model': 'vga'}
        assert cloud.built[server] == before
        cloud.do(server, 'os-start')
        assert cloud.guest(server).find('devices/video/model').get(
            'type') == 'vga'
        cloud.assert_changed(server, {'hw_video_model': 'vga'})
        cloud.hard_reboot(server)
        cloud.assert_changed(server, {'hw_video_model': 'vga'})

    def test_the_set_is_replaced_and_what_is_dropped_is_the_images_again(
            self, cloud):
        image = cloud.image(hw_video_model='cirrus')
        server = cloud.stopped({'hw_video_model': 'vga'}, image=image)
        assert cloud.update(server, {'hw_vif_model': 'e1000'}).status == 200
        cloud.assert_changed(server, {'hw_vif_model': 'e1000'})
        assert cloud.system_metadata(server)['hw_video_model'] == 'cirrus'
        assert cloud.update(server, {}).status == 200
        cloud.assert_changed(server, {})
        assert cloud.record(server) == {}

    def test_null_removes_the_images_property(self, cloud):
        server = cloud.stopped(image=cloud.image(hw_video_model='cirrus'))
        answer = cloud.update(server, {'hw_video_model': None})
        assert answer.status == 200, answer.text
        assert answer.body['server'][base.PARAMETER] == {'hw_video_model': None}
        assert 'hw_video_model' not in cloud.system_metadata(server)
        assert cloud.record(server) == {'hw_video_model': 'cirrus'}

    def test_what_was_removed_is_set_and_is_the_images_again(self, cloud):
        server = cloud.stopped({'hw_video_model': None},
                               image=cloud.image(hw_video_model='cirrus'))
        # nova-compute's default, as the image's was removed.
        assert cloud.system_metadata(server)['hw_video_model'] != 'cirrus'
        for asked, value in (({'hw_video_model': 'vga'}, 'vga'), ({}, 'cirrus'),
                             ({'hw_video_model': None}, None), ({}, 'cirrus')):
            answer = cloud.update(server, asked)
            assert answer.status == 200, answer.text
            cloud.assert_changed(server, asked)
            assert cloud.system_metadata(server).get('hw_video_model') == value

    def test_an_override_that_is_computes_default_is_in_the_request_spec(
            self, cloud):
        server = cloud.stopped()
        default = cloud.system_metadata(server)['hw_disk_bus']
        assert 'hw_disk_bus' not in cloud.request_spec(server)
        assert cloud.update(server, {'hw_disk_bus': default}).status == 200
        assert cloud.request_spec(server)['hw_disk_bus'] == default

    def test_absent_leaves_alone(self, cloud):
        server = cloud.stopped({'hw_video_model': 'vga'})
        answer = cloud.http(
            'PUT', f'/servers/{server}', {'server': {'name': 'other'}})
        assert answer.status == 200, answer.text
        cloud.assert_changed(server, {'hw_video_model': 'vga'})

    def test_the_rest_of_the_update_is_stored_too(self, cloud):
        server = cloud.stopped()
        answer = cloud.update(
            server, {'hw_video_model': 'vga'}, body={'name': 'other'})
        assert answer.body['server']['name'] == 'other'
        cloud.assert_changed(server, {'hw_video_model': 'vga'})

    def test_an_update_is_among_the_servers_actions(self, cloud):
        server = cloud.stopped()
        cloud.update(server, {'hw_video_model': 'vga'})
        actions = cloud.http(
            'GET', f'/servers/{server}/os-instance-actions',
            admin=True).body['instanceActions']
        assert actions[0]['action'] == 'update_image_props'
        detail = cloud.http(
            'GET', f'/servers/{server}/os-instance-actions/'
            + actions[0]['request_id'], admin=True).body['instanceAction']
        assert [(event['event'], event['result'])
                for event in detail['events']] == [
                    ('api_update_image_props', 'Success')]

    def test_all_wrong_names_are_told_and_the_name_stays(self, cloud):
        server = cloud.stopped()
        cloud.assert_refused_unchanged(
            server, 400, {'hw_nothing': 'unknown', 'hw_disk_bus':
                          'invalid_value'},
            {'hw_nothing': 'x', 'hw_disk_bus': 'y'}, body={'name': 'other'})

    def test_a_conflict_with_the_flavor_is_told(self, cloud):
        server = cloud.stopped(flavor=cloud.flavor(hw__cpu_policy='shared'))
        cloud.assert_refused_unchanged(
            server, 400, {'hw_cpu_policy': 'flavor_conflict'},
            {'hw_cpu_policy': 'dedicated'}, body={'name': 'other'})

    def test_what_would_do_nothing_is_told(self, cloud):
        server = cloud.stopped()
        cloud.assert_refused_unchanged(
            server, 400, {'hw_tpm_model': 'no_effect'},
            {'hw_tpm_model': 'tpm-tis'})

    def test_numa_needs_a_server_that_is_shelved_first(self, cloud):
        server = cloud.stopped()
        answer = cloud.assert_refused_unchanged(
            server, 409, dict.fromkeys(update_case.NUMA, 'needs_claim'),
            update_case.NUMA)
        assert 'shelve it first' in answer.message

    def test_dropping_numa_needs_it_too(self, cloud):
        server = cloud.stopped(update_case.NUMA)
        cloud.assert_refused_unchanged(
            server, 409, dict.fromkeys(update_case.NUMA, 'needs_claim'), {})

    def test_a_trait_that_the_host_lacks(self, cloud):
        server = cloud.stopped()
        answer = cloud.assert_refused_unchanged(
            server, 409, {'trait:CUSTOM_GOLD': 'unschedulable'},
            {'trait:CUSTOM_GOLD': 'required'})
        assert 'shelve it first' in answer.message

    def test_what_is_fixed_for_life(self, cloud):
        server = cloud.stopped()
        cloud.assert_refused_unchanged(
            server, 400, {'hw_pci_numa_affinity_policy': 'create_only'},
            {'hw_pci_numa_affinity_policy': 'required'})


class TestOffloaded:
    @pytest.mark.smoke
    def test_numa_of_a_server_of_an_image(self, cloud):
        cloud.assert_gets_numa(cloud.offloaded())

    def test_numa_of_a_server_of_a_volume(self, cloud):
        cloud.assert_gets_numa(cloud.offloaded(
            image=None, server=cloud.from_volume(cloud.volume())))

    def test_dropping_numa(self, cloud):
        server = cloud.offloaded(update_case.NUMA)
        assert cloud.update(server, {}).status == 200
        assert cloud.instance(server).numa_topology is None
        cloud.do(server, 'unshelve')
        assert cloud.guest(server).findall('cpu/numa/cell') == []
        assert 'hw_numa_nodes' not in cloud.system_metadata(server)
        assert cloud.show(server)[base.PARAMETER] == {}

    def test_a_trait_that_no_host_has_is_told_at_the_unshelving(self, cloud):
        server = cloud.offloaded()
        assert cloud.update(server,
                            {'trait:CUSTOM_GOLD': 'required'}).status == 200
        cloud.act(server, {'unshelve': None})
        cloud.wait(server, 'SHELVED_OFFLOADED')
        assert cloud.update(server, {}).status == 200
        cloud.do(server, 'unshelve')

    def test_what_is_fixed_for_life(self, cloud):
        server = cloud.offloaded()
        cloud.assert_refused_unchanged(
            server, 400, {'hw_pci_numa_affinity_policy': 'create_only'},
            {'hw_pci_numa_affinity_policy': 'required'})


class TestWithoutComputePart:
    EXTENDED_HOSTS = ()

    def test_a_shelved_image_would_win_there(self, cloud):
        cloud.assert_refused_unchanged(
            cloud.offloaded(), 409, {base.PARAMETER: 'host_not_ready'},
            {'hw_video_model': 'vga'})

    def test_a_volume_does_not(self, cloud):
        server = cloud.offloaded(
            image=None, server=cloud.from_volume(cloud.volume()))
        assert cloud.update(server, {'hw_video_model': 'vga'}).status == 200
        cloud.do(server, 'unshelve')
        assert cloud.guest(server).find('devices/video/model').get(
            'type') == 'vga'
