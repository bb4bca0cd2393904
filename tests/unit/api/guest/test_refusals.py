"""Whom a refusal names, and what it says."""

from nova import exception
from nova import objects
from nova.objects import image_meta
from nova.scheduler import utils as scheduler_utils
from nova.virt import hardware
import pytest

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.api.guest import refusals
from testing import release
from tests.unit.api.guest import guests
from tests.unit.api.guest.user_requests import NODES
from tests.unit.api.guest.user_requests import PINNED
from tests.unit.api.guest.user_requests import RIGHT

#: One override, the flavor's extra specs, and the reason of the refusal.
REASONS = [
    ({'hw_mem_encryption': 'true'}, {},
     'encrypted memory needs UEFI firmware; set hw_firmware_type=uefi'),
    ({'hw_serial_port_count': '2'}, {'hw:serial_port_count': '1'},
     'the flavor has hw:serial_port_count=1; choose a flavor with '
     'hw:serial_port_count of at least 2'),
    ({'hw_ephemeral_encryption_format': 'plain'},
     {'hw:ephemeral_encryption': 'true',
      'hw:ephemeral_encryption_format': 'luks'},
     'the flavor has hw:ephemeral_encryption_format=luks; choose a flavor with '
     'hw:ephemeral_encryption_format=plain, or without it'),
    ({'hw_rng_model': 'virtio'}, {'hw_rng:allowed': 'False'},
     'the flavor has hw_rng:allowed=False, which Nova takes instead; choose a '
     'flavor with hw_rng:allowed=True'),
    ({'hw_cpu_policy': 'shared'}, {'hw:cpu_policy': 'dedicated'},
     'the flavor has hw:cpu_policy=dedicated, which Nova takes instead; '
     'choose a flavor with hw:cpu_policy=shared, or without it'),
    ({'hw_cpu_policy': 'mixed'},
     {'hw:cpu_policy': 'shared', 'hw:cpu_dedicated_mask': '0-1'},
     'the flavor has hw:cpu_policy=shared; choose a flavor with '
     'hw:cpu_policy=mixed, or without it'),
    ({'hw_mem_page_size': '2048'}, {'hw:mem_page_size': 'small'},
     "Page size 2048 forbidden against 'small'; choose a flavor with "
     'hw:mem_page_size=any or large'),
    ({'hw_video_ram': '1'}, {},
     'The requested amount of video memory 1 is higher than the maximum '
     'allowed by flavor 0; choose a flavor with hw_video:ram_max_mb of at '
     'least 1'),
    ({'hw_cpu_realtime_mask': '0-3'},
     {'hw:cpu_realtime': 'yes', 'hw:cpu_policy': 'dedicated'},
     'Use of realtime CPUs requires either one or more non-realtime CPU(s) or '
     'offloaded emulator threads; leave one vCPU out of hw_cpu_realtime_mask '
     'and others in, as ^0 does'),
    ({'hw_cpu_policy': 'shared'}, {'hw:emulator_threads_policy': 'isolate'},
     'An isolated CPU emulator threads option requires a dedicated CPU policy '
     'option; set hw_cpu_policy=dedicated'),
    ({'hw_locked_memory': 'true'}, {},
     'locked_memory value in image or flavor is forbidden when mem_page_size '
     'is not set; choose a flavor with hw:mem_page_size'),
    ({'hw_numa_nodes': '3'}, {},
     'Instance CPUs and/or memory cannot be evenly distributed across '
     'instance NUMA nodes. Explicit assignment of CPUs and memory to nodes is '
     'required; choose a number that divides the 4 vCPUs and 1024 MiB of the '
     'flavor, or assign them with hw_numa_cpus.N and hw_numa_mem.N'),
    ({'hw_numa_nodes': '2'}, {'hw:numa_nodes': '1'},
     'the flavor has hw:numa_nodes=1; choose a flavor without hw:numa_nodes'),
]

#: Several overrides, and the one that is to blame.
BLAMED = [
    # What the flavor has, too, or limits to less.
    (NODES, {'hw:numa_nodes': '2'}, 'hw_numa_nodes'),
    ({'hw_cpu_max_sockets': '2', 'hw_cpu_max_cores': '9'},
     {'hw:cpu_max_sockets': '2', 'hw:cpu_max_cores': '4'}, 'hw_cpu_max_cores'),
    ({'hw_cpu_sockets': '2', 'hw_cpu_cores': '9'},
     {'hw:cpu_max_sockets': '2', 'hw:cpu_max_cores': '4'}, 'hw_cpu_cores'),
    ({'hw_machine_type': 'pc', 'hw_firmware_type': 'uefi'},
     {'hw:mem_encryption': 'true'}, 'hw_machine_type'),
    ({'hw_mem_encryption': 'true', 'hw_firmware_type': 'bios',
      'hw_machine_type': 'q35'}, {}, 'hw_firmware_type'),
    ({'hw_cpu_policy': 'mixed', 'hw_cpu_thread_policy': 'prefer'},
     {'hw:cpu_dedicated_mask': '0-1', 'hw:cpu_policy': 'shared'},
     'hw_cpu_policy'),
    # No mask, and two.
    ({'hw_cpu_policy': 'mixed', 'hw_cpu_thread_policy': 'prefer'}, {},
     'hw_cpu_policy'),
    ({'hw_cpu_policy': 'mixed', 'hw_cpu_thread_policy': 'prefer'},
     {'hw:cpu_dedicated_mask': '0-1', 'hw:cpu_realtime': 'yes',
      'hw:cpu_realtime_mask': '^0'}, 'hw_cpu_policy'),
    # A mask that leaves no vCPU out.
    ({'hw_cpu_realtime_mask': '0-3', 'hw_cpu_policy': 'dedicated'},
     {'hw:cpu_realtime': 'yes'}, 'hw_cpu_realtime_mask'),
    ({'hw_cpu_policy': 'shared', 'hw_cpu_thread_policy': 'prefer'},
     {'hw:cpu_dedicated_mask': '0-1'}, 'hw_cpu_thread_policy'),
    ({'hw_cpu_policy': 'dedicated'}, {'hw:cpu_dedicated_mask': '0-1'},
     'hw_cpu_policy'),
]

#: What the image has beside the flavor and the overrides, and who is to blame.
BESIDE_THE_IMAGE = [
    # What its threads need, which the flavor has read.
    ({'hw_cpu_policy': 'shared', 'hw_cpu_realtime_mask': '^0'},
     {'hw:cpu_realtime': 'yes'}, {'hw_cpu_thread_policy': 'require'},
     ['hw_cpu_policy']),
    ({'hw_cpu_policy': 'shared', 'hw_boot_menu': 'true'}, {},
     {'hw_cpu_thread_policy': 'require', 'hw_cpu_policy': 'dedicated'},
     ['hw_cpu_policy']),
    # Only nodes that share a vCPU.
    ({'hw_numa_nodes': '3',
      'hw_numa_cpus.0': '0-1', 'hw_numa_mem.0': '256',
      'hw_numa_cpus.1': '1-2', 'hw_numa_mem.1': '256',
      'hw_numa_cpus.2': '3', 'hw_numa_mem.2': '512'}, {}, {},
     ['hw_numa_cpus.0', 'hw_numa_cpus.1']),
    # A list that is removed is no list with a vCPU of another.
    ({'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0-1', 'hw_numa_cpus.2': None,
      'hw_numa_mem.2': None}, {},
     {'hw_numa_nodes': '3', **{
         f'hw_numa_{kind}.{node}': '1' for kind in ('cpus', 'mem')
         for node in range(3)}}, ['hw_numa_cpus.0']),
    # Each part of a topology that the flavor has: Nova names the first.
    ({'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
      'hw_numa_mem.0': '512', 'hw_numa_mem.1': '512'},
     {'hw:numa_nodes': '2', 'hw:numa_cpus.0': '0', 'hw:numa_cpus.1': '1-3',
      'hw:numa_mem.0': '512', 'hw:numa_mem.1': '512'}, {},
     ['hw_numa_cpus.0', 'hw_numa_cpus.1', 'hw_numa_mem.0', 'hw_numa_mem.1',
      'hw_numa_nodes']),
    # Nova requires no trait that is removed.
    ({'os_secure_boot': 'required', 'hw_firmware_type': 'uefi',
      'trait:COMPUTE_SECURITY_UEFI_SECURE_BOOT': None},
     {'trait:COMPUTE_SECURITY_UEFI_SECURE_BOOT': 'forbidden'}, {},
     ['os_secure_boot']),
    # Stateless firmware, where encrypted memory needs it, or which other
    # firmware excludes. Since release 34 Nova only warns of the last.
    ({'hw_firmware_type': 'uefi', 'hw_firmware_stateless': 'false',
      'hw_mem_encryption': 'true', 'hw_mem_encryption_model': 'amd-sev-snp'},
     {}, {}, ['hw_firmware_stateless']),
    ({'hw_firmware_stateless': 'true'}, {}, {'hw_firmware_type': 'bios'},
     ['hw_firmware_stateless']),
    ({'hw_firmware_stateless': 'true', 'hw_firmware_type': 'bios'}, {}, {},
     ['hw_firmware_stateless']),
    ({'hw_firmware_type': 'bios'}, {},
     {'hw_firmware_stateless': 'true', 'hw_firmware_type': 'uefi'},
     ['hw_firmware_type'] if release.NUMBER < 34 else []),
    # A video device that encrypted memory excludes.
    ({'hw_firmware_type': 'uefi', 'hw_firmware_stateless': 'true',
      'hw_machine_type': 'q35', 'hw_mem_encryption': 'true',
      'hw_mem_encryption_model': 'intel-tdx', 'hw_video_model': 'vga'}, {}, {},
     ['hw_video_model']),
]


@pytest.mark.parametrize(('changed', 'blamed'), [
    ({'hw_numa_nodes': None},
     ['hw_numa_cpus.0', 'hw_numa_cpus.1', 'hw_numa_mem.0', 'hw_numa_mem.1']),
    ({'hw_numa_mem.1': None},
     ['hw_numa_cpus.0', 'hw_numa_cpus.1', 'hw_numa_mem.0', 'hw_numa_nodes']),
    ({'hw_numa_cpus.1': None},
     ['hw_numa_cpus.0', 'hw_numa_mem.0', 'hw_numa_mem.1', 'hw_numa_nodes']),
    ({'hw_numa_nodes': '3'}, sorted(NODES)),
    ({'hw_numa_mem.1': '256'}, ['hw_numa_mem.0', 'hw_numa_mem.1']),
    ({'hw_numa_cpus.1': '1-3'}, ['hw_numa_cpus.0', 'hw_numa_cpus.1']),
    ({'hw_numa_cpus.1': '3'}, ['hw_numa_cpus.0', 'hw_numa_cpus.1']),
    ({'hw_cpu_policy': None}, ['hw_cpu_thread_policy']),
    ({'hw_cpu_thread_policy': None}, []),
])
def test_one_mistake_in_a_pinned_numa_request(changed, blamed):
    asked = {name: value for name, value in {
        **PINNED, **NODES, **changed}.items() if value is not None}
    assert sorted(guests.problems(asked, {})) == blamed


@pytest.mark.parametrize(('overrides', 'specs', 'reason'), REASONS)
def test_a_reason_is_one_sentence_why_and_one_what_to_do(
        overrides, specs, reason):
    ((name, found),) = guests.problems(overrides, specs).items()
    assert [name] == list(overrides)
    assert found[1] == reason


def test_a_flavor_that_cannot_be_read_is_no_fault_of_an_override():
    ((name, found),) = guests.problems(
        {'hw_video_ram': '1'}, {'hw_video:ram_max_mb': 'x'},
        {'hw_video_model': 'vga'}).items()
    assert name == errors.PARAMETER
    assert found[1].endswith('hw_video:ram_max_mb must be an integer')


def test_the_memory_of_a_node_must_be_a_multiple_of_the_page_size():
    found = guests.problems(
        {'hw_mem_page_size': '2048', 'hw_boot_menu': 'true'},
        of=guests.flavor(memory_mb=1025, hw__mem_page_size='large'))
    assert found == {'hw_mem_page_size': (
        errors.FLAVOR_CONFLICT, 'the memory of each NUMA node must be a '
        'multiple of the page size; choose a smaller page size, or a flavor '
        'with other memory than 1025 MiB')}


def test_a_page_size_of_the_flavor_alone_can_be_wrong():
    assert guests.problems(
        {'hw_boot_menu': 'true'},
        of=guests.flavor(memory_mb=1025, hw__mem_page_size='2048')
    ).keys() == {errors.PARAMETER}


@pytest.mark.parametrize(('overrides', 'specs', 'blamed'), BLAMED)
def test_of_several_overrides_the_one_that_is_wrong_is_to_blame(
        overrides, specs, blamed):
    assert list(guests.problems(overrides, specs)) == [blamed]


@pytest.mark.parametrize(
    ('overrides', 'specs', 'base', 'blamed'), BESIDE_THE_IMAGE)
def test_whatever_the_image_has_only_what_is_wrong_is_to_blame(
        overrides, specs, base, blamed):
    if not guests.known({**base, **overrides}):
        pytest.skip('this Nova lacks a property, or its value')
    assert sorted(guests.problems(overrides, specs, base)) == blamed


# What has no effect is no problem where the image has it, too.
@pytest.mark.parametrize(('overrides', 'specs'), [
    case[:2] for case in (*REASONS, *BLAMED) if 'takes instead' not in case[2]])
def test_an_image_that_is_so_by_itself_excuses_no_override(
        overrides, specs):
    assert guests.problems(overrides, specs, overrides) == guests.problems(
        overrides, specs)


def test_an_override_is_not_to_blame_for_what_no_value_of_it_ends():
    """The image's own policy is to blame."""
    found = guests.problems(
        {'hw_numa_nodes': '2', 'hw_boot_menu': 'true'},
        {'hw:cpu_policy': 'shared'}, {'hw_cpu_policy': 'dedicated'})
    assert list(found) == [errors.PARAMETER]
    assert 'by themselves' in found[errors.PARAMETER][1]


@pytest.mark.parametrize(('specs', 'base', 'advice', 'cure'), [
    ({'hw:cpu_policy': 'dedicated', 'hw:cpu_realtime': 'yes'}, {},
     'leave one vCPU out of hw_cpu_realtime_mask and others in, as ^0 does',
     {'hw_cpu_realtime_mask': '^0'}),
    ({'hw:mem_encryption': 'true'}, {}, 'set hw_firmware_type=uefi',
     {'hw_firmware_type': 'uefi'}),
    ({'hw:emulator_threads_policy': 'isolate'}, {},
     'set hw_cpu_policy=dedicated', {'hw_cpu_policy': 'dedicated'}),
    ({}, {'hw_video_ram': '16'},
     'choose a flavor with hw_video:ram_max_mb of at least 16', None),
    # What a flavor itself has cannot be overridden.
    ({'hw:emulator_threads_policy': 'isolate', 'hw:cpu_policy': 'shared'}, {},
     '', None),
])
def test_advice_about_image_and_flavor_says_which_override_mends_them(
        specs, base, advice, cure):
    asked = {'hw_boot_menu': 'true'}
    ((name, (_, reason)),) = guests.problems(asked, specs, base=base).items()
    assert name == errors.PARAMETER
    assert reason.rpartition('; ')[2] == advice if advice else (
        '; ' not in reason)
    assert len(reason) <= refusals.REASON_MAX
    if cure:
        assert guests.problems({**asked, **cure}, specs, base=base) == {}


def test_no_override_is_advised_where_the_flavor_itself_has_it():
    with pytest.raises(exception.NovaException) as caught:
        hardware.numa_get_constraints(
            guests.flavor(hw__numa_nodes=3), guests.image())
    assert guests.problems({'hw_boot_menu': 'true'}, {'hw:numa_nodes': '3'}) \
        == {errors.PARAMETER: (
            errors.FLAVOR_CONFLICT, 'image and flavor conflict by themselves: '
            + str(caught.value).rstrip('.'))}


def test_advice_is_not_cut_where_nova_s_sentence_is_long():
    flavor = guests.flavor(hw__mem_encryption='true')
    flavor.name = 'x' * 255
    _, reason = guests.problems(
        {'hw_boot_menu': 'true'}, of=flavor)[errors.PARAMETER]
    assert len(reason) == refusals.REASON_MAX
    assert reason.endswith('; set hw_firmware_type=uefi')


def test_the_exceptions_of_the_table_are_nova_s():
    # Nova 34 has brought stateless firmware for encrypted memory; the second
    # is Python's.
    assert {name for name in refusals._TABLE if not hasattr(exception, name)
            } <= {'StatelessFirmwareRequired', 'NotImplementedError'}


# --- traits that the flavor forbids ------------------------------------------

#: Whatever Nova derives traits from, and what users send.
DERIVING = [case for case in (
    *RIGHT, *[({'hw_firmware_type': 'uefi', name: value}, {})
              for name, field in image_meta.ImageMetaProps.fields.items()
              for value in getattr(field, 'valid_values', ())],
    ({'hw_firmware_type': 'uefi', 'hw_firmware_stateless': 'true'}, {}),
    ({'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'require',
      'hw_tpm_version': '2.0'}, {}),
    ({'hw_tpm_version': '2.0', 'trait:COMPUTE_SECURITY_TPM_2_0': 'required'},
     {}),
) if guests.known(case[0])]


def required(overrides, specs):
    """Return the traits that Nova requires, or None where it cannot."""
    try:
        return set(scheduler_utils.ResourceRequest.from_request_spec(
            objects.RequestSpec(
                flavor=guests.flavor(**specs), image=guests.image(**overrides))
        ).get_request_group(None).required_traits)
    except (exception.NovaException, ValueError):
        return None


def test_who_derives_a_trait_that_the_flavor_forbids_is_who_it_goes_without():
    seen = set()
    for overrides, specs in DERIVING:
        for trait in required(overrides, specs) or ():
            found = guests.problems(overrides, {
                **specs, f'trait:{trait}': 'forbidden'})
            named = f'trait:{trait}'
            without = [named] if named in overrides else [
                name for name in overrides if (left := required(
                    {each: value for each, value in overrides.items()
                     if each != name}, specs)) is not None
                and trait not in left]
            forbidden = {name for name, (code, reason) in found.items()
                         if f'{named}=forbidden' in reason
                         and code == errors.FLAVOR_CONFLICT}
            # Nova may have refused something else before.
            if forbidden or not found:
                assert forbidden == set(without or [errors.PARAMETER])
                seen.update(without)
    assert {'os_secure_boot', 'hw_tpm_version', 'hw_pci_numa_affinity_policy',
            'trait:HW_CPU_X86_AVX2'} <= seen
    if guests.known({'hw_mem_encryption_model': 'amd-sev-snp'}):
        # As of Nova 34.
        assert {'hw_firmware_type', 'hw_mem_encryption'} <= seen


def test_a_sentence_that_no_row_knows_blames_all_that_it_names(monkeypatch):
    def check(flavor, image_meta):
        if image_meta.properties.get('hw_cpu_policy'):
            raise exception.FlavorImageConflict(
                'hw:cpu_policy, hw_numa_mem: not with trait:CUSTOM_A.')

    monkeypatch.setattr(refusals, 'checks', lambda: [(check, ())])
    found = guests.problems({
        'hw_cpu_policy': 'dedicated', 'trait:CUSTOM_A': 'required',
        'hw_numa_mem.0': '512', 'hw_boot_menu': 'true'}, {})
    assert found == dict.fromkeys(
        ('hw_cpu_policy', 'hw_numa_mem.0', 'trait:CUSTOM_A'),
        (errors.FLAVOR_CONFLICT,
         'hw:cpu_policy, hw_numa_mem: not with trait:CUSTOM_A'))


def test_encrypted_memory_without_an_image_is_to_blame(monkeypatch):
    """What some releases do not implement."""
    def check(flavor, image_meta):
        raise NotImplementedError('x')

    monkeypatch.setattr(refusals, 'checks', lambda: [(check, ())])
    assert guests.problems({
        'hw_mem_encryption': 'true', 'hw_boot_menu': 'true'}) == {
            'hw_mem_encryption': (
                errors.FLAVOR_CONFLICT, 'this Nova encrypts no memory of '
                'servers without one; boot from an image')}


def test_a_long_sentence_of_nova_s_leaves_room_for_what_to_do(monkeypatch):
    def check(flavor, image_meta):
        raise exception.RealtimeMaskNotFoundOrInvalid('x' * 400)

    monkeypatch.setattr(
        refusals, 'checks', lambda: [(check, ('hw_cpu_realtime_mask',))])
    ((_, reason),) = guests.problems({'hw_cpu_realtime_mask': '^0'}).values()
    assert reason.endswith('xx; leave one vCPU out of hw_cpu_realtime_mask and '
                           'others in, as ^0 does')
    assert len(reason) == 300


def test_a_conflict_of_an_unreadable_image_blames_no_other_override():
    found = guests.problems(
        {'hw_pointer_model': 'usbtablet', 'hw_cpu_realtime_mask': '^0'},
        {'hw:numa_nodes': '2'},
        base={'hw_pointer_model': 'unreadable', 'hw_numa_nodes': '2'})
    assert found[errors.PARAMETER][0] == errors.FLAVOR_CONFLICT
    assert 'hw_pointer_model' not in found


@pytest.fixture
def work(monkeypatch):
    """Counts merges and how often Nova derives traits."""
    result = {'merge': 0, 'from_request_spec': 0}

    def count(owner, name):
        function = getattr(owner, name)

        def counting(*args):
            result[name] += 1
            return function(*args)
        monkeypatch.setattr(owner, name, counting)

    count(override.Overrides, 'merge')
    count(scheduler_utils.ResourceRequest, 'from_request_spec')
    return result


def test_many_forbidden_traits_are_laid_out_in_one_pass(work):
    derived = {'hw_firmware_type': 'uefi', 'os_secure_boot': 'required',
               'hw_firmware_stateless': 'true', 'hw_tpm_version': '2.0',
               'hw_tpm_model': 'tpm-crb'}
    if not guests.known(derived):
        del derived['hw_firmware_stateless']
    others = {'hw_boot_menu': 'true', 'hw_machine_type': 'q35'}
    named = {f'trait:CUSTOM_{n}': 'required' for n in range(119)}
    forbidden = {'os_secure_boot': 'COMPUTE_SECURITY_UEFI_SECURE_BOOT',
                 'hw_firmware_stateless': 'COMPUTE_SECURITY_STATELESS_FIRMWARE',
                 'hw_tpm_version': 'COMPUTE_SECURITY_TPM_2_0',
                 'hw_tpm_model': 'COMPUTE_SECURITY_TPM_CRB',
                 'trait:CUSTOM_0': 'CUSTOM_0', 'trait:CUSTOM_1': 'CUSTOM_1'}
    traits = required({**derived, **named}, {})
    work.update(merge=0, from_request_spec=0)
    found = guests.problems({**derived, **others, **named}, {
        f'trait:{trait}': 'forbidden' for trait in forbidden.values()})
    # Nova 34 requires nothing of stateless firmware that is not UEFI, and those
    # before it refuse it.
    assert set(found) - {'hw_firmware_type'} == {
        name for name, trait in forbidden.items() if trait in traits}
    # One is of the request itself, the others without one override each.
    assert work == dict.fromkeys(work, 1 + len(derived))


def test_traits_that_the_request_names_are_blamed_without_another_merge(work):
    named = {f'trait:CUSTOM_{n}': 'required' for n in range(119)}
    found = guests.problems({**named, 'os_secure_boot': 'optional'},
                            dict.fromkeys(named, 'forbidden'))
    assert found.keys() >= named.keys()
    assert work == {'merge': 1, 'from_request_spec': 1}


def test_traits_are_not_derived_where_the_flavor_forbids_none(work):
    guests.problems({'trait:CUSTOM_A': 'required', 'hw_boot_menu': 'true'},
                    {'trait:CUSTOM_B': 'required', 'hw:pmu': 'true',
                     'trait1:CUSTOM_A': 'forbidden'})
    assert work == {'merge': 1, 'from_request_spec': 0}
