"""A rebuild that changes image properties is scheduled, whatever the image.

Nova schedules a rebuild when the image's ID is a different one. Overrides
change the properties of the same image: the scheduler is still asked who may
be on the host, and before anything changes.
"""

from nova import exception
import oslo_messaging
import pytest

from testing import release
from testing.harness import base
from tests.functional.rebuild_scheduling import Cloud
from tests.functional.rebuild_scheduling import SCHEDULER


class IsolationCloud(Cloud):
    def setUp(self):
        super().setUp()
        self.isolate('compute1', os_distro='windows')
        self.windows = self.image(os_distro='windows')


class TestIsolation:
    """A host for Windows only, and a server with a Windows image on it."""

    CLOUD = IsolationCloud

    @pytest.mark.smoke
    def test_an_override_cannot_stay_on_a_host_of_others(self, cloud):
        server = cloud.boot(image=cloud.windows)
        answer = cloud.assert_refused_unchanged(
            server, 409, {'os_distro': 'unschedulable'},
            {'os_distro': 'linux'}, image=cloud.windows)
        assert 'boot another server' in answer.message

    def test_dropping_what_let_it_in_is_refused(self, cloud):
        linux = cloud.image(os_distro='linux')
        server = cloud.boot({'os_distro': 'windows'}, image=linux)
        cloud.assert_refused_unchanged(
            server, 409, {'os_distro': 'unschedulable'}, {}, image=linux)

    def test_removing_what_the_host_isolates_by_is_permitted(self, cloud):
        # To Nova, a server whose image does not set os_distro may be there.
        linux = cloud.image(os_distro='linux')
        server = cloud.boot({'os_distro': 'windows'}, image=linux)
        cloud.rebuild(server, {'os_distro': None}, image=linux).expect(202)

    def test_another_image_is_judged_with_the_overrides(self, cloud):
        server = cloud.boot({'hw_boot_menu': 'true'}, image=cloud.windows)
        cloud.assert_refused_unchanged(
            server, 409, {base.PARAMETER: 'unschedulable'},
            image=cloud.image(os_distro='linux'))
        assert cloud.rebuild(server, {'os_distro': 'windows'},
                             image=cloud.image(os_distro='linux')).status == 202
        assert cloud.request_spec(server)['os_distro'] == 'windows'

    def test_only_what_changes_is_named(self, cloud):
        server = cloud.boot({'hw_boot_menu': 'true'}, image=cloud.windows)
        cloud.assert_refused_unchanged(
            server, 409, {'os_distro': 'unschedulable'},
            {'hw_boot_menu': 'true', 'os_distro': 'linux'},
            image=cloud.windows)

    def test_a_rebuild_that_changes_nothing_is_not_scheduled(self, cloud):
        server = cloud.boot({'hw_boot_menu': 'true'}, image=cloud.windows)
        # As in unmodified Nova: the aggregate changed after the boot.
        cloud.isolate('compute1', os_distro='linux')
        scheduled = cloud.scheduled()
        for overrides in (None, {'hw_boot_menu': 'true'}):
            cloud.rebuild(server, overrides, image=cloud.windows).expect(202)
        assert scheduled == []

    def test_a_volume_backed_server(self, cloud):
        volume = cloud.volume(os_distro='windows')
        server = cloud.boot({'hw_boot_menu': 'true'}, image=None,
                            server=cloud.from_volume(volume))
        cloud.assert_refused_unchanged(
            server, 409, {'os_distro': 'unschedulable'},
            {'hw_boot_menu': 'true', 'os_distro': 'linux'}, compute='2.92')

    def test_without_overrides_nova_schedules_as_ever(self, cloud):
        server = cloud.boot(image=cloud.windows)
        scheduled = cloud.scheduled()
        assert cloud.rebuild(server, image=cloud.windows).status == 202
        assert scheduled == []
        assert cloud.rebuild(
            server, image=cloud.image(os_distro='windows')).status == 202
        # By the conductor, which is the only one that asks.
        assert scheduled == [server]

    def test_with_overrides_another_image_is_scheduled_once(self, cloud):
        server = cloud.boot({'hw_boot_menu': 'true'}, image=cloud.windows)
        scheduled = cloud.scheduled()
        assert cloud.rebuild(
            server, image=cloud.image(os_distro='windows')).status == 202
        assert scheduled == [server]


class TestFilters:
    def test_what_no_host_has_is_refused(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        for override in (
                {'img_hv_type': 'xen'}, {'hw_architecture': 'ppc64le'},
                {'hw_vm_mode': 'xen'}, {'img_hv_requested_version': '>=99.0'}):
            cloud.assert_refused_unchanged(
                server, 409, {
                    **dict.fromkeys(override, 'unschedulable'),
                    'hw_video_model': 'unschedulable'}, override)

    def test_a_trait_that_the_host_lacks_is_refused_by_name(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        answer = cloud.assert_refused_unchanged(
            server, 409, {'trait:CUSTOM_ABSENT': 'unschedulable'}, {
                'trait:CUSTOM_ABSENT': 'required',
                'trait:COMPUTE_NODE': 'required'})
        assert 'lacks the trait CUSTOM_ABSENT,' in answer.message

    def test_traits_that_nova_derives_are_required_of_the_host(self, cloud):
        release.need('hw_firmware_stateless')
        uefi = cloud.image(hw_firmware_type='uefi', hw_machine_type='q35')
        server = cloud.boot(image=uefi)
        answer = cloud.assert_refused_unchanged(
            server, 409, {'hw_firmware_stateless': 'unschedulable'},
            {'hw_firmware_stateless': 'true'}, image=uefi)
        assert 'COMPUTE_SECURITY_STATELESS_FIRMWARE' in answer.message
        # The host has this trait.
        assert cloud.rebuild(server, {'os_secure_boot': 'required'},
                             image=uefi).status == 202

    def test_a_trait_that_the_host_has_may_be_required(self, cloud):
        server = cloud.boot()
        held = {'trait:COMPUTE_NODE': 'required'}
        assert cloud.rebuild(server, held).status == 202
        assert cloud.request_spec(server)['traits_required'] == ['COMPUTE_NODE']

    def test_a_trait_of_the_new_image_that_is_removed_is_not_required(
            self, cloud):
        server = cloud.boot()
        image = cloud.image(**{'trait:CUSTOM_ABSENT': 'required'})
        assert cloud.rebuild(server, {'trait:CUSTOM_ABSENT': None},
                             image=image).status == 202

    def test_the_scheduler_is_asked_with_the_servers_own_hints(self, cloud):
        server = cloud.created(cloud.http('POST', '/servers', {
            **cloud.server_body({'hw_video_model': 'vga'}),
            'os:scheduler_hints': {'mine': 'kept'}}))
        with base.mock.patch(SCHEDULER) as asked:
            cloud.rebuild(server, {'hw_boot_menu': 'true'}).expect(202)
        (call,) = asked.mock_calls
        assert call.args[1].scheduler_hints == {
            'mine': ['kept'], '_nova_check_type': ['rebuild']}

    def test_no_answer_of_the_scheduler_refuses_and_changes_nothing(
            self, cloud):
        server = cloud.boot()
        for failure in (oslo_messaging.MessagingTimeout(),
                        oslo_messaging.MessageDeliveryFailure(),
                        AttributeError('in a filter')):
            with base.mock.patch(SCHEDULER, side_effect=failure):
                cloud.assert_refused_unchanged(
                    server, 409, {'hw_boot_menu': 'scheduler_unavailable'},
                    {'hw_boot_menu': 'true'})
        assert cloud.rebuild(server, {'hw_boot_menu': 'true'}).status == 202

    def test_no_answer_of_placement_refuses_and_changes_nothing(self, cloud):
        server = cloud.boot()
        with base.mock.patch(
                'nova.scheduler.client.report.SchedulerReportClient.'
                'get_allocs_for_consumer',
                side_effect=exception.ConsumerAllocationRetrievalFailed(
                    consumer_uuid=server, error='gone')):
            cloud.assert_refused_unchanged(
                server, 409, {'trait:COMPUTE_NODE': 'scheduler_unavailable'},
                {'trait:COMPUTE_NODE': 'required'})


class TestDecidedAtCreate:
    def test_properties_decided_at_create_are_refused_by_name(self, cloud):
        image = cloud.image(hw_firmware_type='uefi', hw_machine_type='q35')
        server = cloud.boot({'hw_video_model': 'vga'}, image=image)
        for overrides in (
                {'hw_tpm_version': '2.0', 'hw_tpm_model': 'tpm-crb'},
                {'hw_mem_encryption': 'true'},
                {'hw_pci_numa_affinity_policy': 'required'}):
            answer = cloud.assert_refused_unchanged(
                server, 400, dict.fromkeys(overrides, 'create_only'),
                {'hw_video_model': 'vga', **overrides}, image=image)
            assert 'boot another server' in answer.message

    def test_an_image_that_brings_them_is_refused_too(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        image = cloud.image(hw_tpm_version='2.0')
        cloud.assert_refused_unchanged(
            server, 400, {'hw_tpm_version': 'create_only'}, image=image)
        cloud.rebuild(server, {'hw_tpm_version': None}, image=image).expect(202)

    def test_what_is_kept_stays(self, cloud):
        affinity = {'hw_pci_numa_affinity_policy': 'required'}
        server = cloud.boot(affinity)
        cloud.rebuild(
            server, {**affinity, 'hw_boot_menu': 'true'}).expect(202)
        cloud.assert_refused_unchanged(
            server, 400, {'hw_pci_numa_affinity_policy': 'create_only'}, {})
