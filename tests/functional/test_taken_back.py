"""Services that take a change of overrides back, and what repairs it.

They store system metadata whole, as they have read it before.
"""

from unittest import mock

from nova import conductor
from nova import objects
from nova.cmd import manage
from nova.compute import api
from nova.virt.libvirt import driver as libvirt
import pytest

from nova_image_override import errors
from nova_image_override.api.change import store
from testing import paste_config
from testing import release
from testing.harness import base
from tests.functional import test_update_cut_off
from tests.functional.at_once import before_its_statement
from tests.functional.at_once import meanwhile
from tests.functional.update_case import NETWORK
from tests.functional.update_case import VGA


class Cloud(test_update_cut_off.Cloud):
    def idle(self, server):
        self.commits.until(lambda: self.instance(server).task_state, None)

    def taken_back(self, server, overrides):
        """Update SERVER while an unmodified nova-api locks it."""
        read = self.instance(server)
        self.put(server, overrides)()
        api.API().lock(read._context, read, reason='why')
        assert self.act(server, {'unlock': None}, admin=True).status == 202


class TestNova:
    APP = paste_config.NOVA_APP
    EXTENDED_HOSTS = ()

    def test_the_start_of_nova_compute_takes_back_what_an_operator_sets(
            self, cloud):
        """LibvirtDriver._register_undefined_instance_details"""
        server = cloud.stopped()
        read = cloud.instance(server)
        # A default that the Nova from before did not register.
        del read.system_metadata['image_hw_vif_model']
        read.save()
        with meanwhile(
                libvirt.LibvirtDriver, '_find_default_for_image_property',
                lambda: manage.ImagePropertyCommands().set(
                    server, ['hw_boot_menu=true'])):
            cloud.restart_compute_service('compute1')
        assert cloud.system_metadata(server)['hw_vif_model'] == 'virtio'
        assert 'hw_boot_menu' not in cloud.system_metadata(server)
        # Nova 26's and 27's nova-manage leaves the request spec alone.
        in_spec = True if release.NUMBER >= 28 else None
        assert cloud.request_spec(server).get('hw_boot_menu') is in_spec


class TestServicesWithoutOverrides:
    """What they take back is repaired before a guest is built."""

    BEFORE = {**VGA, 'hw_disk_bus': 'sata'}

    @pytest.mark.parametrize('after', [
        {}, {**NETWORK, 'hw_disk_bus': 'scsi'}], ids=str)
    @pytest.mark.parametrize('action', [
        {'os-start': None}, {'reboot': {'type': 'HARD'}}], ids=str)
    def test_the_guest_is_built_with_what_is_shown(
            self, cloud, action, after):
        server = cloud.stopped(self.BEFORE)
        cloud.taken_back(server, after)
        cloud.do(server, action)
        cloud.assert_whole(server, self.BEFORE)

    def started_elsewhere(self, cloud):
        server = cloud.stopped(self.BEFORE)
        cloud.taken_back(server, {**NETWORK, 'hw_disk_bus': 'scsi'})
        read = cloud.instance(server)
        api.API().start(read._context, read)
        cloud.wait(server)
        return server

    @pytest.mark.parametrize('action', [
        {'shelve': None}, {'rebuild': {'imageRef': base.IMAGE}}], ids=str)
    def test_one_that_an_unmodified_nova_api_has_started(
            self, cloud, action):
        server = self.started_elsewhere(cloud)
        assert cloud.act(server, action).status == 202
        cloud.idle(server)
        cloud.assert_whole(server, self.BEFORE)

    @pytest.mark.parametrize(('action', 'method', 'accepted'), [
        ({'os-migrateLive': {'host': None, 'block_migration': 'auto'}},
         'live_migrate_instance', 202),
        ({'evacuate': {}}, 'rebuild_instance', 200)])
    def test_the_host_that_it_moves_to_is_chosen_by_what_is_shown(
            self, cloud, action, method, accepted):
        server = self.started_elsewhere(cloud)
        if 'evacuate' in action:
            cloud.take_down('compute1')
        with mock.patch.object(conductor.ComputeTaskAPI, method) as move:
            cloud.act(server, action, admin=True).expect(accepted)
        properties = move.call_args.kwargs['request_spec'].image.properties
        assert properties.hw_disk_bus == 'sata'
        assert properties.hw_vif_model == 'virtio'
        cloud.assert_disks_agree(server)

    def test_nova_compute_that_starts_and_registers_its_defaults(self, cloud):
        """LibvirtDriver._register_undefined_instance_details"""
        server = cloud.stopped({**self.BEFORE, **NETWORK})
        cloud.put(server, self.BEFORE)()
        assert 'hw_vif_model' not in cloud.system_metadata(server)
        with meanwhile(
                libvirt.LibvirtDriver, '_find_default_for_image_property',
                cloud.put(server, {'hw_boot_menu': 'true'})):
            cloud.restart_compute_service('compute1')
        assert cloud.system_metadata(server)['hw_vif_model'] == 'virtio'
        cloud.do(server, 'os-start')
        cloud.assert_whole(server, self.BEFORE)

    @pytest.mark.parametrize('number', range(5))
    def test_a_repair_that_was_cut_off_is_finished(self, cloud, number):
        server = cloud.stopped(self.BEFORE)
        cloud.taken_back(server, {**NETWORK, 'hw_disk_bus': 'scsi'})
        assert cloud.killed(
            number, lambda: cloud.act(server, {'os-start': None}))
        with cloud.later():
            cloud.do(server, 'os-start')
            cloud.assert_whole(server, self.BEFORE)

    def test_one_that_something_else_changes_meanwhile_is_refused(
            self, cloud):
        server = cloud.stopped(self.BEFORE)
        cloud.taken_back(server, NETWORK)
        with before_its_statement(cloud.put(server, VGA)):
            cloud.act(server, {'os-start': None}).expect(
                409, {base.PARAMETER: errors.WRONG_STATE})
        cloud.assert_whole(server, VGA)

    def test_what_agrees_is_left_alone(self, cloud):
        server = cloud.stopped({**self.BEFORE, 'hw_vif_model': None},
                               image=cloud.image(hw_vif_model='e1000'))
        before = cloud.request_spec(server)
        cloud.do(server, 'os-start')
        assert cloud.request_spec(server) == before
        answer = cloud.http('GET', f'/servers/{server}/os-instance-actions')
        assert store.ACTION not in {
            each['action'] for each in answer.body['instanceActions']}

    def test_a_server_without_overrides_is_not_looked_at(self, cloud):
        server = cloud.stopped()
        with mock.patch.object(
                objects.RequestSpec, 'get_by_instance_uuid') as look:
            assert cloud.act(server, {'os-start': None}).status == 202
        look.assert_not_called()

    @pytest.mark.parametrize('action', [
        {'resize': {'flavorRef': '2'}}, {'migrate': None}], ids=str)
    def test_a_move_is_scheduled_with_what_is_shown(self, cloud, action):
        server = cloud.stopped({'trait:CUSTOM_GOLD': None, **self.BEFORE})
        cloud.taken_back(server, NETWORK)
        cloud.act(server, action, admin=True)
        cloud.idle(server)
        cloud.assert_whole(server, {'trait:CUSTOM_GOLD': None, **self.BEFORE})

    def test_an_unshelve_requires_the_trait_that_is_shown(self, cloud):
        server = cloud.offloaded(VGA)
        gold = {**VGA, 'trait:CUSTOM_GOLD': 'required'}
        cloud.put(server, gold)()
        cloud.taken_back(server, VGA)
        assert cloud.act(server, {'unshelve': None}).status == 202
        cloud.idle(server)
        assert cloud.instance(server).host is None
        cloud.assert_changed(server, gold)

    def test_an_update_begins_with_what_is_shown(self, cloud):
        server = cloud.stopped(self.BEFORE)
        cloud.taken_back(server, {
            'hw_boot_menu': 'true', 'hw_disk_bus': 'scsi'})
        cloud.put(server, {})()
        cloud.assert_whole(server, {})

    def test_one_that_is_sent_again_counts(self, cloud):
        """An unmodified nova-api has taken the first overrides back."""
        server = cloud.stopped()
        wanted = {**NETWORK, 'hw_disk_bus': 'scsi'}
        cloud.taken_back(server, wanted)
        assert cloud.show(server)[base.PARAMETER] == {}
        cloud.put(server, wanted)()
        cloud.assert_whole(server, wanted)
