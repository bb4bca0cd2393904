"""What a refusal tells of a flavor whose extra specs Nova shows to few."""

import pytest

from nova_image_override.api.change import plan
from tests.functional import update_case

HIDDEN = 'the flavor decides this, '

#: An override, the flavor's extra spec that is in its way ('__' for ':'), and
#: what tells of it.
DECIDED = [
    ({'hw_cpu_policy': 'dedicated'}, {'hw__cpu_policy': 'shared'}, 'shared'),
    ({'hw_cpu_max_sockets': '777'}, {'hw__cpu_max_sockets': '5'}, '5'),
    ({'hw_video_ram': '99'}, {'hw_video__ram_max_mb': '64'}, '64'),
    ({'hw_rng_model': 'virtio'}, {'hw_rng__allowed': 'false'}, 'hw_rng:'),
    ({'trait:CUSTOM_X': 'required'}, {'trait__CUSTOM_X': 'forbidden'},
     'forbids'),
]


class Cloud(update_case.Cloud):
    POLICY = {plan._READS_SPECS: 'role:reader'}

    def readable(self, flavor, roles):
        """Return whether Nova shows the flavor's extra specs."""
        return self.http('GET', f'/flavors/{flavor}/os-extra_specs',
                         roles=roles).status == 200

    def check(self, overrides, flavor, roles):
        return self.http('POST', '/image-props-override/check',
                         self.server_body(overrides, flavor=flavor),
                         roles=roles)


class TestRefusals:
    CLOUD = Cloud

    @pytest.mark.parametrize(('overrides', 'specs', 'tells'), DECIDED)
    def test_the_reason_quotes_the_flavor_to_who_may_read_it(
            self, cloud, overrides, specs, tells):
        flavor = cloud.flavor(**specs)
        (name,) = overrides
        told, hidden = (cloud.check(overrides, flavor, roles)
                        for roles in ('member,reader', 'member'))
        assert cloud.readable(flavor, 'member,reader')
        assert tells in told.reasons[name]
        assert not cloud.readable(flavor, 'member')
        assert hidden.problems == told.problems
        assert hidden.reasons[name].startswith(HIDDEN)
        assert tells not in hidden.text

    @pytest.mark.parametrize('overrides', [
        {'hw_numa_nodes': '5'}, {'hw_cpu_thread_policy': 'isolate'}])
    def test_what_the_flavor_has_no_part_in_is_told_in_full(
            self, cloud, overrides):
        flavor = cloud.flavor(hw__boot_menu='false')
        told, hidden = (cloud.check(overrides, flavor, roles)
                        for roles in ('member,reader', 'member'))
        assert told.status == 400
        assert told.text == hidden.text

    def test_a_create_an_update_and_a_resize_tell_no_more(self, cloud):
        overrides = {'hw_cpu_policy': 'dedicated'}
        shared = cloud.flavor(hw__cpu_policy='shared')
        pinned = cloud.boot({'hw_cpu_max_sockets': '2'})
        small = cloud.flavor(hw__cpu_max_sockets='1')
        stopped = cloud.stopped(flavor=shared)
        for answer in (
                cloud.create(overrides, flavor=shared, roles='member'),
                cloud.update(stopped, overrides, roles='member'),
                cloud.act(pinned, {'resize': {'flavorRef': small}},
                          roles='member')):
            assert answer.status == 400, answer.text
            (reason,) = answer.reasons.values()
            assert reason.startswith(HIDDEN)
            assert 'hw:' not in answer.text

    def test_a_check_shows_the_topology_to_who_may_read_it(self, cloud):
        flavor = cloud.flavor(hw__numa_nodes='2')
        told, hidden = (cloud.check({'hw_boot_menu': 'true'}, flavor, roles)
                        for roles in ('member,reader', 'member'))
        assert len(told.body['image_props_override']['numa_topology'][
            'nodes']) == 2
        assert hidden.status == 200
        assert 'numa_topology' not in hidden.body['image_props_override']
