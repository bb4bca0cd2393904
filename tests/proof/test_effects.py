"""The rules for what has an effect, compared with the guests that Nova builds.

What nova_image_override.api.guest.effects refuses makes no difference to the
guest, and what it says would make an override act does.
"""

import re
import xml.etree.ElementTree as ET

import pytest

from testing import figures
from testing.harness import base
from testing.harness import ids
from tests.functional import effect_cases

#: In the short form, one case in so many.
CASES = effect_cases.KNOWN[::1 if figures.FULL else 4]


class Cloud(base.Cloud):
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
        self.delete(server)
        return shape


class TestGuests:
    """The rules, compared with the guests that Nova builds."""

    @pytest.mark.parametrize('case', [
        case for case in CASES
        if case.field not in ('hw_tpm_model', 'hw_video_ram')], ids=ids.short)
    def test_a_guest_is_the_same_with_and_without_what_is_refused(
            self, cloud, case):
        flavor = cloud.flavor(vcpus=case.vcpus, **case.specs)
        with_it = cloud.image(**{
            **case.image, case.name.replace('.', '__'): case.value})
        without = cloud.image(**case.image)
        assert cloud.guest_of(image=with_it, flavor=flavor) == (
            cloud.guest_of(image=without, flavor=flavor))

    @pytest.mark.parametrize('case', [
        case for case in CASES
        if case.boots and case.acts_vcpus], ids=ids.short)
    def test_a_guest_is_another_with_what_makes_it_act(self, cloud, case):
        like = {
            'image': cloud.image(**case.acts_image),
            'flavor': cloud.flavor(
                vcpus=case.acts_vcpus, **case.acts_specs)}
        assert cloud.guest_of({case.name: case.value, **case.acts}, **like) != (
            cloud.guest_of(case.acts, **like))

    def test_numa_lists_give_nodes_of_their_own_size(self, cloud):
        flavor = cloud.flavor(vcpus=4)
        assert cloud.guest_of({
            'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0',
            'hw_numa_cpus.1': '1-3', 'hw_numa_mem.0': '256',
            'hw_numa_mem.1': '768'}, flavor=flavor) != cloud.guest_of(
                {'hw_numa_nodes': '2'}, flavor=flavor)

    def test_a_scsi_controller_is_there_with_disks_on_any_bus(self, cloud):
        server = cloud.boot({'hw_scsi_model': 'virtio-scsi'})
        guest = cloud.guest(server)
        assert guest.find('devices/disk/target').get('bus') == 'virtio'
        assert 'virtio-scsi' in [
            each.get('model') for each in guest.findall('devices/controller')]
