"""A rebuild is scheduled by what its image properties are, not by its image.

It is compared with Nova itself: what becomes of a server without overrides that
is rebuilt from an image with the property decides what has to become of one
that is rebuilt from its own image with the property as an override. Nova
refuses with ERROR, after everything is changed; overrides are refused before.
"""

from tests.functional import rebuild_scheduling

#: Properties that the scheduler or the conductor reads at a rebuild.
CASES = {
    'os_distro': ('windows', 'linux'),
    'os_type': ('linux', 'windows'),
    'img_hv_type': ('kvm', 'qemu', 'xen'),
    'img_hv_requested_version': ('>=1.0', '>=99.0'),
    'hw_architecture': ('x86_64', 'ppc64le'),
    'hw_vm_mode': ('hvm', 'xen'),
    'trait:COMPUTE_NODE': ('required',),
    'trait:CUSTOM_ABSENT': ('required',),
    'hw_boot_menu': ('true',),
}

#: What the image of a server has, without which a property does nothing.
NEEDS = {'img_hv_requested_version': {'hw_vm_mode': 'hvm'}}


class Cloud(rebuild_scheduling.Cloud):
    def setUp(self):
        super().setUp()
        self.isolate('compute1', os_distro='windows', os_type='linux')

    def becomes_of(self, server, overrides, image):
        """Return whether a rebuild goes through."""
        answer = self.act(server, {'rebuild': {
            'imageRef': image,
            **({rebuild_scheduling.base.PARAMETER: overrides}
               if overrides else {})}})
        if answer.status == 409:
            assert answer.problems == dict.fromkeys(overrides, 'unschedulable')
            return False
        if not overrides and answer.status == 500:
            # The harness turns casts into calls: the conductor's refusal,
            # which leaves the server in ERROR, comes back.
            assert 'NoValidHost' in answer.text
            self.wait(server, 'ERROR')
            return False
        assert answer.status == 202, answer.text
        # Until the conductor or nova-compute is done with it.
        self._wait_for_server_parameter(
            {'id': server}, {'OS-EXT-STS:task_state': None})
        return self.instance(server).vm_state == 'active'


class TestScheduled:
    def test_as_nova_schedules_a_rebuild_from_an_image_with_the_property(
            self, cloud):
        outcomes = {}
        for name, values in CASES.items():
            needs = NEEDS.get(name, {})
            bare = cloud.image(**needs)
            for value in values:
                plain, overridden = (
                    cloud.boot(image=bare) for _ in range(2))
                by_image = cloud.becomes_of(
                    plain, None, cloud.image(**{**needs, name: value}))
                by_override = cloud.becomes_of(
                    overridden, {name: value}, bare)
                assert by_override == by_image, (name, value)
                assert cloud.instance(overridden).vm_state == 'active'
                for server in (plain, overridden):
                    cloud.delete(server)
                outcomes.setdefault(by_image, []).append(f'{name}={value}')
        # Both happen, so the comparison can fail.
        assert len(outcomes[False]) >= 6
        assert len(outcomes[True]) >= 6
