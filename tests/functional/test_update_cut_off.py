"""An update that is cut off is finished by the next request for the server.

nova-api ends, as with kill -9, before one of the statements by which a change
is stored: nothing of it runs any further, not even what undoes a failure.
"""

import contextlib
import itertools
from unittest import mock

from nova import exception
from nova import objects
from nova.compute import task_states
import pytest

from nova_image_override.api.change import store
from nova_image_override.server_record import ServerRecord
from testing.harness import base
from tests.functional import update_case

BEFORE = {'hw_video_model': 'vga', 'hw_disk_bus': 'sata',
          'hw_boot_menu': None}
AFTER = {'hw_video_model': None, 'hw_disk_bus': 'scsi',
         'hw_vif_model': 'e1000'}


class Killed(BaseException):
    """nova-api is no more."""


class Lost(exception.NovaException):
    """The database is."""


class Statements:
    """Fails before some of the statements that store a change.

    :param fails: says of the number of a statement whether it is one of them
    :param error: what is raised then
    """

    OWNERS = (objects.Instance, objects.RequestSpec,
              objects.BlockDeviceMapping)

    def __init__(self, fails=lambda number: False, error=Killed):
        self.fails, self.error = fails, error
        self.count = 0

    def _before(self, original):
        def save(*args, **kwargs):
            number = self.count
            self.count += 1
            if self.fails(number):
                raise self.error
            return original(*args, **kwargs)
        return save

    @contextlib.contextmanager
    def counted(self):
        with contextlib.ExitStack() as stack:
            for owner in self.OWNERS:
                stack.enter_context(mock.patch.object(
                    owner, 'save', self._before(owner.save)))
            yield self


def killed_at(number):
    """Return statements of which nova-api ends before one."""
    return Statements(lambda each: each >= number)


class Cloud(update_case.Cloud):
    def image_with(self):
        return self.image(hw_boot_menu='true', hw_rng_model='virtio')

    def killed(self, number, send):
        """Return whether nova-api ended while SEND was answered."""
        with killed_at(number).counted():
            try:
                send()
            except Killed:
                return True
        return False

    def reset(self, server):
        self.act(server, {'os-resetState': {'state': 'active'}},
                 admin=True).expect(202)

    def later(self):
        """Let what is being stored count as cut off."""
        return mock.patch.object(store, 'LEASE', -1)

    def assert_whole(self, server, *possible):
        """Assert that the server has one of the sets, in all places."""
        overrides = self.assert_changed(server, *possible)
        self.assert_disks_agree(server)
        assert ServerRecord.of(self.instance(server)).unfinished == {}
        return overrides


class TestKilled:
    @pytest.mark.parametrize('number', range(5))
    @pytest.mark.parametrize('state', ['stopped', 'offloaded'])
    def test_the_next_request_finds_the_server_whole(
            self, cloud, state, number):
        server = getattr(cloud, state)(BEFORE, image=cloud.image_with())
        assert cloud.killed(number, lambda: cloud.update(server, AFTER))
        with cloud.later():
            found = cloud.assert_whole(server, BEFORE, AFTER)
        assert (found == AFTER) == (number > 1)
        assert cloud.update(server, {}).status == 200
        cloud.assert_whole(server, {})
        cloud.do(server, 'os-start' if state == 'stopped' else 'unshelve')
        cloud.assert_whole(server, {})

    def test_an_update_has_five_statements(self, cloud):
        server = cloud.stopped(BEFORE, image=cloud.image_with())
        with Statements().counted() as statements:
            assert cloud.update(server, AFTER).status == 200
        # Hold it, store it, then its request spec and its disk, release it.
        assert statements.count == 5

    def test_a_server_whose_update_was_cut_off_is_being_changed(self, cloud):
        server = cloud.stopped(BEFORE)
        assert cloud.killed(2, lambda: cloud.update(server, AFTER))
        answer = cloud.update(server, {}).expect(409)
        assert 'resize_prep' in answer.message
        assert cloud.act(server, {'os-start': None}).status == 409
        with cloud.later():
            cloud.do(server, 'os-start')
            cloud.assert_whole(server, AFTER)

    def test_a_server_whose_update_was_cut_off_can_be_deleted(self, cloud):
        server = cloud.stopped(BEFORE)
        assert cloud.killed(3, lambda: cloud.update(server, AFTER))
        with cloud.later():
            assert cloud.http('DELETE', f'/servers/{server}').status == 204
        assert cloud.http('GET', f'/servers/{server}').status == 404

    @pytest.mark.parametrize('is_rebuilt', [False, True])
    def test_a_resize_that_nova_prepares_is_not_taken_for_an_update(
            self, cloud, is_rebuilt):
        server = cloud.boot(BEFORE)
        if is_rebuilt:
            assert cloud.rebuild(server, {}).status == 202
        cloud.stop(server)
        cloud.change(server, task_state=task_states.RESIZE_PREP)
        with cloud.later():
            cloud.http('GET', f'/servers/{server}')
        assert cloud.instance(server).task_state == task_states.RESIZE_PREP

    def test_nova_compute_that_starts_meanwhile_leaves_it_to_be_finished(
            self, cloud):
        server = cloud.stopped(BEFORE)
        assert cloud.killed(2, lambda: cloud.update(server, AFTER))
        # ComputeManager._init_instance
        cloud.change(server, task_state=None)
        cloud.assert_whole(server, AFTER)

    @pytest.mark.parametrize('asked', [None, AFTER])
    def test_a_rebuild_is_whole_once_its_state_is_reset(self, cloud, asked):
        """nova-api that is killed there leaves it rebuilding, as Nova's does.
        """
        for number in itertools.count():
            server = cloud.boot(BEFORE, image=cloud.image_with())
            other = cloud.image(hw_boot_menu='false')
            if not cloud.killed(number, lambda server=server, other=other:
                                cloud.rebuild(server, asked, other)):
                break
            if cloud.instance(server).task_state:
                cloud.reset(server)
            cloud.assert_whole(server, BEFORE, asked or BEFORE)
            assert cloud.rebuild(server, {}).status == 202
            cloud.assert_whole(server, {})
        assert number > 1

    def test_a_rebuild_that_could_not_be_finished_at_once_is_finished_later(
            self, cloud):
        server = cloud.boot(BEFORE)
        assert cloud.killed(2, lambda: cloud.rebuild(server, AFTER))
        cloud.reset(server)
        with mock.patch.object(objects.RequestSpec, 'save', side_effect=Lost):
            cloud.http('GET', f'/servers/{server}')
        assert cloud.instance(server).task_state == task_states.RESIZE_PREP
        with cloud.later():
            cloud.assert_whole(server, AFTER)
        assert cloud.instance(server).task_state is None

    @pytest.mark.parametrize('body', [
        {'lock': {'locked_reason': 'why'}}, {'unlock': None}, {'shelve': None},
    ], ids=lambda body: next(iter(body)))
    def test_what_stores_system_metadata_leaves_the_overrides(
            self, cloud, body):
        """Nova's shelve leaves a server shelving if nova-api is killed."""
        for number in itertools.count():
            server = cloud.boot(
                BEFORE, image=cloud.image(base_image_ref=base.IMAGE))
            if 'unlock' in body:
                cloud.act(server, {'lock': {'locked_reason': 'why'}})
            if not cloud.killed(number, lambda server=server: cloud.act(
                    server, body)):
                break
            assert ServerRecord.of(cloud.instance(server)).unfinished == {}
            cloud.act(server, {'unlock': None})
            cloud.reset(server)
            cloud.assert_whole(server, BEFORE)
            cloud.stop(server)
            assert cloud.update(server, {}).status == 200
            cloud.assert_whole(server, {})
        assert number


class TestDatabaseLost:
    @pytest.mark.parametrize('state', ['stopped', 'offloaded'])
    @pytest.mark.parametrize('number', range(1, 5))
    def test_the_server_is_whole_once_it_is_back(self, cloud, state, number):
        server = getattr(cloud, state)(BEFORE, image=cloud.image_with())
        with Statements(lambda each: each >= number, Lost).counted():
            cloud.update(server, AFTER).expect(500)
        with cloud.later():
            cloud.assert_whole(server, BEFORE, AFTER)
        assert cloud.update(server, {}).status == 200
        cloud.do(server, 'os-start' if state == 'stopped' else 'unshelve')
        cloud.assert_whole(server, {})

    @pytest.mark.parametrize('state', ['stopped', 'offloaded'])
    @pytest.mark.parametrize('number', range(5))
    def test_where_one_statement_fails_all_is_as_it_was(
            self, cloud, state, number):
        server = getattr(cloud, state)(BEFORE, image=cloud.image_with())
        with Statements(lambda each: each == number, Lost).counted():
            cloud.update(server, AFTER).expect(500)
        # At once, and not at the next request for it.
        instance = cloud.instance(server)
        assert instance.task_state is None
        assert ServerRecord.of(instance).unfinished == {}
        cloud.assert_whole(server, BEFORE)

    @pytest.mark.parametrize('number', range(5))
    def test_so_it_is_where_one_of_a_rebuild_fails(self, cloud, number):
        server = cloud.boot(BEFORE, image=cloud.image_with())
        other = cloud.image(hw_boot_menu='false')
        with Statements(lambda each: each == number, Lost).counted():
            cloud.rebuild(server, AFTER, other).expect(500)
        instance = cloud.instance(server)
        assert instance.task_state is None
        assert instance.image_ref != other
        assert ServerRecord.of(instance).unfinished == {}
        cloud.assert_whole(server, BEFORE)
