"""What is asked for takes effect or is refused.

Each record of the book that says what a guest gets: the override is refused
where Nova would ignore it, and accepted where it acts and where what it asks
for holds anyway.
Whether that is so is tested on servers whose *image* has the property, which
no rule checks.
"""
from __future__ import annotations

import inspect
import typing

import hypothesis
from hypothesis import strategies as st
from nova import exception
from nova import objects
from nova.virt import hardware
import pytest

from nova_image_override.api.guest import guest as guest_module
from nova_image_override.properties import book
from testing import release
from testing.harness import answers
from testing.harness import base
from testing.harness import ids
from tests.functional import effect_cases


class Cloud(base.Cloud):
    def ask(
        self, overrides: dict[str, str | None], flavor: dict[str, typing.Any],
        image: dict[str, str],
    ) -> answers.Answer:
        """Ask for a server with a FLAVOR and an IMAGE made for it."""
        return self.create(overrides, image=self.image(**image),
                           flavor=self.flavor(**flavor))

    def assert_idle(self, case: effect_cases.Case) -> None:
        answer = self.ask({case.name: case.value},
                          {'vcpus': case.vcpus, **case.specs}, case.image)
        answer.expect(400, {case.name: 'no_effect'})
        assert case.need in answer.message

    def assert_problems(self, overrides, code, names=None, **kwargs):
        self.create(overrides, **kwargs).expect(
            400, dict.fromkeys(names or overrides, code))


class TestRefusals:
    BUILD = False

    @pytest.mark.smoke
    @pytest.mark.parametrize('case', effect_cases.KNOWN, ids=ids.short)
    def test_what_would_do_nothing_is_400_and_says_what_would_make_it_act(
            self, cloud, case):
        cloud.assert_idle(case)
        cloud.assert_nothing_created()

    @pytest.mark.parametrize('case', [
        case for case in effect_cases.KNOWN
        if case.acts_vcpus], ids=ids.short)
    def test_with_what_makes_it_act_it_is_taken(self, cloud, case):
        cloud.ask(
            {case.name: case.value, **case.acts},
            {'vcpus': case.acts_vcpus, **case.acts_specs},
            case.acts_image).expect(202)

    @pytest.mark.smoke
    @pytest.mark.parametrize('name, value', [
        ('hw_disk_bus', 'xen'), ('hw_cdrom_bus', 'uml'),
        ('hw_scsi_model', 'buslogic'), ('hw_vif_model', 'netfront'),
        ('hw_video_model', 'gop'), ('hw_ephemeral_encryption', 'true'),
        ('hw_ephemeral_encryption_format', 'luks')])
    def test_what_no_libvirt_host_can_build_is_refused(
            self, cloud, name, value):
        cloud.assert_problems({name: value}, 'no_effect')
        cloud.assert_nothing_created()

    @pytest.mark.parametrize('name, value', [
        ('hw_architecture', 'x86_64'), ('img_hv_type', 'kvm'),
        ('hw_vm_mode', 'hvm')])
    def test_address_bits_are_refused_beside_an_architecture(
            self, cloud, name, value):
        """ImagePropertiesFilter fails with both, whoever sets which."""
        bits, other = {'hw_maxphysaddr_bits': '42'}, {name: value}
        emulate = {'hw_maxphysaddr_mode': 'emulate'}
        release.need(*bits)
        for overrides, image in (
                ({**bits, **other}, emulate), (other, {**bits, **emulate}),
                (other, bits), (bits, {**other, **emulate})):
            answer = cloud.ask(overrides, {}, image).expect(
                400, dict.fromkeys(overrides, 'property_conflict'))
            assert 'scheduler fails' in answer.message
        for overrides, flavor, image in (
                ({**bits, **emulate}, {}, {}),
                ({name: None}, {}, {**bits, **other}),
                ({**bits, name: None}, {}, {**emulate, **other}),
                ({**other, **emulate}, {'hw__maxphysaddr_bits': '42'}, {})):
            cloud.ask(overrides, flavor, image).expect(202)

    def test_stateless_firmware_without_uefi_is_refused_in_any_release(
            self, cloud):
        case = effect_cases.STATELESS
        release.need(case.name)
        answer = cloud.create({case.name: case.value}).expect(400)
        assert list(answer.problems) == [case.name]
        assert cloud.create({case.name: case.value, **case.acts}).status == 202

    @pytest.mark.smoke
    @pytest.mark.parametrize('overrides, specs, image', [
        case for case in effect_cases.HELD
        if not release.lacking(case[0])], ids=ids.short)
    def test_what_holds_anyway_is_no_error(
            self, cloud, overrides, specs, image):
        cloud.ask(overrides, specs, image).expect(202)

    @pytest.mark.smoke
    @pytest.mark.parametrize('overrides, specs, image, quoted', [
        case for case in effect_cases.WINNERS
        if not release.lacking(case[0])], ids=ids.short)
    def test_a_flavor_that_wins_in_silence_is_a_conflict_that_quotes_it(
            self, cloud, overrides, specs, image, quoted):
        answer = cloud.ask(overrides, specs, image).expect(
            400, dict.fromkeys(overrides, 'flavor_conflict'))
        assert quoted in answer.message
        cloud.assert_nothing_created()

    @pytest.mark.parametrize('overrides', effect_cases.OPEN, ids=ids.short)
    def test_what_drivers_hosts_or_later_requests_decide_is_taken(
            self, cloud, overrides):
        flavor = cloud.flavor(hw_video__ram_max_mb='64')
        cloud.create(overrides, flavor=flavor).expect(202)

    def test_every_rule_has_a_case(self):
        tried = {case.field for case in (
            *effect_cases.IDLE, effect_cases.STATELESS)}
        tried.update(name for overrides, *_ in effect_cases.WINNERS
                     for name in overrides)
        assert {name for name, record in book.RECORDS.items()
                if record.gets} - tried == {
            # What Nova does not take of these, it refuses.
            'hw_ephemeral_encryption', 'hw_maxphysaddr_mode',
            'hw_mem_encryption', 'hw_pci_numa_affinity_policy',
            'hw_sound_model', 'hw_tpm_version', 'hw_virtio_packed_ring'}

    def test_one_answer_names_what_has_no_effect_and_what_conflicts(
            self, cloud):
        answer = cloud.create(
            {'os_command_line': 'quiet', 'hw_numa_mem.0': '1024',
             'hw_cpu_policy': 'shared', 'hw_pmu': 'true',
             'hw_boot_menu': 'true'},
            flavor=cloud.flavor(hw__pmu='false', hw__cpu_policy='shared'))
        cloud.assert_refused(answer, 400, {
            'hw_numa_mem.0': 'no_effect', 'hw_pmu': 'flavor_conflict',
            'os_command_line': 'no_effect'})

    def test_lists_that_do_not_give_out_the_flavor_are_refused_either_way(
            self, cloud):
        lists = {'hw_numa_cpus.0': '0', 'hw_numa_mem.0': '64'}
        cloud.assert_refused(
            cloud.create(lists), 400, dict.fromkeys(lists, 'no_effect'))
        cloud.assert_refused(
            cloud.create({**lists, 'hw_numa_nodes': '1'}), 400,
            {'hw_numa_cpus.0': 'flavor_conflict'})

    def test_an_override_acts_through_the_image_under_a_legacy_name(
            self, cloud):
        asked = {'hw_time_hpet': 'true'}
        cloud.ask(asked, {}, {'architecture': 'x86_64'}).expect(202)
        cloud.ask(asked, {}, {'architecture': 'aarch64'}).expect(
            400, {'hw_time_hpet': 'no_effect'})

    def test_the_images_own_value_under_a_legacy_name_holds(self, cloud):
        cloud.ask({'hw_tpm_model': 'tpm-crb'}, {}, {
            'hypervisor_type': 'kvm', 'hw_watchdog_action': 'none',
            'hw_tpm_model': 'tpm-crb'}).expect(202)

    def test_a_volume_with_a_kernel_image_takes_kernel_arguments(self, cloud):
        asked = {'os_command_line': 'quiet'}
        volume = cloud.volume(kernel_id=base.IMAGE)
        assert cloud.create(asked, image=None,
                            server=cloud.from_volume(volume)).status == 202
        cloud.assert_problems(asked, 'no_effect', image=None,
                              server=cloud.from_volume(cloud.volume()))

    @pytest.mark.skipif(
        'mach_type' not in inspect.signature(
            hardware.get_locked_memory_constraint).parameters,
        reason='Nova 31 to 33 lock encrypted memory in LibvirtDriver alone')
    def test_memory_that_is_encrypted_cannot_be_unlocked(self, cloud):
        secure = {'hw_firmware_type': 'uefi', 'hw_machine_type': 'q35',
                  'hw_mem_encryption': 'true', 'hw_locked_memory': 'false'}
        cloud.assert_problems(
            secure, 'no_effect', names=['hw_locked_memory'])
        del secure['hw_mem_encryption']
        cloud.assert_problems(
            secure, 'flavor_conflict', names=['hw_locked_memory'],
            flavor=cloud.flavor(hw__mem_encryption='true'))
        assert cloud.create(secure).status == 202


_counts = st.one_of(st.none(), st.integers(1, 13), st.just(65536))


# No deadline: how long an example takes depends on the machine.
@hypothesis.settings(
    deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
@hypothesis.given(
    st.integers(1, 24), st.tuples(*[_counts] * 6), st.tuples(*[_counts] * 6),
    st.booleans())
def test_topologies_are_those_of_nova(vcpus, image, flavor, threads):
    names = ('cpu_sockets', 'cpu_cores', 'cpu_threads', 'cpu_max_sockets',
             'cpu_max_cores', 'cpu_max_threads')
    # Python 3.9, which Nova 27 runs on, has no strict=True.
    properties = {f'hw_{name}': str(value) for name, value in zip(
        names, image) if value is not None}
    guest = (
        objects.Flavor(vcpus=vcpus, extra_specs={
            f'hw:{name}': str(value) for name, value in zip(
                names, flavor) if value is not None}),
        objects.ImageMeta.from_dict({'properties': properties}))
    try:
        best = hardware.get_best_cpu_topology(*guest, threads)
    except exception.ImageVCPULimitsRangeImpossible:
        assert guest_module.best_cpu_topology(*guest, threads) is None
    except exception.NovaException:
        hypothesis.reject()
    else:
        assert guest_module.best_cpu_topology(*guest, threads) == (
            best.sockets, best.cores, best.threads)
