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

    def told_to(self, overrides, **specs):
        """Return what is told to who may read the flavor, and to who may not.
        """
        flavor = self.flavor(**specs)
        roles = 'member,reader', 'member'
        assert [self.http('GET', f'/flavors/{flavor}/os-extra_specs',
                          roles=each).status for each in roles] == [200, 403]
        return [self.check(overrides, flavor=flavor, roles=each)
                for each in roles]


class TestRefusals:
    @pytest.mark.parametrize(('overrides', 'specs', 'tells'), DECIDED)
    def test_the_reason_quotes_the_flavor_to_who_may_read_it(
            self, cloud, overrides, specs, tells):
        (name,) = overrides
        told, hidden = cloud.told_to(overrides, **specs)
        assert tells in told.reasons[name]
        assert hidden.problems == told.problems
        assert hidden.reasons[name].startswith(HIDDEN)
        assert tells not in hidden.text

    @pytest.mark.parametrize('overrides', [
        {'hw_numa_nodes': '5'}, {'hw_cpu_thread_policy': 'isolate'}])
    def test_what_the_flavor_has_no_part_in_is_told_in_full(
            self, cloud, overrides):
        told, hidden = cloud.told_to(overrides, hw__boot_menu='false')
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
            answer.expect(400)
            (reason,) = answer.reasons.values()
            assert reason.startswith(HIDDEN)
            assert 'hw:' not in answer.text

    def test_a_check_shows_the_topology_to_who_may_read_it(self, cloud):
        told, hidden = cloud.told_to(
            {'hw_boot_menu': 'true'}, hw__numa_nodes='2')
        assert len(told.body['image_props_override']['numa_topology'][
            'nodes']) == 2
        assert hidden.status == 200
        assert 'numa_topology' not in hidden.body['image_props_override']
