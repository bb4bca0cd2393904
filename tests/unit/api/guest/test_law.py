"""A refusal blames nothing that need not change, and its advice is right.

The law: for each valid request of real users, one entry is dropped or changed.
What is blamed then is that entry, or belongs to what would have to go for the
rest to be accepted; and who does what the reason says is no longer refused for
that reason.
"""

import functools
import itertools
import re

from nova.api.validation.extra_specs import validators
from nova.objects import image_meta
import pytest

from nova_image_override import errors
from nova_image_override.api.guest import refusals
from tests.unit.api.guest import guests

UEFI = {'hw_firmware_type': 'uefi'}
PINNED = {'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'require'}
NODES = {'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0-1',
         'hw_numa_cpus.1': '2-3', 'hw_numa_mem.0': '512',
         'hw_numa_mem.1': '512'}
SEV = {**UEFI, 'hw_mem_encryption': 'true', 'hw_machine_type': 'q35'}
SNP = {**SEV, 'hw_mem_encryption_model': 'amd-sev-snp',
       'hw_firmware_stateless': 'true'}
REALTIME = {'hw:cpu_realtime': 'yes', 'hw:cpu_policy': 'dedicated'}

#: Requests that are accepted: overrides, and the flavor's extra specs.
RIGHT = [
    # --- NFV ---
    ({'hw_numa_nodes': '2'}, {}),
    ({'hw_numa_nodes': '1', 'hw_numa_cpus.0': '0-3',
      'hw_numa_mem.0': '1024'}, {}),
    (NODES, {}),
    (PINNED, {}),
    ({**PINNED, **NODES}, {}),
    ({**PINNED, 'hw_numa_nodes': '4'}, {}),
    ({**NODES, 'hw_mem_page_size': 'large'}, {'hw:mem_page_size': 'any'}),
    ({**PINNED, **NODES, 'hw_mem_page_size': '2048',
      'hw_locked_memory': 'true'}, {'hw:mem_page_size': 'large'}),
    ({'hw_mem_page_size': '1048576'}, {'hw:mem_page_size': 'any'}),
    ({'hw_locked_memory': 'true'}, {'hw:mem_page_size': 'small'}),
    ({'hw_cpu_policy': 'mixed', 'hw_cpu_thread_policy': 'isolate'},
     {'hw:cpu_dedicated_mask': '0-1'}),
    ({'hw_cpu_realtime_mask': '^0'}, REALTIME),
    ({'hw_cpu_policy': 'dedicated', 'hw_cpu_realtime_mask': '1-3'},
     {'hw:cpu_realtime': 'yes'}),
    ({'hw_cpu_policy': 'mixed', 'hw_cpu_realtime_mask': '2-3'},
     {'hw:cpu_realtime': 'yes'}),
    ({'hw_cpu_thread_policy': 'require', 'hw_numa_nodes': '2'},
     {'hw:cpu_policy': 'dedicated'}),
    ({'hw_pci_numa_affinity_policy': 'required', **PINNED}, {}),
    ({'hw_cpu_policy': 'dedicated'},
     {'hw:cpu_policy': 'dedicated', 'hw:emulator_threads_policy': 'isolate'}),
    # --- topology ---
    ({'hw_cpu_sockets': '2', 'hw_cpu_cores': '2', 'hw_cpu_threads': '1'}, {}),
    ({'hw_cpu_max_sockets': '1', 'hw_cpu_max_cores': '4',
      'hw_cpu_cores': '4'}, {}),
    ({'hw_cpu_max_sockets': '1', 'hw_cpu_max_cores': '2',
      'hw_cpu_max_threads': '2'}, {}),
    ({'hw_cpu_sockets': '2', 'hw_cpu_max_sockets': '2'},
     {'hw:cpu_max_sockets': '2'}),
    # --- firmware ---
    ({**UEFI, 'os_secure_boot': 'required'}, {}),
    ({**UEFI, 'hw_firmware_stateless': 'true', 'hw_machine_type': 'q35'}, {}),
    ({**UEFI, 'hw_tpm_version': '2.0', 'hw_tpm_model': 'tpm-crb'}, {}),
    ({'hw_tpm_model': 'tpm-tis'}, {'hw:tpm_version': '1.2'}),
    ({'os_secure_boot': 'optional', 'hw_architecture': 'aarch64'}, {}),
    # --- encryption ---
    (SEV, {}),
    ({**SEV, 'hw_mem_encryption_model': 'amd-sev'}, {}),
    (SNP, {}),
    ({**SNP, 'hw_mem_encryption_model': 'intel-tdx',
      'hw_video_model': 'none'}, {}),
    (UEFI, {'hw:mem_encryption': 'true'}),
    ({'hw_ephemeral_encryption': 'true',
      'hw_ephemeral_encryption_format': 'luks'}, {}),
    # --- devices ---
    ({'hw_serial_port_count': '2'}, {'hw:serial_port_count': '3'}),
    ({'hw_video_ram': '16', 'hw_video_model': 'qxl'},
     {'hw_video:ram_max_mb': '64'}),
    ({'hw_usb_model': 'qemu-xhci', 'hw_disk_bus': 'virtio'}, {}),
    ({'hw_redirected_usb_ports': '2', 'hw_sound_model': 'ich9'}, {}),
    ({'hw_vif_multiqueue_enabled': 'true', 'hw_pmu': 'false',
      'hw_virtio_packed_ring': 'true'}, {}),
    ({'hw_pointer_model': 'usbtablet', 'hw_input_bus': 'usb'}, {}),
    ({'hw_maxphysaddr_mode': 'emulate', 'hw_maxphysaddr_bits': '42'}, {}),
    ({'hw_viommu_model': 'virtio', 'hw_rng_model': 'virtio',
      'img_hide_hypervisor_id': 'true'}, {'hw_rng:allowed': 'True'}),
    ({'hw_time_hpet': 'true', 'hw_architecture': 'x86_64'}, {}),
    ({'trait:HW_CPU_X86_AVX2': 'required', **UEFI,
      'os_secure_boot': 'required'}, {'trait:CUSTOM_GOLD': 'forbidden'}),
]

#: What one entry is changed into.
WRONG = {
    'hw_architecture': ['aarch64', 'x86_64'],
    'hw_cpu_cores': ['3', '8'], 'hw_cpu_max_cores': ['1'],
    'hw_cpu_max_sockets': ['1', '4'], 'hw_cpu_max_threads': ['1'],
    'hw_cpu_policy': ['shared', 'mixed', 'dedicated'],
    'hw_cpu_realtime_mask': ['0-3', '^0-3', '9'],
    'hw_cpu_sockets': ['3', '4'], 'hw_cpu_thread_policy': ['prefer'],
    'hw_disk_bus': ['usb'], 'hw_firmware_type': ['bios'],
    'hw_input_bus': ['virtio'], 'hw_locked_memory': ['false'],
    'hw_machine_type': ['pc'], 'hw_mem_encryption': ['false'],
    'hw_mem_encryption_model': ['intel-tdx', 'amd-sev-snp'],
    'hw_mem_page_size': ['small'],
    'hw_numa_cpus.0': ['0', '0-2', '0-9'], 'hw_numa_cpus.1': ['1-3', '3'],
    'hw_numa_mem.0': ['100'], 'hw_numa_mem.1': ['1024'],
    'hw_numa_nodes': ['1', '3', '5'], 'hw_serial_port_count': ['4', '0'],
    'hw_tpm_model': ['tpm-crb'], 'hw_tpm_version': ['1.2'],
    'hw_video_model': ['none', 'qxl'], 'hw_video_ram': ['128'],
    'hw_ephemeral_encryption': ['false'],
}

#: What the flavor is changed into, one at a time.
FLAVORS = [
    {'hw:cpu_policy': 'shared'}, {'hw:cpu_policy': 'dedicated'},
    {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '0'},
    {'hw:cpu_policy': 'dedicated', 'hw:cpu_thread_policy': 'isolate'},
    {'hw:numa_nodes': '4'},
    {'hw:numa_nodes': '2', 'hw:numa_cpus.0': '0', 'hw:numa_cpus.1': '1-3',
     'hw:numa_mem.0': '256', 'hw:numa_mem.1': '768'},
    {'hw:mem_page_size': 'small'}, {'hw:locked_memory': 'false',
                                    'hw:mem_page_size': 'large'},
    {'hw:pci_numa_affinity_policy': 'legacy'},
    {'hw:cpu_max_sockets': '1'}, {'hw:cpu_max_cores': '1'},
    {'os:secure_boot': 'disabled'}, {'hw:tpm_version': '1.2'},
    {'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-spapr'},
    {'hw:mem_encryption': 'false'}, {'hw:mem_encryption_model': 'amd-sev-es'},
    {'hw:ephemeral_encryption': 'false'},
    {'hw:ephemeral_encryption_format': 'plain'},
    {'hw:serial_port_count': '1'}, {'hw_video:ram_max_mb': '8'},
    {'hw:usb_model': 'piix3-uhci'}, {'hw:redirected_usb_ports': '3'},
    {'hw:sound_model': 'ac97'}, {'hw:vif_multiqueue_enabled': 'false'},
    {'hw:pmu': 'true'}, {'hw:virtio_packed_ring': 'false'},
    {'hw:maxphysaddr_mode': 'passthrough'}, {'hw:maxphysaddr_bits': '40'},
    {'hw:viommu_model': 'intel'}, {'hw_rng:allowed': 'False'},
    {'hide_hypervisor_id': 'false', 'hw:hide_hypervisor_id': 'true'},
    {'trait:COMPUTE_SECURITY_UEFI_SECURE_BOOT': 'forbidden'},
    {'trait:HW_CPU_X86_AVX2': 'forbidden'},
]


def known(overrides):
    """Return whether this release has the properties, and their values."""
    fields = image_meta.ImageMetaProps.fields
    for name, value in overrides.items():
        field = fields.get('traits_required' if name.startswith('trait:')
                           else name.partition('.')[0])
        if field is None or value not in getattr(
                field, 'valid_values', (value,)):
            return False
    return True


RIGHT = [case for case in RIGHT if known(case[0])]


def mistakes():
    """Yield requests with one mistake, at most: what is wrong, and where."""
    for right, specs in RIGHT:
        for name in right:
            rest = {key: value for key, value in right.items() if key != name}
            if rest:
                yield rest, specs, right, name
            for value in WRONG.get(name, ()):
                changed = {**right, name: value}
                if value != right[name] and known(changed):
                    yield changed, specs, right, name
        for other in FLAVORS:
            yield right, {**specs, **other}, right, None


MISTAKES = list(mistakes())
NUMA = ('hw_numa_nodes', 'hw_numa_cpus', 'hw_numa_mem')


@functools.cache
def refused(overrides, specs):
    return guests.problems(dict(overrides), dict(specs))


def ask(overrides, specs):
    return refused(tuple(sorted(overrides.items())),
                   tuple(sorted(specs.items())))


@pytest.mark.parametrize(('overrides', 'specs'), RIGHT)
def test_what_real_users_send_is_accepted(overrides, specs):
    assert ask(overrides, specs) == {}


def wrong(overrides, specs):
    """Return the smallest sets without which the rest is accepted."""
    found = []
    for size in range(1, len(overrides) + 1):
        for gone in map(set, itertools.combinations(overrides, size)):
            if any(each <= gone for each in found):
                continue
            if not ask({name: value for name, value in overrides.items()
                        if name not in gone}, specs):
                found.append(gone)
    return set().union(*found)


def test_nothing_is_blamed_that_need_not_change():
    refusals_seen = 0
    for overrides, specs, _, changed in MISTAKES:
        found = ask(overrides, specs)
        refusals_seen += bool(found)
        innocent = {
            name for name in found if name != changed
            and name != errors.PARAMETER and not (
                changed and {name.partition('.')[0],
                             changed.partition('.')[0]} <= {*NUMA})}
        # A flavor may demand what is not there: nothing that goes helps.
        guilty = innocent and wrong(overrides, specs)
        assert innocent <= guilty or not guilty, (overrides, specs, found)
    assert refusals_seen > 150


def test_the_image_and_the_flavor_are_blamed_where_no_override_is():
    """A flavor that demands a property which nobody sends."""
    found = {(errors.PARAMETER in ask(overrides, specs), changed)
             for overrides, specs, _, changed in MISTAKES
             if ask(overrides, specs)}
    assert {changed for is_parameter, changed in found if is_parameter} <= {
        'hw_cpu_policy', 'hw_cpu_realtime_mask', 'hw_firmware_type', None}


def restored(overrides, right, *families):
    """Take back what was done to the members of families."""
    def is_one(name):
        return name.partition('.')[0] in families

    return {**{name: value for name, value in overrides.items()
               if not is_one(name)},
            **{name: value for name, value in right.items() if is_one(name)}}


def follow(reason, name, overrides, specs, right):
    """Do what REASON says about NAME.

    :returns: the overrides and the extra specs, or None where it gives none
    """
    overrides, specs = dict(overrides), dict(specs)
    advice = re.split('; |: ', reason)[-1]
    value = overrides.get(name)
    said = re.search(r'choose a flavor with(out)? ([\w:.]+)'
                     r'(?:(?:=| of at least )([\w-]+))?(.*)', advice)
    if said:
        without, spec, wanted, rest = said.groups()
        each = [spec, *re.findall(r'and ([\w:.]+)', rest)]
        if spec == 'hw:cpu_policy':
            # A flavor has what its policy needs, and nothing that another does.
            for other in ('hw:cpu_dedicated_mask', 'hw:cpu_realtime',
                          'hw:emulator_threads_policy'):
                specs.pop(other, None)
            if value == 'mixed':
                specs['hw:cpu_dedicated_mask'] = '0'
        if without:
            for other in each:
                specs.pop(other, None)
        else:
            specs[spec] = wanted or 'any'
        return overrides, specs
    for wanted, to in re.findall(r'(?:set|needs) (\w+)=([\w.-]+)', advice):
        overrides[wanted] = to
    if '(or mixed' in advice and 'hw:cpu_dedicated_mask' in specs:
        overrides['hw_cpu_policy'] = 'mixed'
    if ', and a flavor without' in advice and specs.get(
            'hw:cpu_policy') == 'shared':
        del specs['hw:cpu_policy']
    if 'assign' in advice or 'number' in advice or 'memory for' in advice \
            or 'vCPUs for' in advice or 'names vCPU' in advice:
        overrides = restored(overrides, right, *NUMA)
    elif 'leave one vCPU out' in advice:
        overrides['hw_cpu_realtime_mask'] = '^0'
    elif 'goes with version' in advice:
        overrides['hw_tpm_model'] = 'tpm-tis'
    return overrides, specs


def test_who_does_what_the_reasons_say_is_accepted_in_the_end():
    """Nova tells one reason of a function at a time."""
    followed = 0
    for overrides, specs, right, _ in MISTAKES:
        for name, (code, reason) in ask(overrides, specs).items():
            said = set()
            after = overrides, specs
            while code == errors.FLAVOR_CONFLICT and reason not in said:
                said.add(reason)
                done = follow(reason, name, *after, right)
                if done == after:
                    break
                followed += 1
                after = done
                code, reason = ask(*after).get(name, ('', ''))
            else:
                assert code != errors.FLAVOR_CONFLICT, (
                    overrides, specs, name, said, after)
    assert followed > 150


def reasons():
    for overrides, specs, *_ in MISTAKES:
        for _, reason in ask(overrides, specs).values():
            yield reason


def test_a_reason_has_at_most_300_characters():
    assert max(map(len, reasons())) <= refusals.REASON_MAX


def test_a_reason_names_no_extra_spec_that_nova_lacks():
    patterns = [each.name_regex for each in validators.VALIDATORS.values()]
    names = {name for reason in reasons() for name in re.findall(
        r'\b(?:hw|os|hw_video|hw_rng):[\w.]+', reason)}
    assert len(names) > 15
    # Nova reads these, and its registry has forgotten them: the last two up to
    # Nova 28 or so.
    assert {name for name in names if not any(
        re.fullmatch(pattern, name.rstrip('.')) for pattern in patterns)} <= {
            'hw:maxphysaddr_mode', 'hw:maxphysaddr_bits',
            'hw:cpu_max_cores', 'hw:cpu_max_sockets'}
