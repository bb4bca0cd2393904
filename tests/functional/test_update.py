"""PUT /servers/{id} replaces the overrides of a server that is not running.

They act when the guest is next built: at the start of a stopped server, or at
the unshelving of an offloaded one.
"""

import pytest

from testing.harness import base
from tests.functional import update_case


class Cloud(update_case.Cloud):
    def assert_gets_numa(self, server):
        self.update(server, update_case.NUMA).expect(200)
        self.assert_changed(server, update_case.NUMA)
        self.do(server, 'unshelve')
        assert self.numa_nodes(server) == [('0', 256), ('1', 768)]
        self.assert_changed(server, update_case.NUMA)
        self.hard_reboot(server)
        assert len(self.numa_nodes(server)) == 2


NEEDS_CLAIM = dict.fromkeys(update_case.NUMA, 'needs_claim')

#: Overrides, status, problems, and what the answer says.
REFUSED = {
    'all wrong names are told': (
        {'hw_nothing': 'x', 'hw_disk_bus': 'y'}, 400,
        {'hw_nothing': 'unknown', 'hw_disk_bus': 'invalid_value'}, ''),
    'a conflict with the flavor': (
        {'hw_numa_nodes': '5'}, 400, {'hw_numa_nodes': 'flavor_conflict'}, ''),
    'what would do nothing': (
        {'hw_tpm_model': 'tpm-tis'}, 400, {'hw_tpm_model': 'no_effect'}, ''),
    'NUMA nodes': (update_case.NUMA, 409, NEEDS_CLAIM, 'shelve it first'),
    'a trait that the host lacks': (
        {'trait:CUSTOM_GOLD': 'required'}, 409,
        {'trait:CUSTOM_GOLD': 'unschedulable'}, 'shelve it first'),
    'what is fixed for life': (
        {'hw_pci_numa_affinity_policy': 'required'}, 400,
        {'hw_pci_numa_affinity_policy': 'create_only'}, ''),
}


class TestStopped:
    @pytest.mark.smoke
    def test_an_override_acts_at_the_next_start(self, cloud):
        server = cloud.stopped({'hw_machine_type': 'pc-q35-2.10'})
        before = cloud.built[server]
        answer = cloud.update(server, {'hw_video_model': 'vga'}).expect(200)
        assert answer.body['server'][base.PARAMETER] == {
            'hw_video_model': 'vga'}
        assert cloud.built[server] == before
        cloud.do(server, 'os-start')
        assert cloud.video(server) == 'vga'
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
        answer = cloud.update(server, {'hw_video_model': None}).expect(200)
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
            cloud.update(server, asked).expect(200)
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
        cloud.http('PUT', f'/servers/{server}', {
            'server': {'name': 'other'}}).expect(200)
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

    @pytest.mark.parametrize(
        ('asked', 'status', 'problems', 'says'), REFUSED.values(), ids=REFUSED)
    def test_a_refusal_leaves_overrides_and_name(
            self, cloud, asked, status, problems, says):
        server = cloud.stopped()
        answer = cloud.assert_refused_unchanged(
            server, status, problems, asked, body={'name': 'other'})
        assert says in answer.message

    def test_dropping_numa_needs_a_claim_too(self, cloud):
        server = cloud.stopped(update_case.NUMA)
        cloud.assert_refused_unchanged(server, 409, NEEDS_CLAIM, {})


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
        assert cloud.numa_nodes(server) == []
        assert 'hw_numa_nodes' not in cloud.system_metadata(server)
        assert cloud.show(server)[base.PARAMETER] == {}

    def test_a_trait_that_no_host_has_is_told_at_the_unshelving(self, cloud):
        server = cloud.offloaded()
        cloud.put(server, {'trait:CUSTOM_GOLD': 'required'})()
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
        assert cloud.video(server) == 'vga'
