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
    #: That takes the reason of a lock.
    COMPUTE = '2.93'

    def reason(self, server):
        return self.instance(server).system_metadata.get('locked_reason')


class TestSystemMetadata:
    CLOUD = Cloud

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
            answer = cloud.act(server, {'shelve': None})
        assert answer.status == 409, answer.text
        assert answer.problems == {base.PARAMETER: errors.WRONG_STATE}
        cloud.assert_changed(server, NETWORK)


class TestResize:
    CLOUD = Cloud

    def test_one_of_a_rebuilt_volume_is_refused_and_the_update_stays(
            self, cloud):
        """Nova's resize stores another image_base_image_ref then."""
        server = cloud.boot(
            VGA, image=None, server=cloud.from_volume(cloud.volume()))
        assert cloud.rebuild(server, compute='2.90').status == 202
        cloud.do(server, 'os-stop', 'SHUTOFF')
        before = cloud.instance(server).system_metadata['image_base_image_ref']
        with meanwhile(store, 'save_keys', cloud.put(server, NETWORK)):
            answer = cloud.act(server, {'resize': {'flavorRef': '2'}})
        assert answer.status == 409, answer.text
        assert answer.problems == {base.PARAMETER: errors.WRONG_STATE}
        cloud.assert_changed(server, NETWORK)
        assert cloud.instance(server).system_metadata[
            'image_base_image_ref'] == before


class TestFirstOverrides:
    """A plain server is given overrides within one statement of Nova's."""

    CLOUD = Cloud

    @pytest.mark.parametrize('action', [
        {'os-start': None}, {'reboot': {'type': 'HARD'}}, {'rescue': None},
        {'resize': {'flavorRef': '2'}}, {'shelve': None},
        {'rebuild': {'imageRef': base.IMAGE}}], ids=str)
    def test_the_action_is_refused_and_the_update_stays(self, cloud, action):
        server = cloud.stopped()
        with before_its_statement(cloud.put(server, NETWORK)):
            answer = cloud.act(server, action)
        assert answer.status == 409, answer.text
        assert answer.problems == {base.PARAMETER: errors.WRONG_STATE}
        cloud.assert_changed(server, NETWORK)
        cloud.assert_disks_agree(server)

    def test_an_unshelve_is_refused_and_the_update_stays(self, cloud):
        server = cloud.offloaded()
        with before_its_statement(cloud.put(server, NETWORK)):
            answer = cloud.act(server, {'unshelve': None})
        assert answer.status == 409, answer.text
        cloud.assert_changed(server, NETWORK)


class TestRefused:
    """A refusal leaves all as it was."""

    CLOUD = Cloud

    def keys(self, server):
        instance = objects.Instance.get_by_uuid(
            base.nova_context.get_admin_context(), server,
            expected_attrs=['keypairs', 'trusted_certs'])
        return (instance.key_name, instance.key_data,
                [each.name for each in instance.keypairs],
                instance.trusted_certs)

    def test_a_rebuild_that_was_overtaken_leaves_the_key_pair(self, cloud):
        for name in ('one', 'two'):
            answer = cloud.http('POST', '/os-keypairs', {'keypair': {
                'name': name, 'type': 'ssh', 'public_key': KEY}})
            assert answer.status == 201, answer.text
        server = cloud.stopped(VGA, server={'key_name': 'one'})
        before = self.keys(server)
        with before_its_statement(cloud.put(server, NETWORK)):
            answer = cloud.act(server, {'rebuild': {
                'imageRef': base.IMAGE, 'key_name': 'two'}})
        assert answer.status == 409, answer.text
        assert self.keys(server) == before
        assert before[2] == ['one']

    def test_an_update_that_a_soft_deletion_overtook_is_taken_back(
            self, cloud):
        cloud.flags(reclaim_instance_interval=60)
        server = cloud.stopped({**VGA, 'hw_disk_bus': 'sata'})
        with meanwhile(objects.RequestSpec, 'save', lambda: cloud.http(
                'DELETE', f'/servers/{server}')):
            answer = cloud.update(server, NETWORK)
        assert answer.status == 409, answer.text
        assert cloud.act(server, {'restore': None}).status == 202
        cloud.flags(reclaim_instance_interval=0)
        cloud.wait(server)
        cloud.assert_changed(server, {**VGA, 'hw_disk_bus': 'sata'})
        cloud.assert_disks_agree(server)

    def test_an_update_that_the_start_of_nova_compute_overtook_is_taken_back(
            self, cloud):
        """It clears our task state, and registers a default that is missing."""
        before = {**VGA, 'hw_disk_bus': 'sata'}
        server = cloud.stopped({**before, **NETWORK})
        cloud.put(server, before)()
        with meanwhile(
                objects.RequestSpec, 'save',
                lambda: cloud.restart_compute_service('compute1')):
            answer = cloud.update(server, {'hw_disk_bus': 'scsi'})
        assert answer.status == 409, answer.text
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
        answer = cloud.update(server, {'hw_video_model': None},
                              body={errors.PRESET: 'vga'})
        assert answer.status == 200, answer.text
        assert cloud.used(server) == ('vga', {'hw_disk_bus': 'scsi'})

    @pytest.mark.parametrize('preset', [{}, {errors.PRESET: 'vga'}], ids=str)
    def test_what_a_preset_gave_is_not_kept_by_hand(self, cloud, preset):
        server = cloud.booted('menu')
        cloud.do(server, 'os-stop', 'SHUTOFF')
        cloud.assert_refused_unchanged(
            server, 403, {'hw_boot_menu': errors.NOT_ALLOWED},
            {'hw_boot_menu': 'true'}, body=preset)

    def test_what_is_open_is_kept_beside_another_preset(self, cloud):
        server = cloud.booted('menu', NETWORK)
        cloud.do(server, 'os-stop', 'SHUTOFF')
        answer = cloud.update(server, NETWORK, body={errors.PRESET: 'vga'})
        assert answer.status == 200, answer.text
        assert cloud.used(server) == ('vga', {**presets.VGA, **NETWORK})

    def test_a_volume_backed_server_keeps_what_a_preset_gave_that_is_gone(
            self, cloud):
        server = cloud.created(cloud.with_preset(
            'vga', image=None, server=cloud.from_volume(cloud.volume())))
        cloud.rewrite('menu: {description: x, properties: '
                      '{hw_boot_menu: yes}}')
        with mock.patch.object(conductor.ComputeTaskAPI, 'rebuild_instance'):
            answer = cloud.act(server, {'rebuild': {'imageRef': base.IMAGE}})
        assert answer.status == 202, answer.text


class TestMoves:
    CLOUD = life.Cloud

    @pytest.mark.parametrize('late', [False, True])
    def test_an_update_is_refused_until_a_confirmed_resize_is_over(
            self, cloud, late):
        """nova-compute then stores the system metadata that it has read."""
        server = cloud.a_server()
        cloud.do(server, {'os-stop': None}, 'SHUTOFF')
        cloud.do(server, {'migrate': None}, 'VERIFY_RESIZE', admin=True)
        wanted = {**life.OVERRIDES, 'hw_boot_menu': 'true'}
        answers = []

        def put():
            answers.append(cloud.http('PUT', f'/servers/{server}', {
                'server': {base.PARAMETER: wanted}}))

        with contextlib.ExitStack() as stack, meanwhile(
                manager.ComputeManager, '_delete_stashed_flavor_info',
                lambda: stack.enter_context(before_its_statement(put))
                if late else put()):
            cloud.do(server, {'confirmResize': None}, 'SHUTOFF', expected=204,
                     admin=True)
        assert answers[0].status == 409, answers[0].text
        assert answers[0].problems == {base.PARAMETER: errors.WRONG_STATE}
        assert 'while its host ends a resize' in answers[0].message
        put()
        assert answers[1].status == 200, answers[1].text
        assert cloud.show(server)[base.PARAMETER] == wanted

    @pytest.mark.parametrize('end', ['confirmResize', 'revertResize'])
    def test_a_rebuild_is_refused_until_a_resize_is_over(self, cloud, end):
        server = cloud.a_server()
        cloud.do(server, {'migrate': None}, 'VERIFY_RESIZE', admin=True)
        wanted = {**life.OVERRIDES, 'hw_boot_menu': 'true'}
        answers = []

        def rebuild():
            answers.append(cloud.act(server, {'rebuild': {
                'imageRef': base.IMAGE, base.PARAMETER: wanted}}))

        with meanwhile(
                manager.ComputeManager, '_delete_stashed_flavor_info',
                rebuild):
            cloud.act(server, {end: None}, admin=True)
            cloud.wait(server)
        assert answers[0].status == 409, answers[0].text
        assert answers[0].problems == {base.PARAMETER: errors.WRONG_STATE}
        assert cloud.show(server)[base.PARAMETER] == life.OVERRIDES
        rebuild()
        assert answers[1].status == 202, answers[1].text
        cloud.wait(server)
        assert cloud.show(server)[base.PARAMETER] == wanted

    def test_an_update_before_the_state_is_taken_counts(self, cloud):
        # One of its hosts is down afterwards.
        cloud.discard()
        server = cloud.a_server()
        host = cloud.instance(server).host
        assert cloud.act(server, {'os-stop': None}).status == 202
        cloud.wait(server, 'SHUTOFF')
        cloud.computes[host].stop()
        cloud.admin_api.microversion = '2.11'
        cloud.admin_api.force_down_service(host, 'nova-compute', True)
        wanted = {**life.OVERRIDES, 'hw_boot_menu': 'true'}

        def put():
            answer = cloud.http('PUT', f'/servers/{server}', {
                'server': {base.PARAMETER: wanted}})
            assert answer.status == 200, answer.text

        with meanwhile(objects.Instance, 'save', put):
            answer = cloud.act(server, {'evacuate': {}}, admin=True)
        assert answer.status == 200, answer.text
        cloud.wait(server, 'SHUTOFF')
        assert cloud.instance(server).host != host
        assert cloud.show(server)[base.PARAMETER] == wanted
        assert cloud.request_spec(server)['hw_boot_menu'] is True

    def test_an_update_that_a_resize_overtook_leaves_the_flavor(self, cloud):
        """One with extra specs counts as changed once it was resized to."""
        flavors = [cloud.flavor(vcpus=4, hw_rng__allowed='true'),
                   cloud.flavor(vcpus=4)]
        server = cloud.a_server()
        cloud.do(server, {'os-stop': None}, 'SHUTOFF')

        def resize(number):
            cloud.do(server, {'resize': {'flavorRef': flavors[number]}},
                     'VERIFY_RESIZE')

        resize(0)
        cloud.do(server, {'confirmResize': None}, 'SHUTOFF', expected=204)
        with meanwhile(store, 'hold', lambda: resize(1)):
            answer = cloud.http('PUT', f'/servers/{server}', {
                'server': {base.PARAMETER: {
                    **life.OVERRIDES, 'hw_boot_menu': 'true'}}})
        assert answer.status == 409, answer.text
        instance = cloud.instance(server)
        assert [each.flavorid for each in (
            instance.old_flavor, instance.flavor)] == flavors
        cloud.do(server, {'confirmResize': None}, 'SHUTOFF', expected=204)
        assert cloud.show(server)[base.PARAMETER] == life.OVERRIDES
