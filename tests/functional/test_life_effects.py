"""What a rebuild and a resize make of overrides without effect."""

import typing
from unittest import mock

from nova_image_override.api.guest import no_effect
from testing.harness import answers
from testing.harness import base
from tests.functional import update_case


class Cloud(update_case.Cloud):
    IMAGE = {'kernel_id': base.IMAGE}

    def setUp(self) -> None:
        self.flags(allow_resize_to_same_host=True)
        super().setUp()
        self.move_without_copies()

    def resize(self, server: str, **flavor: typing.Any) -> answers.Answer:
        """Resize a server, and wait for it if that is accepted."""
        answer = self.act(server, {'resize': {
            'flavorRef': self.flavor(**flavor)}})
        if answer.status == 202:
            self.wait(server, 'VERIFY_RESIZE')
            self.act(server, {'confirmResize': None})
            self.wait(server)
        return answer

    def assert_unchanged(
            self, server: str, answer: answers.Answer,
            problems: dict[str, str], overrides: dict[str, str]) -> None:
        answer.expect(400, problems)
        shown = self.show(server)
        assert shown['status'] == 'ACTIVE'
        assert shown[base.PARAMETER] == overrides

    def older(self, overrides: dict[str, str], **kwargs: typing.Any) -> str:
        """Boot a server as it was done before these refusals existed."""
        with mock.patch.object(no_effect, 'in_guest', return_value=()):
            return self.boot(overrides, **kwargs)


class TestLife:
    def test_what_a_rebuild_newly_asks_for_must_act(self, cloud):
        kept = {'hw_boot_menu': 'true'}
        server = cloud.boot(kept)
        cloud.assert_unchanged(
            server, cloud.rebuild(server, {**kept, 'os_command_line': 'x'}),
            {'os_command_line': 'no_effect'}, kept)
        assert cloud.rebuild(server, {**kept, 'os_command_line': 'x'},
                             image=cloud.image(**cloud.IMAGE)).status == 202

    def test_a_rebuild_must_not_take_the_effect_of_what_is_kept(self, cloud):
        kept = {'os_command_line': 'x'}
        server = cloud.boot(kept, image=cloud.image(**cloud.IMAGE))
        answer = cloud.rebuild(server)
        cloud.assert_unchanged(
            server, answer, {'os_command_line': 'no_effect'}, kept)
        assert 'kernel_id' in answer.message
        cloud.rebuild(server, image=cloud.image(**cloud.IMAGE)).expect(202)
        assert cloud.rebuild(server, {}).status == 202

    def test_a_resize_may_leave_an_override_without_effect(self, cloud):
        kept = {'hw_vif_multiqueue_enabled': 'true'}
        server = cloud.boot(kept)
        assert cloud.resize(server, vcpus=1).status == 202
        assert cloud.rebuild(server).status == 202
        assert cloud.rebuild(server, kept).status == 202
        # Asking for it anew is another matter.
        assert cloud.rebuild(server, {}).status == 202
        cloud.assert_unchanged(
            server, cloud.rebuild(server, kept),
            {'hw_vif_multiqueue_enabled': 'no_effect'}, {})

    def test_a_resize_to_a_flavor_that_wins_in_silence_is_refused(self, cloud):
        kept = {'img_hide_hypervisor_id': 'false'}
        server = cloud.boot(kept)
        answer = cloud.resize(server, hw__hide_hypervisor_id='true')
        cloud.assert_unchanged(
            server, answer, {'img_hide_hypervisor_id': 'flavor_conflict'},
            kept)
        assert 'hw:hide_hypervisor_id=true' in answer.message
        assert 'hw:hide_hypervisor_id=false, or without it' in answer.message
        assert cloud.resize(server, vcpus=1).status == 202

    def test_what_had_no_effect_before_hinders_no_rebuild_and_no_resize(
            self, cloud):
        kept = {'img_hide_hypervisor_id': 'false', 'os_command_line': 'x'}
        server = cloud.older(
            kept, flavor=cloud.flavor(hw__hide_hypervisor_id='true'))
        assert cloud.rebuild(server).status == 202
        assert cloud.resize(server, vcpus=1,
                            hw__hide_hypervisor_id='true').status == 202
        assert cloud.show(server)[base.PARAMETER] == kept
        cloud.assert_unchanged(
            server, cloud.rebuild(server, {**kept, 'os_command_line': 'y'}),
            {'os_command_line': 'no_effect'}, kept)
