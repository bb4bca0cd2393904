"""What meets a change of overrides: no save of Nova takes it back.

Nova's operations read a server before they store it. The update here ends
between the two.
"""

import contextlib
from unittest import mock

from nova import conductor
from nova import objects
from nova.compute import api
from nova.compute import manager
from nova.virt.libvirt import driver as libvirt
import pytest

from nova_image_override import errors
from nova_image_override.api.change import store
from testing.harness import base
from tests.functional import life
from tests.functional import presets
from tests.functional import test_update_cut_off as cut_off
from tests.functional import update_case
from tests.functional.at_once import before_its_statement
from tests.functional.at_once import meanwhile

VGA = {'hw_video_model': 'vga'}
NETWORK = {'hw_vif_model': 'e1000'}
LOCK = {'lock': {'locked_reason': 'why'}}
KEY = ('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEh7Yp0cT3kZQ0b1mVd1xqkqz3m8h2ZQ'
       'tM8e3vYqO0aX test')


class Cloud(update_case.Cloud):
    #: That takes the reason of a lock.
    COMPUTE = '2.93'

    def put(self, server, overrides, **kwargs):
        """Return what sends an update that has to succeed."""
        def send():
            answer = self.update(server, overrides, **kwargs)
            assert answer.status == 200, answer.text
        return send

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


class TakenBack(Cloud):
    def taken_back(self, server, overrides):
        """Update SERVER while an unmodified nova-api locks it."""
        read = self.instance(server)
        self.put(server, overrides)()
        api.API().lock(read._context, read, reason='why')
        assert self.act(server, {'unlock': None}, admin=True).status == 202


class TestServicesWithoutOverrides:
    """What they take back is repaired before a guest is built."""

    CLOUD = TakenBack
    BEFORE = {**VGA, 'hw_disk_bus': 'sata'}

    def assert_whole(self, cloud, server, overrides):
        cloud.assert_changed(server, overrides)
        cloud.assert_disks_agree(server)

    @pytest.mark.parametrize('after', [
        {}, {**NETWORK, 'hw_disk_bus': 'scsi'}], ids=str)
    @pytest.mark.parametrize('action', [
        {'os-start': None}, {'reboot': {'type': 'HARD'}}], ids=str)
    def test_the_guest_is_built_with_what_is_shown(
            self, cloud, action, after):
        server = cloud.stopped(self.BEFORE)
        cloud.taken_back(server, after)
        assert cloud.act(server, action).status == 202
        cloud.wait(server)
        self.assert_whole(cloud, server, self.BEFORE)

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
        cloud.commits.until(
            lambda: cloud.instance(server).task_state, None)
        self.assert_whole(cloud, server, self.BEFORE)

    @pytest.mark.parametrize(('action', 'method', 'accepted'), [
        ({'os-migrateLive': {'host': None, 'block_migration': 'auto'}},
         'live_migrate_instance', 202),
        ({'evacuate': {}}, 'rebuild_instance', 200)])
    def test_the_host_that_it_moves_to_is_chosen_by_what_is_shown(
            self, cloud, action, method, accepted):
        server = self.started_elsewhere(cloud)
        cloud.admin_api.microversion = '2.11'
        cloud.admin_api.force_down_service(
            'compute1', 'nova-compute', 'evacuate' in action)
        with mock.patch.object(conductor.ComputeTaskAPI, method) as move:
            answer = cloud.act(server, action, admin=True)
        cloud.admin_api.force_down_service('compute1', 'nova-compute', False)
        assert answer.status == accepted, answer.text
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
        self.assert_whole(cloud, server, self.BEFORE)

    @pytest.mark.parametrize('number', range(5))
    def test_a_repair_that_was_cut_off_is_finished(self, cloud, number):
        server = cloud.stopped(self.BEFORE)
        cloud.taken_back(server, {**NETWORK, 'hw_disk_bus': 'scsi'})
        start = {'os-start': None}
        with cut_off.Statements(number).counted(), \
                pytest.raises(cut_off.Killed):
            cloud.act(server, start)
        with mock.patch.object(store, 'LEASE', -1):
            assert cloud.act(server, start).status == 202
            cloud.wait(server)
            self.assert_whole(cloud, server, self.BEFORE)

    def test_one_that_something_else_changes_meanwhile_is_refused(
            self, cloud):
        server = cloud.stopped(self.BEFORE)
        cloud.taken_back(server, NETWORK)
        with before_its_statement(cloud.put(server, VGA)):
            answer = cloud.act(server, {'os-start': None})
        assert answer.status == 409, answer.text
        assert answer.problems == {base.PARAMETER: errors.WRONG_STATE}
        self.assert_whole(cloud, server, VGA)

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
        cloud.commits.until(
            lambda: cloud.instance(server).task_state, None)
        self.assert_whole(
            cloud, server, {'trait:CUSTOM_GOLD': None, **self.BEFORE})

    def test_an_unshelve_requires_the_trait_that_is_shown(self, cloud):
        server = cloud.offloaded(VGA)
        gold = {**VGA, 'trait:CUSTOM_GOLD': 'required'}
        cloud.put(server, gold)()
        cloud.taken_back(server, VGA)
        assert cloud.act(server, {'unshelve': None}).status == 202
        cloud.commits.until(
            lambda: cloud.instance(server).task_state, None)
        assert cloud.instance(server).host is None
        cloud.assert_changed(server, gold)

    def test_an_update_begins_with_what_is_shown(self, cloud):
        server = cloud.stopped(self.BEFORE)
        cloud.taken_back(server, {
            'hw_boot_menu': 'true', 'hw_disk_bus': 'scsi'})
        cloud.put(server, {})()
        self.assert_whole(cloud, server, {})

    def test_one_that_is_sent_again_counts(self, cloud):
        """An unmodified nova-api has taken the first overrides back."""
        server = cloud.stopped()
        wanted = {**NETWORK, 'hw_disk_bus': 'scsi'}
        cloud.taken_back(server, wanted)
        assert cloud.show(server)[base.PARAMETER] == {}
        cloud.put(server, wanted)()
        self.assert_whole(cloud, server, wanted)


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
