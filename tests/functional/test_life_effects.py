"""What a rebuild and a resize make of overrides without effect."""

import typing
from unittest import mock

import fixtures

from nova_image_override.api.flavor import effects
from testing.harness import answers
from testing.harness import base


class Life(base.TestCase):
    """What becomes of them in a rebuild and a resize."""

    EXTENDED_HOSTS = base.TestCase.HOSTS
    IMAGE = {'kernel_id': base.IMAGE}

    def setUp(self) -> None:
        self.flags(allow_resize_to_same_host=True)
        super().setUp()
        # This would copy files to the other host.
        self.useFixture(fixtures.MockPatch(
            'nova.virt.libvirt.driver.LibvirtDriver.'
            'migrate_disk_and_power_off', return_value='{}'))

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
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual(problems, answer.problems)
        shown = self.http('GET', f'/servers/{server}').body['server']
        self.assertEqual('ACTIVE', shown['status'])
        self.assertEqual(overrides, shown[base.PARAMETER])

    def older(self, overrides: dict[str, str], **kwargs: typing.Any) -> str:
        """Boot a server as it was done before these refusals existed."""
        with mock.patch.dict(effects.RULES, clear=True):
            return self.boot(overrides, **kwargs)

    def test_what_a_rebuild_newly_asks_for_must_act(self):
        kept = {'hw_boot_menu': 'true'}
        server = self.boot(kept)
        self.assert_unchanged(
            server, self.rebuild(server, {**kept, 'os_command_line': 'x'}),
            {'os_command_line': 'no_effect'}, kept)
        self.assertEqual(202, self.rebuild(
            server, {**kept, 'os_command_line': 'x'},
            image=self.image(**self.IMAGE)).status)

    def test_a_rebuild_must_not_take_the_effect_of_what_is_kept(self):
        kept = {'os_command_line': 'x'}
        server = self.boot(kept, image=self.image(**self.IMAGE))
        answer = self.rebuild(server)
        self.assert_unchanged(
            server, answer, {'os_command_line': 'no_effect'}, kept)
        self.assertIn('kernel_id', answer.message)
        self.assertEqual(202, self.rebuild(
            server, image=self.image(**self.IMAGE)).status)
        self.assertEqual(202, self.rebuild(server, {}).status)

    def test_a_resize_may_leave_an_override_without_effect(self):
        kept = {'hw_vif_multiqueue_enabled': 'true'}
        server = self.boot(kept)
        self.assertEqual(202, self.resize(server, vcpus=1).status)
        self.assertEqual(202, self.rebuild(server).status)
        self.assertEqual(202, self.rebuild(server, kept).status)
        # Asking for it anew is another matter.
        self.assertEqual(202, self.rebuild(server, {}).status)
        self.assert_unchanged(
            server, self.rebuild(server, kept),
            {'hw_vif_multiqueue_enabled': 'no_effect'}, {})

    def test_a_resize_to_a_flavor_that_wins_in_silence_is_refused(self):
        kept = {'img_hide_hypervisor_id': 'false'}
        server = self.boot(kept)
        answer = self.resize(server, hw__hide_hypervisor_id='true')
        self.assert_unchanged(
            server, answer, {'img_hide_hypervisor_id': 'flavor_conflict'},
            kept)
        self.assertIn('hw:hide_hypervisor_id=true', answer.message)
        self.assertIn('choose another flavor', answer.message)
        self.assertEqual(202, self.resize(server, vcpus=1).status)

    def test_what_had_no_effect_before_hinders_no_rebuild_and_no_resize(self):
        kept = {'img_hide_hypervisor_id': 'false', 'os_command_line': 'x'}
        server = self.older(
            kept, flavor=self.flavor(hw__hide_hypervisor_id='true'))
        self.assertEqual(202, self.rebuild(server).status)
        self.assertEqual(202, self.resize(
            server, vcpus=1, hw__hide_hypervisor_id='true').status)
        self.assertEqual(kept, self.http(
            'GET', f'/servers/{server}').body['server'][base.PARAMETER])
        self.assert_unchanged(
            server, self.rebuild(server, {**kept, 'os_command_line': 'y'}),
            {'os_command_line': 'no_effect'}, kept)
