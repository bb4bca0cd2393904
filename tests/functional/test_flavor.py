"""Flavor and merged properties: fences hold, conflicts are 400 at create."""

from unittest import mock

from nova.virt import hardware
import pytest

from testing import release
from testing.harness import base
from testing.harness import ids

#: Conflicts: overrides, flavor extra specs ('__' for ':'), and who is blamed
#: when it is not every override.
CONFLICTS = (
    ({'hw_numa_nodes': '1'}, {'hw__numa_nodes': '1'}, None),
    ({'hw_numa_nodes': '1', 'hw_numa_cpus.0': '0-1', 'hw_numa_mem.0': '1024',
      'hw_boot_menu': 'true'},
     {'hw__numa_nodes': '1', 'hw__numa_cpus.0': '0-1',
      'hw__numa_mem.0': '1024'},
     ['hw_numa_cpus.0', 'hw_numa_mem.0', 'hw_numa_nodes']),
    ({'hw_numa_nodes': '5'}, {}, None),
    ({'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1'},
     {}, None),
    ({'hw_cpu_policy': 'dedicated'}, {'hw__cpu_policy': 'shared'}, None),
    ({'hw_cpu_thread_policy': 'isolate'},
     {'hw__cpu_policy': 'dedicated', 'hw__cpu_thread_policy': 'require'},
     None),
    ({'hw_cpu_thread_policy': 'isolate'}, {}, None),
    ({'hw_mem_page_size': 'large'}, {}, None),
    ({'hw_mem_page_size': '2048'}, {'hw__mem_page_size': 'small'}, None),
    ({'hw_locked_memory': 'true'},
     {'hw__mem_page_size': 'small', 'hw__locked_memory': 'false'}, None),
    ({'hw_locked_memory': 'true'}, {}, None),
    ({'hw_cpu_realtime_mask': '9'},
     {'hw__cpu_realtime': 'yes', 'hw__cpu_policy': 'dedicated',
      'hw__cpu_realtime_mask': '^0'}, None),
    # 403 in unmodified Nova.
    ({'hw_pci_numa_affinity_policy': 'required'},
     {'hw__pci_numa_affinity_policy': 'legacy'}, None),
    ({'hw_pmu': 'true'}, {'hw__pmu': 'false'}, None),
    ({'hw_vif_multiqueue_enabled': 'true'},
     {'hw__vif_multiqueue_enabled': 'false'}, None),
    ({'hw_virtio_packed_ring': 'true'},
     {'hw__virtio_packed_ring': 'false'}, None),
    ({'hw_mem_encryption': 'true'}, {'hw__mem_encryption': 'false'}, None),
    ({'hw_mem_encryption': 'true'}, {}, None),
    ({'hw_sound_model': 'ich9'}, {'hw__sound_model': 'ac97'}, None),
    ({'hw_serial_port_count': '3'}, {'hw__serial_port_count': '2'}, None),
    ({'hw_cpu_max_sockets': '4'}, {'hw__cpu_max_sockets': '2'}, None),
    ({'hw_cpu_sockets': '4'}, {'hw__cpu_max_sockets': '2'}, None),
    # 202 and then a server in ERROR in unmodified Nova.
    ({'os_secure_boot': 'required'}, {'os__secure_boot': 'disabled'}, None),
    ({'hw_tpm_version': '1.2', 'hw_tpm_model': 'tpm-crb',
      'hw_disk_bus': 'scsi'}, {}, ['hw_tpm_model', 'hw_tpm_version']),
    ({'hw_tpm_version': '1.2'}, {'hw__tpm_version': '2.0'}, None),
    ({'hw_maxphysaddr_mode': 'emulate'},
     {'hw__maxphysaddr_mode': 'passthrough'}, None),
    ({'hw_usb_model': 'nec-xhci'}, {'hw__usb_model': 'qemu-xhci'}, None),
    ({'hw_redirected_usb_ports': '2'},
     {'hw__redirected_usb_ports': '3'}, None),
    ({'hw_video_ram': '16'}, {}, None),
    ({'hw_video_ram': '16'}, {'hw_video__ram_max_mb': '8'}, None),
    ({'hw_cpu_max_sockets': '1', 'hw_cpu_max_cores': '1',
      'hw_cpu_max_threads': '1', 'hw_boot_menu': 'true'}, {},
     ['hw_cpu_max_cores', 'hw_cpu_max_sockets', 'hw_cpu_max_threads']),
    ({'os_secure_boot': 'required', 'trait:CUSTOM_A': 'required'},
     {'trait__COMPUTE_SECURITY_UEFI_SECURE_BOOT': 'forbidden'},
     ['os_secure_boot']),
)

#: What goes together, so that the table above is not just a list of
#: refusals.
HARMONY = (
    ({'hw_mem_page_size': '4'}, {'hw__mem_page_size': 'any'}),
    ({'hw_cpu_policy': 'shared'}, {'hw__cpu_policy': 'shared'}),
    ({'hw_video_ram': '16', 'hw_video_model': 'vga'},
     {'hw_video__ram_max_mb': '64'}),
    ({'hw_cpu_sockets': '1'}, {'hw__cpu_max_sockets': '2'}),
    ({'hw_serial_port_count': '1'}, {'hw__serial_port_count': '2'}),
    ({'hw_pmu': 'true'}, {'hw__pmu': 'true'}),
)


#: The masks from which the mixed policy takes its dedicated CPUs, and the
#: flavor's own policy: overrides, extra specs, whom the refusal names, what it
#: says, and a flavor or an override that does what it says.
_MASK = {'hw__cpu_dedicated_mask': '0'}
_REALTIME = {'hw__cpu_realtime': 'yes', **_MASK}
_OF_THE_FLAVOR = (
    'hw:cpu_dedicated_mask needs the mixed policy, and the flavor has '
    'hw:cpu_policy=dedicated; choose a flavor ')
_BOTH = ('the flavor has both hw:cpu_dedicated_mask and hw:cpu_realtime, and '
         'mixed takes the dedicated CPUs from one of them; choose a flavor '
         'without hw:cpu_dedicated_mask')
_NEITHER = (
    'the flavor does not say which CPUs are dedicated; choose a flavor with '
    'hw:cpu_dedicated_mask, or with hw:cpu_realtime beside a realtime mask')
MASKS = (
    ({'hw_cpu_policy': 'mixed'}, {'hw__cpu_policy': 'dedicated', **_MASK},
     'hw_cpu_policy',
     _OF_THE_FLAVOR + 'with hw:cpu_policy=mixed, or without it',
     {}, _MASK),
    ({'hw_cpu_policy': 'dedicated'}, {'hw__cpu_policy': 'dedicated', **_MASK},
     'hw_cpu_policy', _OF_THE_FLAVOR + 'without hw:cpu_dedicated_mask',
     {}, {'hw__cpu_policy': 'dedicated'}),
    ({'hw_cpu_policy': 'dedicated'}, _MASK, 'hw_cpu_policy',
     "Cannot specify 'hw:cpu_dedicated_mask' without the 'mixed' policy; "
     'set hw_cpu_policy=mixed', {'hw_cpu_policy': 'mixed'}, _MASK),
    ({'hw_cpu_realtime_mask': '^0'}, {'hw__cpu_policy': 'mixed', **_REALTIME},
     'hw_cpu_realtime_mask', _BOTH, {},
     {'hw__cpu_policy': 'mixed', 'hw__cpu_realtime': 'yes'}),
    ({'hw_cpu_policy': 'mixed'},
     {**_REALTIME, 'hw__cpu_realtime_mask': '^0'}, 'hw_cpu_policy', _BOTH, {},
     {'hw__cpu_realtime': 'yes', 'hw__cpu_realtime_mask': '^0'}),
    ({'hw_cpu_policy': 'mixed'}, {}, 'hw_cpu_policy', _NEITHER, {}, _MASK),
    ({'hw_cpu_policy': 'mixed'}, {}, 'hw_cpu_policy', _NEITHER,
     {'hw_cpu_realtime_mask': '^0'}, {'hw__cpu_realtime': 'yes'}),
)


class TestFlavor:
    BUILD = False

    @pytest.mark.smoke
    @pytest.mark.parametrize('overrides, specs, blamed', [
        case for case in CONFLICTS if not release.lacking(case[0])],
        ids=ids.short)
    def test_conflicts_are_400_and_name_the_overrides_that_make_them(
            self, cloud, overrides, specs, blamed):
        cloud.create(overrides, flavor=cloud.flavor(**specs)).expect(
            400, dict.fromkeys(blamed or sorted(overrides), 'flavor_conflict'))
        cloud.assert_nothing_created()

    @pytest.mark.parametrize(
        'overrides, specs, blamed, reason, changed, mended', MASKS,
        ids=ids.short)
    def test_a_mask_without_its_policy_is_refused_with_advice_that_helps(
            self, cloud, overrides, specs, blamed, reason, changed, mended):
        answer = cloud.create(overrides, flavor=cloud.flavor(**specs))
        cloud.assert_refused(answer, 400, {blamed: 'flavor_conflict'})
        assert f'{blamed}: flavor_conflict: {reason}' in answer.message
        assert cloud.create({**overrides, **changed}, flavor=cloud.flavor(
            **mended)).status == 202

    def test_independent_conflicts_are_named_together(self, cloud):
        answer = cloud.create(
            {'hw_pmu': 'true', 'hw_video_ram': '16', 'hw_boot_menu': 'true'},
            flavor=cloud.flavor(hw__pmu='false'))
        cloud.assert_refused(answer, 400, {
            'hw_pmu': 'flavor_conflict', 'hw_video_ram': 'flavor_conflict'})

    def test_an_override_can_conflict_with_the_images_own_property(self, cloud):
        image = cloud.image(hw_tpm_model='tpm-crb')
        answer = cloud.create({'hw_tpm_version': '1.2'}, image=image)
        cloud.assert_refused(answer, 400,
                             {'hw_tpm_version': 'flavor_conflict'})
        assert 'TPM model CRB' in answer.message

    def test_an_override_can_end_a_conflict_of_image_and_flavor(self, cloud):
        flavor = cloud.flavor(hw__pmu='true')
        image = cloud.image(hw_pmu='false')
        assert cloud.create(image=image, flavor=flavor).status == 400
        assert cloud.create({'hw_pmu': 'true'}, image=image,
                            flavor=flavor).status == 202

    def test_a_conflict_of_image_and_flavor_alone_is_said_to_be_theirs(
            self, cloud):
        answer = cloud.create(
            {'hw_boot_menu': 'true'}, image=cloud.image(hw_pmu='false'),
            flavor=cloud.flavor(hw__pmu='true'))
        cloud.assert_refused(answer, 400, {base.PARAMETER: 'flavor_conflict'})
        assert 'by themselves' in answer.message

    def test_an_override_that_ends_such_a_conflict_is_named(self, cloud):
        flavor = cloud.flavor(
            hw__cpu_realtime='yes', hw__cpu_policy='dedicated')
        answer = cloud.create({'hw_boot_menu': 'true'}, flavor=flavor)
        cloud.assert_refused(answer, 400, {base.PARAMETER: 'flavor_conflict'})
        assert 'hw_cpu_realtime_mask and others in, as ^0' in answer.message
        cloud.create({'hw_cpu_realtime_mask': '^0'}, flavor=flavor).expect(202)

    def test_a_huge_flavor_is_judged_in_bounded_work(self, cloud):
        """Nova's own search looks at a million topologies of 100 vCPUs."""
        flavor = cloud.flavor(vcpus=4096)
        for overrides, status in (
                ({'hw_cpu_max_threads': '2'}, 202),
                ({'hw_cpu_max_sockets': '3', 'hw_cpu_max_cores': '5',
                  'hw_cpu_max_threads': '7'}, 400)):
            with mock.patch.object(
                    hardware, '_get_possible_cpu_topologies') as search:
                answer = cloud.create(overrides, flavor=flavor)
            assert not search.called
            answer.expect(status)

    def test_lists_that_repeat_themselves_are_judged_in_bounded_work(
            self, cloud):
        overrides = {'hw_numa_nodes': '100', 'hw_locked_memory': 'true'}
        for n in range(100):
            overrides[f'hw_numa_cpus.{n}'] = ','.join(['0-255'] * 16)
        read = []

        def parse(spec, function=hardware.parse_cpu_spec):
            result = function(spec)
            read.append(len(spec))
            return result

        flavor = cloud.flavor(vcpus=256)
        with mock.patch.object(hardware, 'parse_cpu_spec', parse):
            cloud.create(overrides, flavor=flavor).expect(400)
        # What was sent has 9,500 characters.
        assert sum(read) < 10_000

    def test_a_list_names_no_vcpu_that_the_flavor_lacks(self, cloud):
        overrides = {'hw_numa_nodes': '1', 'hw_numa_mem.0': '1024',
                     'hw_numa_cpus.0': '0-1,4095', 'hw_boot_menu': 'true'}
        answer = cloud.create(overrides, flavor=cloud.flavor())
        cloud.assert_refused(
            answer, 400, {'hw_numa_cpus.0': 'flavor_conflict'})
        assert 'names vCPU 4095, but the flavor has 2' in answer.message

    def test_each_numa_node_has_a_vcpu(self, cloud):
        """Nova defines one without, of which libvirt builds no guest."""
        overrides = {'hw_numa_nodes': '2', 'hw_numa_mem.0': '512',
                     'hw_numa_mem.1': '512', 'hw_numa_cpus.0': '0-1'}
        for none in ('^0', '0-1,^0-1'):
            answer = cloud.create({**overrides, 'hw_numa_cpus.1': none})
            cloud.assert_refused(
                answer, 400, {'hw_numa_cpus.1': 'invalid_value'})
            assert 'names no CPU' in answer.message
        overrides.update({'hw_numa_cpus.0': '0-1,^1', 'hw_numa_cpus.1': '^0,1'})
        cloud.create(overrides).expect(202)

    def test_a_trait_that_the_flavor_forbids_is_400_at_create(self, cloud):
        flavor = cloud.flavor(trait__CUSTOM_GOLD='forbidden')
        answer = cloud.create(
            {'trait:CUSTOM_GOLD': 'required', 'hw_boot_menu': 'true'},
            flavor=flavor)
        cloud.assert_refused(
            answer, 400, {'trait:CUSTOM_GOLD': 'flavor_conflict'})
        assert 'trait:CUSTOM_GOLD=forbidden' in answer.message

    def test_a_trait_that_another_request_group_forbids_is_none_of_it(
            self, cloud):
        flavor = cloud.flavor(trait1__CUSTOM_GOLD='forbidden')
        assert cloud.create({'trait:CUSTOM_GOLD': 'required'},
                            flavor=flavor).status == 202

    def test_a_large_set_of_conflicts_is_answered_whole(self, cloud):
        overrides = {'hw_numa_nodes': '64'}
        for n in range(63):
            overrides[f'hw_numa_mem.{n}'] = '1'
            overrides[f'hw_numa_cpus.{n}'] = str(n)
        answer = cloud.create(overrides, flavor=cloud.flavor(
            vcpus=64, hw__numa_nodes='2', **{
                'hw__numa_mem.0': '512', 'hw__numa_mem.1': '512',
                'hw__numa_cpus.0': '0-31', 'hw__numa_cpus.1': '32-63'}))
        cloud.assert_refused(
            answer, 400, dict.fromkeys(overrides, 'flavor_conflict'))

class TestBoots:
    @pytest.mark.parametrize('overrides, specs', HARMONY, ids=ids.short)
    def test_what_goes_together_boots(self, cloud, overrides, specs):
        cloud.boot(overrides, flavor=cloud.flavor(**specs))
