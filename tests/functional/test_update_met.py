"""What meets a change of overrides: no save of Nova takes it back.

Nova's operations read a server before they store it. The update here ends
between the two.
"""

import contextlib
from unittest import mock

from nova import conductor
from nova import objects
from nova.compute import manager
import pytest

from nova_image_override import errors
from nova_image_override.api.change import store
from testing.harness import base
from tests.functional import life
from tests.functional import presets
from tests.functional import update_case
from tests.functional.at_once import before_its_statement
from tests.functional.at_once import meanwhile
from tests.functional.update_case import NETWORK
from tests.functional.update_case import VGA

LOCK = {'lock': {'locked_reason': 'why'}}
KEY = ('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEh7Yp0cT3kZQ0b1mVd1xqkqz3m8h2ZQ'
       'tM8e3vYqO0aX test')


class Cloud(update_case.Cloud):
    def reason(self, server):
        return self.instance(server).system_metadata.get('locked_reason')


class TestSystemMetadata:
    @pytest.mark.parametrize('before', [{}, VGA], ids=str)
    def test_a_lock_stores_its_reason_alone(self, cloud, before):
        server = cloud.stopped(before)
        with meanwhile(store, 'save_keys', cloud.put(server, NETWORK)):
            assert cloud.act(server, LOCK).status == 202
        cloud.assert_changed(server, NETWORK)
        assert cloud.reason(server) == 'why'

    @pytest.mark.parametrize('before', [{}, VGA], ids=str)
    def test_an_unlock_takes_its_reason_away_alone(self, cloud, before):
        server = cloud.stopped(before)
        assert cloud.act(server, LOCK).status == 202
        with meanwhile(store, 'save_keys',
                       cloud.put(server, NETWORK, admin=True)):
            assert cloud.act(server, {'unlock': None}).status == 202
        cloud.assert_changed(server, NETWORK)
        assert cloud.reason(server) is None

    def test_a_lock_without_an_update_stores_what_novas_does(self, cloud):
        server = cloud.stopped(VGA)
        before = cloud.instance(server).system_metadata
        assert cloud.act(server, LOCK).status == 202
        assert cloud.instance(server).system_metadata == {
            **before, 'locked_reason': 'why'}
        assert cloud.act(server, {'unlock': None}).status == 202
        assert cloud.instance(server).system_metadata == before

    @pytest.mark.parametrize('before', [{}, VGA], ids=str)
    def test_a_shelve_that_was_overtaken_is_refused(self, cloud, before):
        server = cloud.stopped(before)
        with meanwhile(objects.Instance, 'save', cloud.put(server, NETWORK)):
            cloud.act(server, {'shelve': None}).expect(
                409, {base.PARAMETER: errors.WRONG_STATE})
        cloud.assert_changed(server, NETWORK)


class TestResize:
    def test_one_of_a_rebuilt_volume_is_refused_and_the_update_stays(
            self, cloud):
        """Nova's resize stores another image_base_image_ref then."""
        server = cloud.boot(
            VGA, image=None, server=cloud.from_volume(cloud.volume()))
        assert cloud.rebuild(server, compute='2.90').status == 202
        cloud.stop(server)
        before = cloud.instance(server).system_metadata['image_base_image_ref']
        with meanwhile(store, 'save_keys', cloud.put(server, NETWORK)):
            cloud.act(server, {'resize': {'flavorRef': '2'}}).expect(
                409, {base.PARAMETER: errors.WRONG_STATE})
        cloud.assert_changed(server, NETWORK)
        assert cloud.instance(server).system_metadata[
            'image_base_image_ref'] == before


class TestRefused:
    """A refusal leaves all as it was."""

    def keys(self, server):
        instance = objects.Instance.get_by_uuid(
            base.nova_context.get_admin_context(), server,
            expected_attrs=['keypairs', 'trusted_certs'])
        return (instance.key_name, instance.key_data,
                [each.name for each in instance.keypairs],
                instance.trusted_certs)

    def test_a_rebuild_that_was_overtaken_leaves_the_key_pair(self, cloud):
        for name in ('one', 'two'):
            cloud.http('POST', '/os-keypairs', {'keypair': {
                'name': name, 'type': 'ssh', 'public_key': KEY}}).expect(201)
        server = cloud.stopped(VGA, server={'key_name': 'one'})
        before = self.keys(server)
        with before_its_statement(cloud.put(server, NETWORK)):
            cloud.act(server, {'rebuild': {
                'imageRef': base.IMAGE, 'key_name': 'two'}}).expect(409)
        assert self.keys(server) == before
        assert before[2] == ['one']

    def test_an_update_that_the_start_of_nova_compute_overtook_is_taken_back(
            self, cloud):
        """It clears our task state, and registers a default that is missing."""
        before = {**VGA, 'hw_disk_bus': 'sata'}
        server = cloud.stopped({**before, **NETWORK})
        cloud.put(server, before)()
        with meanwhile(
                objects.RequestSpec, 'save',
                lambda: cloud.restart_compute_service('compute1')):
            cloud.update(server, {'hw_disk_bus': 'scsi'}).expect(409)
        cloud.assert_changed(server, before)
        cloud.assert_disks_agree(server)
        assert cloud.system_metadata(server)['hw_vif_model'] == 'virtio'

    def test_an_update_to_a_bus_that_the_host_lacks(self, cloud):
        server = cloud.stopped(VGA)
        cloud.assert_refused_unchanged(
            server, 400, {'hw_disk_bus': errors.INVALID_VALUE},
            {**VGA, 'hw_disk_bus': 'lxc'})


class TestPresets:
    CLOUD = presets.Cloud

    def test_null_for_what_the_image_lacks_takes_it_out_of_the_preset(
            self, cloud):
        """nova-compute's default for it is not the image's."""
        server = cloud.stopped()
        cloud.update(server, {'hw_video_model': None},
                     body={errors.PRESET: 'vga'}).expect(200)
        assert cloud.used(server) == ('vga', {'hw_disk_bus': 'scsi'})

    @pytest.mark.parametrize('preset', [{}, {errors.PRESET: 'vga'}], ids=str)
    def test_what_a_preset_gave_is_not_kept_by_hand(self, cloud, preset):
        server = cloud.booted('menu')
        cloud.stop(server)
        cloud.assert_refused_unchanged(
            server, 403, {'hw_boot_menu': errors.NOT_ALLOWED},
            {'hw_boot_menu': 'true'}, body=preset)

    def test_what_is_open_is_kept_beside_another_preset(self, cloud):
        server = cloud.booted('menu', NETWORK)
        cloud.stop(server)
        cloud.update(server, NETWORK, body={errors.PRESET: 'vga'}).expect(200)
        assert cloud.used(server) == ('vga', {**presets.VGA, **NETWORK})

    def test_a_volume_backed_server_keeps_what_a_preset_gave_that_is_gone(
            self, cloud):
        server = cloud.created(cloud.with_preset(
            'vga', image=None, server=cloud.from_volume(cloud.volume())))
        cloud.rewrite(presets.written({'menu': {'hw_boot_menu': True}}))
        with mock.patch.object(conductor.ComputeTaskAPI, 'rebuild_instance'):
            cloud.act(server, {'rebuild': {'imageRef': base.IMAGE}}).expect(
                202)


class TestMoves:
    CLOUD = life.Cloud
    WANTED = {**life.OVERRIDES, 'hw_boot_menu': 'true'}

    @pytest.mark.parametrize('late', [False, True])
    def test_an_update_is_refused_until_a_confirmed_resize_is_over(
            self, cloud, late):
        """nova-compute then stores the system metadata that it has read."""
        server = cloud.a_server()
        cloud.stop(server)
        cloud.migrate(server)
        refused = []

        def put():
            refused.append(cloud.update(server, self.WANTED).expect(
                409, {base.PARAMETER: errors.WRONG_STATE}))

        with contextlib.ExitStack() as stack, meanwhile(
                manager.ComputeManager, '_delete_stashed_flavor_info',
                lambda: stack.enter_context(before_its_statement(put))
                if late else put()):
            cloud.confirm(server, 'SHUTOFF')
        assert 'while its host ends a resize' in refused[0].message
        cloud.put(server, self.WANTED)()
        assert cloud.show(server)[base.PARAMETER] == self.WANTED

    @pytest.mark.parametrize('end', ['confirmResize', 'revertResize'])
    def test_a_rebuild_is_refused_until_a_resize_is_over(self, cloud, end):
        server = cloud.a_server()
        cloud.migrate(server)
        body = {'rebuild': {
            'imageRef': base.IMAGE, base.PARAMETER: self.WANTED}}
        with meanwhile(
                manager.ComputeManager, '_delete_stashed_flavor_info',
                lambda: cloud.act(server, body)) as answers:
            cloud.act(server, {end: None}, admin=True)
            cloud.wait(server)
        answers[0].expect(409, {base.PARAMETER: errors.WRONG_STATE})
        assert cloud.show(server)[base.PARAMETER] == life.OVERRIDES
        cloud.do(server, body)
        assert cloud.show(server)[base.PARAMETER] == self.WANTED

    def test_an_update_before_the_state_is_taken_counts(self, cloud):
        server = cloud.a_server()
        host = cloud.instance(server).host
        cloud.stop(server)
        cloud.take_down(host)
        with meanwhile(
                objects.Instance, 'save', cloud.put(server, self.WANTED)):
            cloud.act(server, {'evacuate': {}}, admin=True).expect(200)
        cloud.wait(server, 'SHUTOFF')
        assert cloud.instance(server).host != host
        assert cloud.show(server)[base.PARAMETER] == self.WANTED
        assert cloud.request_spec(server)['hw_boot_menu'] is True

    def test_an_update_that_a_resize_overtook_leaves_the_flavor(self, cloud):
        """One with extra specs counts as changed once it was resized to."""
        flavors = [cloud.flavor(vcpus=4, hw_rng__allowed='true'),
                   cloud.flavor(vcpus=4)]
        server = cloud.a_server()
        cloud.stop(server)
        first, second = (
            {'resize': {'flavorRef': flavor}} for flavor in flavors)
        cloud.do(server, first, 'VERIFY_RESIZE')
        cloud.confirm(server, 'SHUTOFF')
        with meanwhile(store, 'hold',
                       lambda: cloud.do(server, second, 'VERIFY_RESIZE')):
            cloud.update(server, self.WANTED).expect(409)
        instance = cloud.instance(server)
        assert [each.flavorid for each in (
            instance.old_flavor, instance.flavor)] == flavors
        cloud.confirm(server, 'SHUTOFF')
        assert cloud.show(server)[base.PARAMETER] == life.OVERRIDES
