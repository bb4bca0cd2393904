"""What is asked takes effect or is refused.

Each rule of nova_image_override.api.flavor.effects: refused where Nova would
pass the override over, taken where it acts and where what it asks for holds
anyway.
Whether that is so is asked of servers whose *image* has the property, which no
rule judges.
"""

import dataclasses
import inspect
import typing
import unittest
from unittest import mock

import fixtures
import hypothesis
from hypothesis import strategies as st
from nova import exception
from nova import objects
from nova.objects import image_meta
from nova.virt import hardware
import pytest

from nova_image_override.api.flavor import effects
from testing.harness import base


@dataclasses.dataclass(frozen=True)
class Case:
    """An override that does nothing, and what makes it act.

    :ivar specs: extra specs of the flavor, with '__' for ':'
    :ivar image: properties of the image, with '__' for '.'
    :ivar need: what the reason says is missing
    :ivar acts: overrides that make it act
    :ivar acts_specs: extra specs that do
    :ivar acts_image: properties of the image that do
    :ivar vcpus: vCPUs of the flavor that does
    :ivar boots: Nova's fake host can build the guest in which it acts, and
        the one without it, and they differ
    """

    name: str
    value: str
    need: str
    specs: dict[str, str] = dataclasses.field(default_factory=dict)
    image: dict[str, str] = dataclasses.field(default_factory=dict)
    vcpus: int = 2
    acts: dict[str, str] = dataclasses.field(default_factory=dict)
    acts_specs: dict[str, str] = dataclasses.field(default_factory=dict)
    acts_image: dict[str, str] = dataclasses.field(default_factory=dict)
    acts_vcpus: int = 2
    boots: bool = True

    @property
    def field(self) -> str:
        return self.name.partition('.')[0]


REALTIME = {'hw__cpu_policy': 'dedicated', 'hw__cpu_realtime': 'yes',
            'hw__cpu_realtime_mask': '^0'}

IDLE = (
    Case('hw_numa_cpus.0', '0-1', 'it needs hw_numa_nodes',
         acts={'hw_numa_nodes': '1', 'hw_numa_mem.0': '1024'}, boots=False),
    Case('hw_numa_mem.0', '1024', 'it needs hw_numa_nodes',
         acts={'hw_numa_nodes': '1', 'hw_numa_cpus.0': '0-1'}, boots=False),
    # As Nova reads it, a flavor's page size or CPU policy makes one node.
    Case('hw_numa_mem.0', '1024', 'it needs hw_numa_nodes',
         acts={'hw_numa_cpus.0': '0-1'},
         acts_specs={'hw__mem_page_size': 'small'}, boots=False),
    Case('hw_cpu_realtime_mask', '0', 'hw:cpu_realtime=yes',
         acts_specs=REALTIME),
    Case('hw_cpu_realtime_mask', '0', 'hw:cpu_realtime=yes',
         specs={'hw__cpu_policy': 'dedicated'}, acts_specs=REALTIME),
    Case('hw_cpu_sockets', '3', 'number of vCPUs', acts_vcpus=6),
    Case('hw_cpu_cores', '65536', 'number of vCPUs', acts_vcpus=0),
    Case('hw_cpu_threads', '2', 'number of vCPUs', vcpus=3),
    Case('hw_cpu_threads', '2', 'number of vCPUs',
         specs={'hw__cpu_max_threads': '2', 'hw__cpu_max_cores': '1',
                'hw__cpu_max_sockets': '3'}, vcpus=3, acts_vcpus=4),
    Case('hw_cpu_cores', '2', 'number of vCPUs',
         image={'hw_cpu_sockets': '2', 'hw_cpu_threads': '1'},
         acts={'hw_cpu_sockets': '1'},
         acts_image={'hw_cpu_sockets': '2', 'hw_cpu_threads': '1'},
         boots=False),
    Case('os_secure_boot', 'required', 'hw_firmware_type=uefi',
         acts={'hw_firmware_type': 'uefi'}, boots=False),
    Case('os_secure_boot', 'optional', 'hw_firmware_type=uefi',
         image={'hw_firmware_type': 'bios'},
         acts_image={'hw_architecture': 'aarch64'}, boots=False),
    Case('os_secure_boot', 'required', 'hw_firmware_type=uefi',
         image={'hw_firmware_type': 'bios', 'hw_architecture': 'aarch64'},
         acts={'hw_firmware_type': 'uefi'}, boots=False),
    Case('hw_tpm_model', 'tpm-crb', 'hw_tpm_version',
         acts={'hw_tpm_version': '2.0'}, boots=False),
    Case('hw_tpm_model', 'tpm-crb', 'hw_tpm_version',
         acts_specs={'hw__tpm_version': '2.0'}, boots=False),
    Case('hw_mem_encryption_model', 'amd-sev', 'hw_mem_encryption=true',
         acts={'hw_mem_encryption': 'true', 'hw_firmware_type': 'uefi',
               'hw_machine_type': 'q35'}, boots=False),
    Case('hw_ephemeral_encryption_format', 'luks',
         'hw_ephemeral_encryption=true',
         acts_specs={'hw__ephemeral_encryption': 'true'}, boots=False),
    Case('hw_vif_multiqueue_enabled', 'true', 'at least 2 vCPUs', vcpus=1,
         boots=False),
    Case('hw_pointer_model', 'usbtablet', 'hw_input_bus=usb',
         image={'hw_input_bus': 'virtio'},
         acts={'hw_input_bus': 'usb'}, boots=False),
    Case('hw_serial_port_count', '0', 'at least 1', acts_vcpus=0),
    Case('hw_time_hpet', 'true', 'x86',
         image={'hw_architecture': 'aarch64'},
         acts={'hw_architecture': 'x86_64'}),
    Case('hw_time_hpet', 'true', 'x86',
         image={'hw_emulation_architecture': 'ppc64le'},
         acts={'hw_emulation_architecture': 'x86_64'}),
    Case('os_command_line', 'quiet', 'kernel_id',
         acts_image={'kernel_id': base.IMAGE}),
    Case('os_command_line', 'quiet', 'kernel_id',
         image={'kernel_id': 'nokernel'},
         acts_image={'kernel_id': base.IMAGE}),
    Case('hw_video_ram', '16', 'hw_video_model is none',
         specs={'hw_video__ram_max_mb': '64'},
         image={'hw_video_model': 'none'},
         acts_specs={'hw_video__ram_max_mb': '64'}),
    Case('hw_video_ram', '16', 'hw_video_model is none',
         specs={'hw_video__ram_max_mb': '64'},
         image={'hw_video_model': 'none'},
         acts={'img_hv_type': 'vmware'},
         acts_specs={'hw_video__ram_max_mb': '64'},
         acts_image={'hw_video_model': 'none'}, boots=False),
)

#: Where a release says so itself: 31 to 33 refuse it, 34 passes it over.
STATELESS = Case('hw_firmware_stateless', 'true', 'hw_firmware_type=uefi',
                 acts={'hw_firmware_type': 'uefi'}, boots=False)

#: Overrides whose asked state holds: overrides, flavor, image.
HELD = (
    # The image's own value, which Nova passes over as it always has.
    ({'os_command_line': 'quiet'}, {}, {'os_command_line': 'quiet'}),
    ({'hw_numa_cpus.0': '0-1'}, {}, {'hw_numa_cpus__0': '0-1'}),
    ({'os_secure_boot': 'required'}, {}, {'os_secure_boot': 'required'}),
    ({'hw_vif_multiqueue_enabled': 'true'}, {'vcpus': 1},
     {'hw_vif_multiqueue_enabled': 'YES'}),
    ({'hw_cpu_policy': 'shared'}, {'hw__cpu_policy': 'dedicated'},
     {'hw_cpu_policy': 'shared'}),
    # The default.
    ({'hw_cpu_policy': 'shared'}, {}, {}),
    ({'os_secure_boot': 'disabled'}, {}, {}),
    ({'hw_boot_menu': 'false'}, {}, {}),
    ({'hw_firmware_stateless': 'false'}, {}, {}),
    ({'hw_locked_memory': 'false'}, {}, {}),
    ({'hw_vif_multiqueue_enabled': 'false'}, {'vcpus': 1}, {}),
    ({'hw_time_hpet': 'false'}, {}, {'hw_architecture': 'aarch64'}),
    ({'img_hide_hypervisor_id': 'false'}, {}, {}),
    ({'hw_serial_port_count': '1'}, {}, {}),
    ({'hw_rng_model': 'virtio'}, {}, {}),
    ({'hw_pointer_model': 'usbtablet'}, {}, {'hw_input_bus': 'usb'}),
    ({'hw_cpu_sockets': '2'}, {}, {}),
    ({'hw_cpu_max_threads': '7'}, {}, {}),
    # The flavor's own.
    ({'hw_cpu_policy': 'dedicated'}, {'hw__cpu_policy': 'dedicated'}, {}),
    ({'hw_viommu_model': 'virtio'}, {'hw__viommu_model': 'virtio'}, {}),
    ({'img_hide_hypervisor_id': 'true'},
     {'hw__hide_hypervisor_id': 'true'}, {}),
    ({'hw_maxphysaddr_bits': '42'}, {'hw__maxphysaddr_bits': '42'}, {}),
    # What is removed is as good as never there.
    ({'os_command_line': None}, {}, {}),
    ({'os_command_line': None}, {}, {'os_command_line': 'quiet'}),
    ({'hw_numa_cpus.0': None}, {}, {'hw_numa_cpus__0': '0-1'}),
    ({'hw_cpu_policy': None}, {'hw__cpu_policy': 'dedicated'}, {}),
)

#: A flavor that wins over the image in silence: override, flavor, image, and
#: what the reason quotes.
WINNERS = (
    ({'hw_cpu_policy': 'shared'}, {'hw__cpu_policy': 'dedicated'}, {},
     'hw:cpu_policy=dedicated'),
    ({'hw_cpu_policy': 'mixed'}, {'hw__cpu_policy': 'dedicated'}, {},
     'hw:cpu_policy=dedicated'),
    ({'hw_cpu_policy': 'shared'},
     {'hw__cpu_policy': 'mixed', 'hw__cpu_dedicated_mask': '0'}, {},
     'hw:cpu_policy=mixed'),
    ({'hw_cpu_thread_policy': 'isolate'},
     {'hw__cpu_policy': 'dedicated', 'hw__cpu_thread_policy': 'prefer'}, {},
     'hw:cpu_thread_policy=prefer'),
    ({'hw_viommu_model': 'intel'}, {'hw__viommu_model': 'virtio'}, {},
     'hw:viommu_model=virtio'),
    ({'img_hide_hypervisor_id': 'false'},
     {'hw__hide_hypervisor_id': 'true'}, {'img_hide_hypervisor_id': 'true'},
     'hw:hide_hypervisor_id=true'),
    ({'img_hide_hypervisor_id': 'false'},
     {'hide_hypervisor_id': 'true'}, {}, 'hide_hypervisor_id=true'),
    ({'hw_maxphysaddr_bits': '40'},
     {'hw__maxphysaddr_mode': 'emulate', 'hw__maxphysaddr_bits': '42'}, {},
     'hw:maxphysaddr_bits=42'),
    ({'hw_redirected_usb_ports': '0'},
     {'hw__redirected_usb_ports': '3'}, {}, 'hw:redirected_usb_ports=3'),
    ({'hw_rng_model': 'virtio'}, {'hw_rng__allowed': 'False'}, {},
     'hw_rng:allowed=False'),
)

#: What could be taken for idle and is not: a driver, the host, the network or
#: a later request decides, or Nova builds it whatever else there is.
OPEN = (
    # A controller of the model, with disks on any bus.
    {'hw_scsi_model': 'virtio-scsi'},
    {'hw_disk_type': 'sparse'},
    {'img_linked_clone': 'true'},
    {'os_admin_user': 'admin'},
    {'os_require_quiesce': 'true'},
    {'hw_rescue_bus': 'scsi'},
    {'hw_cdrom_bus': 'sata'},
    {'hw_pci_numa_affinity_policy': 'preferred'},
    {'hw_vif_multiqueue_enabled': 'true', 'hw_vif_model': 'e1000'},
    {'hw_video_ram': '16', 'hw_video_model': 'vga'},
    {'hw_auto_disk_config': 'true'},
    {'img_version': '1'},
)


def _known(names: typing.Iterable[str]) -> bool:
    return all(name.partition('.')[0] in image_meta.ImageMetaProps.fields
               for name in names)


KNOWN = tuple(case for case in IDLE if _known([case.name, *case.acts]))


class Refusals(base.TestCase):
    BUILD = False

    def ask(
        self, overrides: dict[str, str | None], flavor: dict[str, typing.Any],
        image: dict[str, str],
    ) -> base.Answer:
        """Ask for a server of a FLAVOR and an IMAGE made for it."""
        return self.create(overrides, image=self.image(**image),
                           flavor=self.flavor(**flavor))

    def _refused(self, case: Case) -> None:
        answer = self.ask({case.name: case.value},
                          {'vcpus': case.vcpus, **case.specs}, case.image)
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual({case.name: 'no_effect'}, answer.problems)
        self.assertIn(case.need, answer.message)

    @pytest.mark.smoke
    def test_what_would_do_nothing_is_400_and_says_what_would_make_it_act(
            self):
        for case in KNOWN:
            with self.subTest(f'{case}'):
                self._refused(case)
        self.assert_nothing_created()

    def test_with_what_makes_it_act_it_is_taken(self):
        for case in KNOWN:
            if not case.acts_vcpus:
                continue
            with self.subTest(f'{case}'):
                answer = self.ask(
                    {case.name: case.value, **case.acts},
                    {'vcpus': case.acts_vcpus, **case.acts_specs},
                    case.acts_image)
                self.assertEqual(202, answer.status, answer.text)

    def test_stateless_firmware_without_uefi_is_refused_in_any_release(self):
        answer = self.create({STATELESS.name: STATELESS.value})
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual([STATELESS.name], list(answer.problems))
        self.assertEqual(202, self.create(
            {STATELESS.name: STATELESS.value, **STATELESS.acts}).status)

    @pytest.mark.smoke
    def test_what_holds_anyway_is_no_error(self):
        for overrides, specs, image in HELD:
            if not _known(overrides):
                continue
            with self.subTest(f'{overrides} {specs} {image}'):
                answer = self.ask(overrides, specs, image)
                self.assertEqual(202, answer.status, answer.text)

    @pytest.mark.smoke
    def test_a_flavor_that_wins_in_silence_is_a_conflict_that_quotes_it(self):
        for overrides, specs, image, quoted in WINNERS:
            if not _known(overrides):
                continue
            with self.subTest(f'{overrides} {specs} {image}'):
                answer = self.ask(overrides, specs, image)
                self.assertEqual(400, answer.status, answer.text)
                self.assertEqual(
                    dict.fromkeys(overrides, 'flavor_conflict'),
                    answer.problems)
                self.assertIn(quoted, answer.message)
        self.assert_nothing_created()

    def test_what_drivers_hosts_or_later_requests_decide_is_taken(self):
        flavor = self.flavor(hw_video__ram_max_mb='64')
        for overrides in OPEN:
            with self.subTest(f'{overrides}'):
                answer = self.create(overrides, flavor=flavor)
                self.assertEqual(202, answer.status, answer.text)

    def test_every_rule_has_a_case(self):
        tried = {case.field for case in (*IDLE, STATELESS)}
        tried.update(name for overrides, *_ in WINNERS for name in overrides)
        # Needs a flavor whose memory a host encrypts: a test of its own.
        self.assertEqual({'hw_locked_memory'}, set(effects.RULES) - tried)

    def test_one_answer_names_what_has_no_effect_and_what_conflicts(self):
        answer = self.create(
            {'os_command_line': 'quiet', 'hw_numa_mem.0': '1024',
             'hw_cpu_policy': 'shared', 'hw_pmu': 'true',
             'hw_boot_menu': 'true'},
            flavor=self.flavor(hw__pmu='false', hw__cpu_policy='shared'))
        self.assert_refused(answer, 400, {
            'hw_numa_mem.0': 'no_effect', 'hw_pmu': 'flavor_conflict',
            'os_command_line': 'no_effect'})

    def test_lists_that_do_not_give_out_the_flavor_are_refused_either_way(
            self):
        lists = {'hw_numa_cpus.0': '0', 'hw_numa_mem.0': '64'}
        self.assert_refused(
            self.create(lists), 400, dict.fromkeys(lists, 'no_effect'))
        self.assert_refused(
            self.create({**lists, 'hw_numa_nodes': '1'}), 400, {
                'hw_numa_mem.0': 'flavor_conflict',
                'hw_numa_nodes': 'flavor_conflict'})

    def test_an_override_acts_through_the_image_under_a_legacy_name(self):
        self.assertEqual(202, self.create(
            {'hw_time_hpet': 'true'},
            image=self.image(architecture='x86_64')).status)
        self.assert_problems({'hw_time_hpet': 'true'}, 'no_effect',
                             image=self.image(architecture='aarch64'))

    def test_the_images_own_value_under_a_legacy_name_holds(self):
        image = self.image(hypervisor_type='kvm', hw_watchdog_action='none',
                           hw_tpm_model='tpm-crb')
        self.assertEqual(
            202, self.create({'hw_tpm_model': 'tpm-crb'}, image=image).status)

    def test_a_volume_with_a_kernel_image_takes_kernel_arguments(self):
        asked = {'os_command_line': 'quiet'}
        volume = self.volume(kernel_id=base.IMAGE)
        self.assertEqual(202, self.create(
            asked, image=None, server=self.from_volume(volume)).status)
        self.assert_problems(asked, 'no_effect', image=None,
                             server=self.from_volume(self.volume()))

    @unittest.skipUnless(
        'mach_type' in inspect.signature(
            hardware.get_locked_memory_constraint).parameters,
        'Nova 31 to 33 lock encrypted memory in LibvirtDriver alone')
    def test_memory_that_is_encrypted_cannot_be_unlocked(self):
        secure = {'hw_firmware_type': 'uefi', 'hw_machine_type': 'q35',
                  'hw_mem_encryption': 'true', 'hw_locked_memory': 'false'}
        self.assert_problems(
            secure, 'no_effect', names=['hw_locked_memory'])
        del secure['hw_mem_encryption']
        self.assert_problems(
            secure, 'flavor_conflict', names=['hw_locked_memory'],
            flavor=self.flavor(hw__mem_encryption='true'))
        self.assertEqual(202, self.create(secure).status)

    def assert_problems(self, overrides, code, names=None, **kwargs):
        answer = self.create(overrides, **kwargs)
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual(
            dict.fromkeys(names or overrides, code), answer.problems)


_counts = st.one_of(st.none(), st.integers(1, 13), st.just(65536))


# No deadline: how long an example takes is the machine's.
@hypothesis.settings(
    deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
@hypothesis.given(
    st.integers(1, 24), st.tuples(*[_counts] * 6), st.tuples(*[_counts] * 6),
    st.booleans())
def test_topologies_are_those_of_nova(vcpus, image, flavor, threads):
    names = ('cpu_sockets', 'cpu_cores', 'cpu_threads', 'cpu_max_sockets',
             'cpu_max_cores', 'cpu_max_threads')
    properties = {f'hw_{name}': str(value) for name, value in zip(
        names, image, strict=True) if value is not None}
    guest = effects.Guest(
        objects.Flavor(vcpus=vcpus, extra_specs={
            f'hw:{name}': str(value) for name, value in zip(
                names, flavor, strict=True) if value is not None}),
        objects.ImageMeta.from_dict({'properties': properties}), properties)
    try:
        best = hardware.get_best_cpu_topology(
            guest.flavor, guest.image_meta, threads)
    except exception.ImageVCPULimitsRangeImpossible:
        assert effects.best_topology(guest, threads) is None
    except exception.NovaException:
        hypothesis.reject()
    else:
        assert effects.best_topology(guest, threads) == (
            best.sockets, best.cores, best.threads)


class Life(base.TestCase):
    """What becomes of it in rebuild and resize."""

    EXTENDED_HOSTS = base.TestCase.HOSTS
    IMAGE = {'kernel_id': base.IMAGE}

    def setUp(self) -> None:
        self.flags(allow_resize_to_same_host=True)
        super().setUp()
        # Copies files to the other host.
        self.useFixture(fixtures.MockPatch(
            'nova.virt.libvirt.driver.LibvirtDriver.'
            'migrate_disk_and_power_off', return_value='{}'))

    def resize(self, server: str, **flavor: typing.Any) -> base.Answer:
        """Resize a server, and wait for it if that is accepted."""
        answer = self.act(server, {'resize': {
            'flavorRef': self.flavor(**flavor)}})
        if answer.status == 202:
            self.wait(server, 'VERIFY_RESIZE')
            self.act(server, {'confirmResize': None})
            self.wait(server)
        return answer

    def assert_unchanged(
            self, server: str, answer: base.Answer,
            problems: dict[str, str], overrides: dict[str, str]) -> None:
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual(problems, answer.problems)
        shown = self.http('GET', f'/servers/{server}').body['server']
        self.assertEqual('ACTIVE', shown['status'])
        self.assertEqual(overrides, shown[base.PARAMETER])

    def older(self, overrides: dict[str, str], **kwargs: typing.Any) -> str:
        """Boot a server as before there were these refusals."""
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
        # Asked for anew, it is another matter.
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
        self.assertIn('choose a flavor', answer.message)
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
