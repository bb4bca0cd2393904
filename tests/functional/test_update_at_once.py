"""Of two requests at once that meet at a server one wins, or both agree.

The second request is sent from within the first, at the point that is worst
for it: when it has read what it is about to store.
"""

from unittest import mock

from nova import objects
from nova.compute import api
from nova.compute import manager
from nova.compute import task_states
from nova.compute import utils as compute_utils
from nova.db.main import models
from oslo_db import exception as db_exception
import pytest
import sqlalchemy
from sqlalchemy import orm

from nova_image_override.api.change import store
from testing.harness import base
from tests.functional import update_case
from tests.functional.at_once import before_its_statement
from tests.functional.at_once import meanwhile
from tests.functional.update_case import NETWORK
from tests.functional.update_case import VGA


class Cloud(update_case.Cloud):
    def overtaken(self, answer):
        answer.expect(409, {base.PARAMETER: 'wrong_state'})

    def rebuild_at_once(self, server, overrides):
        """Rebuild, and return the answer at once."""
        return self.act(server, {'rebuild': {
            'imageRef': base.IMAGE, base.PARAMETER: overrides}})

    def hold(self, server):
        """Return what takes a server, as an update does that goes on."""
        return lambda: self.change(server, task_state=store.TASK_STATE)

    def deletion(self, server):
        return lambda: self.http('DELETE', f'/servers/{server}').expect(204)


class TestRebuild:
    @pytest.mark.parametrize('method', [
        '_checks_for_create_and_rebuild', '_inherit_properties_from_image'])
    @pytest.mark.parametrize(('before', 'asked'), [
        ({}, None), (VGA, None), (VGA, {}), ({}, VGA), (VGA, {
            'hw_disk_bus': 'sata'})])
    def test_an_update_of_a_server_that_is_about_to_be_rebuilt_stays(
            self, cloud, method, before, asked):
        server = cloud.stopped(before)
        wanted = {**NETWORK, 'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true'}
        body = {'imageRef': base.IMAGE, 'name': 'other'}
        if asked is not None:
            body[base.PARAMETER] = asked
        with meanwhile(api.API, method, cloud.put(server, wanted)):
            answer = cloud.act(server, {'rebuild': body})
        cloud.overtaken(answer)
        cloud.assert_changed(server, wanted)
        cloud.assert_disks_agree(server)
        assert cloud.instance(server).display_name == 'test'
        cloud.do(server, 'os-start')
        assert cloud.shown(server) == wanted

    @pytest.mark.parametrize(('asked', 'status'), [
        (None, 500), ({}, 409), (VGA, 409), (NETWORK, 409)])
    def test_a_task_that_begins_within_the_statement_of_the_rebuild_goes_on(
            self, cloud, asked, status):
        """As where nova-compute stops a server whose guest has stopped.

        Nova's own rebuild answers 500.
        """
        server = cloud.boot(VGA)
        body = {'imageRef': base.IMAGE, 'name': 'other'}
        if asked is not None:
            body[base.PARAMETER] = asked
        with before_its_statement(lambda: cloud.change(
                server, task_state=task_states.POWERING_OFF)):
            answer = cloud.act(server, {'rebuild': body}).expect(status)
        if status == 409:
            cloud.overtaken(answer)
        instance = cloud.instance(server)
        assert instance.task_state == task_states.POWERING_OFF
        assert instance.display_name == 'test'
        assert cloud.show(server)[base.PARAMETER] == VGA
        cloud.change(server, task_state=None)
        assert cloud.rebuild(server, NETWORK).status == 202

    def test_an_update_stays_when_the_image_was_about_to_change_too(
            self, cloud):
        server = cloud.stopped(VGA)
        image = cloud.image(hw_rng_model='virtio', os_type='linux')
        before = cloud.instance(server)
        with meanwhile(api.API, '_inherit_properties_from_image',
                       cloud.put(server, NETWORK)):
            answer = cloud.rebuild(server, image=image)
        cloud.overtaken(answer)
        cloud.assert_changed(server, NETWORK)
        after = cloud.instance(server)
        for field in ('image_ref', 'os_type', 'kernel_id', 'progress'):
            assert after[field] == before[field]
        assert 'hw_rng_model' not in cloud.request_spec(server)

    def test_an_update_while_a_rebuild_holds_the_server_is_refused(
            self, cloud):
        server = cloud.boot(VGA)
        with meanwhile(api.API, '_record_action_start',
                       lambda: cloud.update(server, NETWORK)) as answers:
            cloud.rebuild(server).expect(202)
        cloud.overtaken(answers[0])
        assert 'rebuilding' in answers[0].message

    def test_a_rebuild_whose_request_spec_cannot_be_stored_is_undone(
            self, cloud):
        server = cloud.stopped({**VGA, 'hw_disk_bus': 'sata'})
        before = cloud.state(server)
        with mock.patch.object(objects.RequestSpec, 'save',
                               side_effect=ValueError('no database')):
            cloud.act(server, {'rebuild': {
                'imageRef': base.IMAGE, 'name': 'other',
                base.PARAMETER: NETWORK}}).expect(500)
        after = cloud.state(server)
        assert {**after, 'updated': None} == {**before, 'updated': None}
        cloud.assert_disks_agree(server)
        cloud.do(server, 'os-start')
        assert cloud.rebuild(server).status == 202


class TestActions:
    """An update ends within one statement of Nova's."""

    @pytest.mark.parametrize('before', [{}, VGA], ids=str)
    @pytest.mark.parametrize('action', [
        {'os-start': None}, {'reboot': {'type': 'HARD'}}, {'rescue': None},
        {'resize': {'flavorRef': '2'}}, {'shelve': None},
        *[{'rebuild': {'imageRef': base.IMAGE, **asked}} for asked in (
            {}, {base.PARAMETER: {}}, {base.PARAMETER: VGA})]], ids=str)
    def test_the_action_is_refused_and_the_update_stays(
            self, cloud, action, before):
        server = cloud.stopped(before)
        with before_its_statement(cloud.put(server, NETWORK)):
            answer = cloud.act(server, action)
        cloud.overtaken(answer)
        cloud.assert_changed(server, NETWORK)
        cloud.assert_disks_agree(server)
        cloud.do(server, 'os-start')
        assert cloud.shown(server) == NETWORK

    @pytest.mark.parametrize('before', [{}, VGA], ids=str)
    def test_an_unshelve_is_refused_and_the_update_stays(self, cloud, before):
        server = cloud.offloaded(before)
        with before_its_statement(cloud.put(server, NETWORK)):
            answer = cloud.act(server, {'unshelve': None})
        cloud.overtaken(answer)
        cloud.assert_changed(server, NETWORK)

    def test_novas_own_defaults_are_no_reason_to_refuse_an_action(self, cloud):
        server = cloud.stopped()
        with before_its_statement(lambda: cloud.change(
                server, system_metadata={
                    **cloud.instance(server).system_metadata,
                    'image_hw_machine_type': 'q35'})):
            assert cloud.act(server, {'os-start': None}).status == 202


class TestUnshelve:
    @pytest.mark.parametrize('wanted', [{}, VGA, update_case.NUMA])
    @pytest.mark.parametrize('before', [VGA, update_case.NUMA])
    def test_an_update_that_comes_first_stays(self, cloud, before, wanted):
        server = cloud.offloaded(before)
        with meanwhile(objects.RequestSpec, 'save',
                       cloud.put(server, wanted)):
            answer = cloud.act(server, {'unshelve': None})
        if before == wanted:
            answer.expect(202)
            return
        cloud.overtaken(answer)
        cloud.assert_changed(server, wanted)
        cloud.assert_numa_agrees(server)
        cloud.do(server, 'unshelve')
        assert cloud.shown(server) == wanted

    def test_an_update_while_another_is_stored_is_refused(self, cloud):
        server = cloud.offloaded(VGA)
        with meanwhile(objects.RequestSpec, 'save', lambda: cloud.act(
                server, {'unshelve': None}).expect(409)):
            cloud.update(server, update_case.NUMA).expect(200)
        cloud.assert_changed(server, update_case.NUMA)
        cloud.assert_numa_agrees(server)

    def test_a_host_that_would_build_the_shelved_image_is_told(self, cloud):
        server = cloud.offloaded(VGA)
        cloud.put(server, NETWORK)()
        cloud.start_host('compute2')
        cloud.act(server, {'unshelve': None}).expect(
            409, {base.PARAMETER: 'host_not_ready'})
        cloud.assert_changed(server, NETWORK)


class TestResize:
    def test_an_update_that_comes_first_stays(self, cloud):
        server = cloud.stopped(VGA)
        flavor = cloud.flavor(vcpus=1)
        with meanwhile(api.API, '_allow_resize_to_same_host',
                       cloud.put(server, NETWORK)):
            answer = cloud.act(server, {'resize': {'flavorRef': flavor}})
        cloud.overtaken(answer)
        cloud.assert_changed(server, NETWORK)
        assert cloud.instance(server).get_flavor().vcpus == 2


class TestUpdate:
    def test_a_late_rebuild_leaves_the_topology_alone(self, cloud):
        server = cloud.offloaded(update_case.NUMA)
        with meanwhile(objects.Instance, 'save', cloud.put(server, VGA)):
            answer = cloud.update(server, NETWORK)
        cloud.overtaken(answer)
        cloud.assert_changed(server, VGA)
        cloud.assert_numa_agrees(server)

    def test_a_server_that_its_host_still_stores_cannot_be_changed(
            self, cloud):
        # nova-compute saves an offloaded server once more, with the NUMA
        # topology that it had.
        server = cloud.stopped(update_case.NUMA)
        cloud.flags(shelved_offload_time=0)
        with meanwhile(manager.ComputeManager,
                       '_nil_out_instance_obj_host_and_node',
                       lambda: cloud.update(server, VGA)) as answers:
            cloud.do(server, 'shelve', 'SHELVED_OFFLOADED')
            cloud.wait_until_given_up(server)
        cloud.overtaken(answers[0])
        assert 'try again' in answers[0].message
        cloud.assert_changed(server, update_case.NUMA)
        cloud.assert_numa_agrees(server)
        cloud.put(server, VGA)()
        cloud.assert_numa_agrees(server)

    @pytest.mark.parametrize('state', ['stopped', 'offloaded'])
    def test_of_two_the_first_stays(self, cloud, state):
        server = getattr(cloud, state)(VGA)
        with meanwhile(api.API, '_record_action_start',
                       cloud.put(server, NETWORK)):
            answer = cloud.update(server, {'hw_boot_menu': 'true'})
        cloud.overtaken(answer)
        cloud.assert_changed(server, NETWORK)

    @pytest.mark.parametrize('act', ['os-start', 'shelve'])
    def test_what_nova_begins_meanwhile_is_refused(self, cloud, act):
        server = cloud.stopped(VGA)
        with meanwhile(objects.RequestSpec, 'save',
                       lambda: cloud.act(server, {act: None}).expect(409)):
            cloud.put(server, NETWORK)()
        cloud.assert_changed(server, NETWORK)

    @pytest.mark.parametrize(('act', 'body'), [
        ('os-start', None), ('rebuild', {'imageRef': base.IMAGE}),
        ('rescue', {}), ('migrate', None), ('unshelve', None)])
    def test_what_had_read_the_server_before_it_was_held_is_refused(
            self, cloud, act, body):
        server = (cloud.offloaded if act == 'unshelve' else cloud.stopped)(VGA)
        with meanwhile(objects.Instance, 'save', cloud.hold(server)):
            answer = cloud.act(server, {act: body}, admin=act == 'migrate')
        cloud.overtaken(answer)

    @pytest.mark.parametrize('change', ['update', 'rebuild_at_once'])
    @pytest.mark.parametrize('seconds', [0, 60])
    def test_a_deletion_wins(self, cloud, seconds, change):
        cloud.flags(reclaim_instance_interval=seconds)
        server = cloud.stopped(VGA)
        with meanwhile(objects.RequestSpec, 'save', cloud.deletion(server)):
            answer = getattr(cloud, change)(server, NETWORK)
        assert answer.status in (404, 409), answer.text
        shown = cloud.http('GET', f'/servers/{server}', admin=True)
        if seconds:
            assert shown.body['server']['status'] == 'SOFT_DELETED'
        else:
            assert shown.status == 404

    @pytest.mark.parametrize('change', ['update', 'rebuild'])
    def test_a_server_that_was_deleted_meanwhile_is_restored_as_it_was(
            self, cloud, change):
        cloud.flags(reclaim_instance_interval=60)
        server = cloud.stopped({**VGA, 'hw_disk_bus': 'sata'})
        image = cloud.image(hw_rng_model='virtio', os_type='linux')
        asked = {'name': 'other', base.PARAMETER: {
            **NETWORK, 'os_type': 'windows'}}

        def everything():
            instance = cloud.instance(server)
            return {**cloud.state(server), 'updated': None, 'state': None,
                    'fields': {name: instance[name] for name in (
                        'image_ref', 'os_type', 'kernel_id', 'progress')}}

        before = everything()
        with meanwhile(objects.RequestSpec, 'save', cloud.deletion(server)):
            answer = cloud.http('PUT', f'/servers/{server}', {
                'server': asked}) if change == 'update' else cloud.act(
                    server, {'rebuild': {'imageRef': image, **asked}})
        cloud.overtaken(answer)
        cloud.do(server, 'restore')
        # So that the harness can delete it.
        cloud.flags(reclaim_instance_interval=0)
        assert everything() == before
        cloud.assert_disks_agree(server)

    @pytest.mark.parametrize('change', ['update', 'rebuild_at_once'])
    def test_what_takes_the_server_meanwhile_goes_on(self, cloud, change):
        server = cloud.stopped(VGA)
        with meanwhile(objects.RequestSpec, 'save', lambda: cloud.change(
                server, task_state=task_states.SOFT_DELETING)):
            answer = getattr(cloud, change)(server, NETWORK)
        cloud.overtaken(answer)
        assert cloud.instance(server).task_state == task_states.SOFT_DELETING
        cloud.change(server, task_state=None)
        cloud.assert_changed(server, VGA)

    def test_what_is_read_again_of_a_server_is_not_stored_again(self, cloud):
        server = store.stored(cloud.instance(cloud.stopped(update_case.NUMA)))
        assert server.flavor and server.numa_topology
        assert server.obj_what_changed() == set()

    def test_a_lock_with_a_reason_stays_and_takes_nothing_back(self, cloud):
        server = cloud.stopped(VGA)
        lock = {'lock': {'locked_reason': 'why'}}
        with meanwhile(objects.RequestSpec, 'save',
                       lambda: cloud.act(server, lock).expect(202)):
            cloud.put(server, NETWORK)()
        cloud.assert_changed(server, NETWORK)
        assert cloud.instance(server).system_metadata[
            'locked_reason'] == 'why'

    @pytest.mark.parametrize('event', ['after_flush', 'before_commit'])
    def test_a_lock_is_tried_again_after_a_deadlock(self, cloud, event):
        """As Nova's own (nova/db/main/api.py _retry_instance_update)."""
        server, failed = cloud.boot(), []

        def fail(session, *args):
            if not failed and any(
                    isinstance(each, models.InstanceSystemMetadata)
                    for each in (*session.new, *session.dirty)):
                failed.append(session)
                raise db_exception.DBDeadlock

        sqlalchemy.event.listen(orm.Session, event, fail)
        try:
            answer = cloud.act(server, {'lock': {'locked_reason': 'why'}})
        finally:
            sqlalchemy.event.remove(orm.Session, event, fail)
        assert failed
        answer.expect(202)
        instance = cloud.instance(server)
        assert instance.locked_by == 'owner'
        assert instance.system_metadata['locked_reason'] == 'why'

    @pytest.mark.parametrize('action', [
        {'createImage': {'name': 'x'}},
        {'createBackup': {
            'name': 'x', 'backup_type': 'daily', 'rotation': 1}},
    ], ids=lambda action: next(iter(action)))
    def test_no_image_is_made_of_a_server_that_is_being_updated(
            self, cloud, action):
        server = cloud.stopped(VGA)
        with meanwhile(compute_utils, 'create_image', cloud.hold(server)):
            cloud.overtaken(cloud.act(server, action))

    @pytest.mark.parametrize('change', ['update', 'rebuild_at_once'])
    def test_what_an_older_copy_of_the_server_takes_back_is_told(
            self, cloud, change):
        server = cloud.stopped({**VGA, 'hw_disk_bus': 'sata'})
        older = cloud.instance(server)

        def save():
            older.system_metadata['locked_reason'] = 'why'
            older.save()

        with meanwhile(objects.RequestSpec, 'save', save):
            answer = getattr(cloud, change)(server, NETWORK)
        cloud.overtaken(answer)
        cloud.assert_changed(server, {**VGA, 'hw_disk_bus': 'sata'})
        cloud.assert_disks_agree(server)
