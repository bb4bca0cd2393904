"""The rules for what has an effect, compared with the guests that Nova builds.

What nova_image_override.api.flavor.effects refuses makes no difference to the
guest, and what it says would make an override act does.
"""

import re
import xml.etree.ElementTree as ET

from testing.harness import base
from tests.functional import effect_cases
from tests.proof import figures

#: In the short form, one case in so many.
CASES = effect_cases.KNOWN[::1 if figures.FULL else 4]


class Guests(base.TestCase):
    """The rules, compared with the guests that Nova builds."""

    def setUp(self) -> None:
        self.flags(enabled=True, group='serial_console')
        super().setUp()

    def shape(self, server_id: str) -> str:
        """Return a guest's definition without what distinguishes servers."""
        guest = self.guest(server_id)
        guest.remove(guest.find('metadata'))
        text = ET.tostring(guest, encoding='unicode')
        for told in (server_id, guest.findtext('name')):
            text = text.replace(told, '-')
        # Each server has its own taps and ports of serial consoles.
        return re.sub(r'service="\d+"', 'service=""', text)

    def guest_of(self, *args, **kwargs) -> str:
        """Return the shape of a guest that has the host for itself."""
        server = self.boot(*args, **kwargs)
        shape = self.shape(server)
        self.http('DELETE', f'/servers/{server}')
        self._wait_until_deleted({'id': server})
        return shape

    def test_a_guest_is_the_same_with_and_without_what_is_refused(self):
        for case in CASES:
            if case.field in ('hw_tpm_model', 'hw_video_ram'):
                continue
            with self.subTest(f'{case}'):
                flavor = self.flavor(vcpus=case.vcpus, **case.specs)
                self.assertEqual(
                    self.guest_of(
                        image=self.image(**case.image), flavor=flavor),
                    self.guest_of(flavor=flavor, image=self.image(**{
                        **case.image,
                        case.name.replace('.', '__'): case.value})))

    def test_a_guest_is_another_with_what_makes_it_act(self):
        for case in CASES:
            if not case.boots or not case.acts_vcpus:
                continue
            with self.subTest(f'{case}'):
                like = {
                    'image': self.image(**case.acts_image),
                    'flavor': self.flavor(
                        vcpus=case.acts_vcpus, **case.acts_specs)}
                self.assertNotEqual(
                    self.guest_of(case.acts, **like),
                    self.guest_of({case.name: case.value, **case.acts},
                                  **like))

    def test_numa_lists_give_nodes_of_their_own_size(self):
        flavor = self.flavor(vcpus=4)
        self.assertNotEqual(
            self.guest_of({'hw_numa_nodes': '2'}, flavor=flavor),
            self.guest_of({
                'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0',
                'hw_numa_cpus.1': '1-3', 'hw_numa_mem.0': '256',
                'hw_numa_mem.1': '768'}, flavor=flavor))

    def test_a_scsi_controller_is_there_with_disks_on_any_bus(self):
        server = self.boot({'hw_scsi_model': 'virtio-scsi'})
        guest = self.guest(server)
        self.assertEqual(
            'virtio', guest.find('devices/disk/target').get('bus'))
        self.assertIn('virtio-scsi', [
            each.get('model') for each in guest.findall('devices/controller')])
