"""What nova-api logs about overrides, and what Nova notifies about."""

import logging
import re

import fixtures
from oslo_log import formatters
import pytest

from nova_image_override.api import audit
from testing.harness import base
from tests.functional import update_case


class Cloud(update_case.Cloud):
    def setUp(self):
        super().setUp()
        self.logged = self.useFixture(fixtures.FakeLogger(
            audit.__name__, logging.DEBUG, format='%(message)s',
            formatter=formatters.ContextFormatter, nuke_handlers=False))

    def told(self):
        """Return level and text of the new lines, all for requests of the user.
        """
        found = []
        for line in self.logged.output.splitlines():
            match = re.fullmatch(
                rf'\S+ \S+ \d+ (\w+) {re.escape(audit.__name__)} '
                rf'\[\S+ req-\S+ fake {self.api.project_id} - - - -\] (.*)',
                line)
            assert match is not None, line
            found.append(f'{match[1]} {match[2]}')
        self.logged.reset_output()
        return found


@pytest.fixture(autouse=True)
def _nothing_told(cloud):
    cloud.told()


class TestAudit:
    @pytest.mark.smoke
    def test_a_boot_is_told_without_its_values(self, cloud):
        image = cloud.image(hw_vif_model='e1000')
        server = cloud.unbuilt(
            {'hw_video_model': 'vga', 'hw_vif_model': None}, image=image)
        begin = (f'[instance: {server}] '
                 'Image properties overridden at boot: ')
        assert cloud.told() == [f'INFO {begin}hw_video_model, hw_vif_model']

    def test_each_of_several_servers_is_told(self, cloud):
        cloud.unbuilt({'hw_video_model': 'vga'}, server={'min_count': 3})
        assert len({*cloud.told()}) == 3

    def test_a_line_has_at_most_four_kibibytes_and_says_where_it_is_cut(
            self, cloud):
        server = cloud.stopped()
        cloud.told()
        names = [f'trait:CUSTOM_{n:0200}' for n in range(100, 120)]
        cloud.update(server, dict.fromkeys(names))
        line, = cloud.told()
        assert len(line) <= 4096
        assert all(name in line for name in names[:15])
        assert line.endswith(' [...]')

    def test_a_rebuild_is_told_also_when_it_drops_all(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        cloud.told()
        begin = (f'[instance: {server}] '
                 'Image properties overridden by the rebuild: ')
        for overrides, names in (
                (None, 'hw_video_model'), ({'hw_vif_model': 'e1000'},
                 'hw_vif_model'), ({}, 'none')):
            cloud.rebuild(server, overrides)
            assert cloud.told() == [f'INFO {begin}{names}']

    def test_an_update_is_told(self, cloud):
        server = cloud.stopped()
        cloud.told()
        cloud.update(server, {'hw_video_model': 'vga'})
        begin = (f'[instance: {server}] '
                 'Image properties overridden by the update: ')
        assert cloud.told() == [f'INFO {begin}hw_video_model']

    def test_an_update_is_among_novas_notifications(self, cloud):
        cloud.flags(notify_on_state_change='vm_and_task_state',
                    group='notifications')
        server = cloud.stopped()
        cloud.notifier.reset()
        cloud.update(server, {'hw_video_model': 'vga'})
        updates = [each['payload']['nova_object.data'] for each in
                   cloud.notifier.versioned_notifications
                   if each['event_type'] == 'instance.update']
        assert [*[(server, 'resize_prep')] * 2, (server, None)] == [
            (each['uuid'],
             each['state_update']['nova_object.data']['new_task_state'])
            for each in updates]

    def test_what_asks_for_nothing_is_not_told(self, cloud):
        cloud.boot()
        assert cloud.told() == []

    # --- refusals -----------------------------------------------------------

    def test_a_refused_boot_is_told_with_every_code_and_no_value(self, cloud):
        cloud.create({'hw_nothing': 'x', 'hw_disk_bus': 'secret'}).expect(400)
        assert cloud.told() == [
            'INFO Image property overrides refused: '
            'hw_disk_bus: invalid_value, hw_nothing: unknown']
        assert 'secret' not in cloud.logged.output

    def test_a_name_forges_no_line(self, cloud):
        cloud.create({'x\nINFO forged': 'y'}).expect(400)
        assert cloud.told() == [
            r'INFO Image property overrides refused: "x\nINFO forged": '
            'unknown']

    def test_a_refused_change_is_told_with_its_server(self, cloud):
        server = cloud.boot()
        for change, problem in (
                (cloud.update, 'image_props_override: wrong_state'),
                (cloud.rebuild, 'trait:CUSTOM_GOLD: unschedulable')):
            cloud.told()
            change(server, {'trait:CUSTOM_GOLD': 'required'}).expect(409)
            assert cloud.told() == [
                f'INFO [instance: {server}] Image property overrides '
                f'refused: {problem}']

    def test_refused_metadata_is_told_with_its_server_and_not_with_its_key(
            self, cloud):
        server = cloud.boot()
        key, metadata = base.PARAMETER, f'/servers/{server}/metadata'
        for method, path, body in (
                ('POST', metadata, {'metadata': {key: '{}'}}),
                ('PUT', metadata, {'metadata': {key: '{}'}}),
                ('PUT', f'{metadata}/{key}', {'meta': {key: '{}'}})):
            cloud.told()
            assert cloud.http(method, path, body).status == 400
            assert cloud.told() == [
                f'INFO [instance: {server}] Image property overrides '
                f'refused: {key}: not_here']

    def test_a_server_that_is_no_uuid_is_not_told(self, cloud):
        cloud.update('not-a-uuid', {'hw_nothing': 'x'})
        assert cloud.told() == [
            'INFO Image property overrides refused: hw_nothing: unknown']

    def test_what_is_only_asked_for_is_not_told(self, cloud):
        cloud.check({'hw_video_model': 'vga'}).expect(200)
        cloud.check({'hw_nothing': 'x'}).expect(400)
        assert cloud.told() == []


class TestNotifications:
    SET = {'os_distro': 'debian', 'hw_video_model': 'vga'}

    def sent(self, cloud, act):
        """Return type -> image properties of the last one of those of ACT."""
        cloud.flags(notify_on_state_change='vm_and_task_state',
                    notification_format='unversioned', group='notifications')
        cloud.notifier.reset()
        act()
        return {each.event_type: each.payload['image_meta']
                for each in cloud.notifier.notifications
                if each.event_type.startswith('compute.instance.')
                and each.payload.keys() & {'image_meta'}}

    def test_the_default_format_has_the_overrides_in_force(self, cloud):
        server = []
        image = cloud.image(hw_video_model='cirrus', os_distro='arch')
        found = self.sent(cloud, lambda: server.append(
            cloud.boot(self.SET, image=image)))
        assert {'compute.instance.create.start',
                'compute.instance.create.end'} <= {*found}
        for each in found.values():
            assert each['os_distro'] == 'debian'
            assert each['os_glance_override:os_distro'] == 'arch'
            assert each['hw_video_model'] == 'vga'
        found = self.sent(cloud, lambda: cloud.rebuild(
            server[0], {'os_distro': 'alpine'}, image=image))
        for end in ('start', 'end'):
            each = found[f'compute.instance.rebuild.{end}']
            assert each['os_distro'] == 'alpine'
            assert each['hw_video_model'] == 'cirrus'
        cloud.stop(server[0])
        (found,) = self.sent(cloud, lambda: cloud.update(
            server[0], self.SET)).values()
        assert found['os_distro'] == 'debian'
        assert found['os_glance_override:hw_video_model'] == 'cirrus'

    def test_the_versioned_format_has_no_image_properties(self, cloud):
        cloud.flags(notification_format='versioned', group='notifications')
        server = cloud.stopped({'os_distro': 'debian'})
        cloud.update(server, {'os_distro': 'rocky'})
        sent = cloud.notifier.versioned_notifications
        assert 'instance.create.end' in {each['event_type'] for each in sent}
        assert not [each['event_type'] for each in sent
                    if each['event_type'].startswith('instance.')
                    and ('os_distro' in str(each) or 'debian' in str(each))]
