"""Properties that exclude each other: each row of the book, both ways."""

import fnmatch

import pytest

from nova_image_override import errors
from nova_image_override.api.guest import no_effect
from nova_image_override.api.guest import refusals
from nova_image_override.properties import book
from nova_image_override.properties import catalog as catalog_module
from tests.unit.api.guest import guests

CONFLICT = errors.PROPERTY_CONFLICT
UEFI, ARM = {'hw_firmware_type': 'uefi'}, {'hw_architecture': 'aarch64'}
BITS = {'hw_maxphysaddr_bits': '42'}
EMULATE = {'hw_maxphysaddr_mode': 'emulate'}
PC, Q35, VIRT = ({'hw_machine_type': each} for each in ('pc', 'q35', 'virt'))

#: What does not go together (two halves), and the rest of the image.
ROWS = (
    (PC, {'os_secure_boot': 'required'}, UEFI),
    (Q35, {'hw_disk_bus': 'ide'}, {}),
    (Q35, {'hw_disk_bus': 'ide'}, {'hw_emulation_architecture': 'x86_64'}),
    ({'hw_machine_type': 'pc-q35-2.10'}, {'hw_disk_bus': 'ide'}, {}),
    (VIRT, {'hw_disk_bus': 'ide'}, {}),
    (ARM, {'hw_disk_bus': 'ide'}, {}),
    (Q35, {'hw_cdrom_bus': 'ide'}, {}),
    (ARM, {'hw_cdrom_bus': 'ide'}, {}),
    (Q35, {'hw_rescue_bus': 'ide'}, {}),
    (ARM, {'hw_rescue_bus': 'ide'}, {}),
    ({'hw_rescue_device': 'cdrom'}, {'hw_rescue_bus': 'virtio'}, {}),
    ({'hw_rescue_device': 'floppy'}, {'hw_rescue_bus': 'usb'}, {}),
    (PC, {'hw_viommu_model': 'intel'}, {}),
    ({'hw_machine_type': 'pc-i440fx-6.2'}, {'hw_viommu_model': 'virtio'}, {}),
    (ARM, {'hw_viommu_model': 'intel'}, VIRT),
    (Q35, {'hw_viommu_model': 'smmuv3'}, {}),
    (ARM, {'hw_firmware_type': 'bios'}, {}),
    (ARM, {'hw_maxphysaddr_mode': 'emulate'}, {}),
    (ARM, Q35, {}),
    ({'hw_architecture': 'x86_64'}, VIRT, {}),
    ({'hw_vif_model': 'e1000'}, {'hw_virtio_packed_ring': 'true'}, {}),
    ({'hw_maxphysaddr_mode': 'passthrough'}, {'hw_maxphysaddr_bits': '40'}, {}),
    (ARM, {'hw_tpm_version': '1.2'}, {}),
    ({'hw_usb_model': 'none'}, {'hw_sound_model': 'usb'}, {}),
    ({'hw_input_bus': 'virtio'}, {'hw_sound_model': 'usb'}, {}),
    ({'hw_usb_model': 'none'}, {'hw_redirected_usb_ports': '2'}, {}),
    ({'hw_input_bus': 'virtio'}, {'hw_redirected_usb_ports': '1'}, {}),
    *((BITS, {name: value}, rest) for name, value in (
        ('hw_architecture', 'x86_64'), ('img_hv_type', 'kvm'),
        ('hw_vm_mode', 'hvm')) for rest in ({}, EMULATE)),
    # The scheduler does not know what is emulated.
    (BITS, {'hw_architecture': 'x86_64'}, {
        **EMULATE, 'hw_emulation_architecture': 'i686'}),
)

#: What is ignored beside the other half, which is as good as without it.
IGNORED = ({'os_secure_boot': 'optional'}, PC, UEFI)

#: A half, the extra spec of a flavor that has the other, the rest of the image.
OF_FLAVORS = (
    (PC, {'os__secure_boot': 'required'}, UEFI),
    ({'hw_vif_model': 'e1000'}, {'hw__virtio_packed_ring': 'true'}, {}),
    ({'hw_maxphysaddr_bits': '40'}, {'hw__maxphysaddr_mode': 'passthrough'},
     {}),
    (ARM, {'hw__maxphysaddr_mode': 'emulate'}, {}),
    ({'hw_usb_model': 'none'}, {'hw__sound_model': 'usb'}, {}),
    ({'hw_input_bus': 'virtio'}, {'hw__sound_model': 'usb'}, {}),
    ({'hw_input_bus': 'virtio'}, {'hw__redirected_usb_ports': '2'}, {}),
    ({'hw_input_bus': 'virtio'}, {'hw__redirected_usb_ports': '2'},
     {'hw_usb_model': 'none'}),
)

#: Overrides of neither half that make an exclusion of what the image and the
#: flavor have, the latter's extra specs, the former's properties, and the half
#: that is named first.
MAKING = (
    (UEFI, {}, {**PC, 'os_secure_boot': 'required'}, 'os_secure_boot'),
    (UEFI, {'os__secure_boot': 'required'}, PC, "the flavor's os_secure_boot"),
    ({'hw_usb_model': None}, {}, {
        'hw_sound_model': 'usb', 'hw_input_bus': 'virtio',
        'hw_usb_model': 'qemu-xhci'}, 'hw_sound_model'),
    ({'hw_disk_bus': 'virtio'}, {'hw__usb_model': 'none'}, {
        'hw_sound_model': 'usb', 'hw_input_bus': 'virtio',
        'hw_disk_bus': 'usb'}, 'hw_sound_model'),
    ({'hw_cdrom_bus': None}, {'hw__redirected_usb_ports': '2'}, {
        'hw_input_bus': 'virtio', 'hw_cdrom_bus': 'usb'},
     "the flavor's hw_redirected_usb_ports"),
    ({'hw_architecture': 'x86_64'}, {'hw__sound_model': 'usb'}, {
        'hw_input_bus': 'virtio', 'hw_architecture': 'ppc64le'},
     "the flavor's hw_sound_model"),
    ({'hw_emulation_architecture': None}, {}, {
        **ARM, 'hw_emulation_architecture': 'x86_64', 'hw_disk_bus': 'ide'},
     'hw_disk_bus'),
    ({'hw_emulation_architecture': None}, {}, {
        'hw_emulation_architecture': 'ppc64', 'hw_input_bus': 'virtio',
        'hw_sound_model': 'usb'}, 'hw_sound_model'),
    # The image's own value cannot be read.
    (UEFI, {}, {**PC, 'os_secure_boot': 'required', 'hw_firmware_type': 'x'},
     'os_secure_boot'),
)

#: The same for overrides that make none.
MAKING_NONE = (
    (UEFI, {}, {**Q35, 'os_secure_boot': 'required'}),
    (UEFI, {}, {'os_secure_boot': 'required'}),
    # Nova boots it without Secure Boot, which is what "optional" means.
    (UEFI, {}, {**PC, 'os_secure_boot': 'optional'}),
    (UEFI, {'os__secure_boot': 'required'}, {**PC, **UEFI}),
    # A pointer on the USB bus is what most hosts have by default.
    ({'hw_disk_bus': 'virtio'}, {}, {
        'hw_sound_model': 'usb', 'hw_usb_model': 'none',
        'hw_disk_bus': 'usb'}),
    ({'hw_usb_model': None}, {'hw__usb_model': 'qemu-xhci'}, {
        'hw_sound_model': 'usb', 'hw_input_bus': 'virtio'}),
    # Image and flavor are so by themselves.
    ({'hw_sound_model': None}, {'hw__sound_model': 'usb'}, {
        'hw_sound_model': 'usb', 'hw_usb_model': 'none'}),
    ({'hw_usb_model': None}, {}, {
        'hw_sound_model': 'usb', 'hw_input_bus': 'virtio'}),
    ({'hw_disk_bus': 'virtio'}, {}, {
        'hw_sound_model': 'usb', 'hw_input_bus': 'virtio',
        'hw_disk_bus': 'scsi'}),
    ({'hw_emulation_architecture': None}, {}, {**ARM, 'hw_disk_bus': 'ide'}),
)

#: Of these, what the running release has.
KNOWN_ROWS = [row for row in ROWS
              if guests.known({**row[0], **row[1], **row[2]})]

#: What does go together, beside each kind of row.
GOOD = (
    {**UEFI, **Q35, 'os_secure_boot': 'required'},
    {**UEFI, **PC, 'os_secure_boot': 'disabled'},
    # The host decides what machine type it is.
    {**UEFI, 'os_secure_boot': 'required'},
    {**PC, 'hw_disk_bus': 'ide'}, {**PC, 'hw_cdrom_bus': 'ide'},
    {**PC, 'hw_rescue_bus': 'ide'},
    {'hw_rescue_device': 'cdrom', 'hw_rescue_bus': 'usb'},
    {'hw_rescue_device': 'disk', 'hw_rescue_bus': 'virtio'},
    {'hw_rescue_device': 'floppy', 'hw_floppy_bus': 'fdc'},
    {'hw_disk_bus': 'ide'}, {'hw_viommu_model': 'intel'},
    {**Q35, 'hw_disk_bus': 'sata'}, {**Q35, 'hw_viommu_model': 'intel'},
    {**ARM, **UEFI}, {**ARM, **VIRT}, {'hw_firmware_type': 'bios'},
    {'hw_architecture': 'x86_64', 'hw_maxphysaddr_mode': 'emulate'},
    {'hw_architecture': 'x86_64', **Q35},
    {**ARM, 'hw_tpm_version': '2.0'},
    {'hw_vif_model': 'virtio', 'hw_virtio_packed_ring': 'true'},
    {'hw_vif_model': 'e1000', 'hw_virtio_packed_ring': 'false'},
    {'hw_maxphysaddr_mode': 'emulate', 'hw_maxphysaddr_bits': '40'},
    {'hw_architecture': 'x86_64', 'img_hv_type': 'kvm', 'hw_vm_mode': 'hvm'},
    {'hw_usb_model': 'qemu-xhci', 'hw_sound_model': 'usb'},
    {'hw_sound_model': 'usb'}, {'hw_redirected_usb_ports': '1'},
    {'hw_usb_model': 'none', 'hw_redirected_usb_ports': '0'},
    # Nova makes a USB controller for these.
    {'hw_input_bus': 'usb', 'hw_sound_model': 'usb'},
    {'hw_input_bus': 'virtio', 'hw_disk_bus': 'usb', 'hw_sound_model': 'usb'},
    {'hw_input_bus': 'virtio', 'hw_usb_model': 'qemu-xhci',
     'hw_redirected_usb_ports': '15'},
    # It is the emulated architecture that counts.
    {**ARM, 'hw_emulation_architecture': 'x86_64', **Q35},
)


def codes(found):
    return {name: code for name, (code, _) in found.items()}


@pytest.mark.parametrize('one, other, rest', KNOWN_ROWS)
def test_both_as_overrides_are_blamed(one, other, rest):
    found = guests.problems({**one, **other}, base=rest)
    assert codes(found) == dict.fromkeys({**one, **other}, CONFLICT)


@pytest.mark.parametrize('one, other, rest', [
    *KNOWN_ROWS, *((b, a, rest) for a, b, rest in KNOWN_ROWS)])
def test_the_half_that_is_an_override_is_blamed_alone(one, other, rest):
    found = guests.problems(dict(one), base={**rest, **other})
    assert codes(found) == dict.fromkeys(one, CONFLICT)
    ((_, reason),) = found.values()
    (name,) = other
    assert reason.startswith(f'beside {name}={other[name]}: ')
    assert len(reason) <= refusals.REASON_MAX


@pytest.mark.parametrize('one, other, rest', KNOWN_ROWS)
def test_an_image_that_is_so_by_itself_is_left_to_nova(one, other, rest):
    base = {**rest, **one, **other}
    assert guests.problems({'hw_boot_menu': 'true'}, base=base) == {}
    # Its own value is no override either.
    assert guests.problems(dict(one), base=base) == {}


@pytest.mark.parametrize('one, other, rest', KNOWN_ROWS)
def test_taking_either_half_away_ends_the_conflict(one, other, rest):
    for name in {**one, **other}:
        found = guests.problems({name: None}, base={**rest, **one, **other})
        assert CONFLICT not in codes(found).values()


@pytest.mark.parametrize('together', filter(guests.known, GOOD))
def test_what_can_be_built_or_is_left_to_the_host_is_accepted(together):
    assert guests.problems(together) == {}


@pytest.mark.parametrize('drivers', [(), ('vmwareapi',),
                                     ('libvirt', 'vmwareapi')])
def test_nothing_is_refused_where_another_driver_may_build_it(drivers):
    assert guests.problems(
        {**Q35, 'hw_disk_bus': 'ide'}, drivers=drivers) == {}


@pytest.mark.parametrize('drivers', [
    (), ('libvirt',), ('vmwareapi',), ('libvirt', 'vmwareapi')])
@pytest.mark.skipif(not guests.known(BITS), reason='Nova lacks them')
def test_what_the_scheduler_cannot_compare_no_driver_builds(drivers):
    assert codes(guests.problems(
        {'img_hv_type': 'kvm'}, base=BITS, drivers=drivers)) == {
            'img_hv_type': CONFLICT}


@pytest.mark.parametrize('override, spec, base', [
    (override, spec, base) for override, spec, base in OF_FLAVORS
    if guests.known({**override, **{
        name.replace('__', '_'): value for name, value in spec.items()}})])
def test_a_flavor_can_have_the_other_half(override, spec, base):
    ((name, value),) = spec.items()
    found = guests.problems(dict(override), spec, base)
    assert codes(found) == dict.fromkeys(override, errors.FLAVOR_CONFLICT)
    ((_, reason),) = found.values()
    assert f'the flavor\'s {name.replace("__", "_")}={value}' in reason


def has_all(case):
    """Return whether the running release has what one of MAKING speaks of."""
    overrides, specs, image = case[:3]
    return guests.known({
        **{name.replace('__', '_'): value for name, value in specs.items()},
        **image, 'hw_firmware_type': 'uefi'}) and guests.known({
            name: value for name, value in overrides.items() if value})


@pytest.mark.parametrize('overrides, specs, image, half', filter(
    has_all, MAKING))
def test_only_what_makes_an_exclusion_of_two_others_is_blamed(
        overrides, specs, image, half):
    found = guests.problems(
        {**overrides, 'hw_boot_menu': 'true', 'hw_rescue_bus': 'usb'}, specs,
        image)
    assert codes(found) == dict.fromkeys(
        overrides, errors.FLAVOR_CONFLICT if 'flavor' in half else CONFLICT)
    ((_, reason),) = found.values()
    assert reason.startswith(f'beside {half}=') and ' and hw_' in reason
    assert len(reason) <= refusals.REASON_MAX


@pytest.mark.parametrize('overrides, specs, image', filter(
    has_all, MAKING_NONE))
def test_what_makes_no_exclusion_is_accepted(overrides, specs, image):
    assert guests.problems(dict(overrides), specs, image) == {}


@pytest.mark.skipif(not guests.known(BITS), reason='Nova lacks them')
def test_the_scheduler_reads_no_bits_of_the_flavor():
    bits = {'hw__maxphysaddr_bits': '42'}
    host = {'hw_architecture': 'x86_64', 'img_hv_type': 'kvm'}
    assert guests.problems({**host, **EMULATE}, bits) == {}
    # But the guest has them.
    assert codes(guests.problems(
        {'hw_maxphysaddr_mode': 'passthrough'}, bits, host)) == {
            'hw_maxphysaddr_mode': errors.FLAVOR_CONFLICT}
    # The image's are read, though they are no others.
    assert codes(guests.problems(
        BITS, {**bits, 'hw__maxphysaddr_mode': 'emulate'}, host)) == {
            'hw_maxphysaddr_bits': CONFLICT}


def test_each_half_that_a_flavor_can_have_is_looked_up_there():
    halves = {name for record in book.RECORDS.values()
              for row in record.excludes for name in (record.name, row.name)}
    assert [name for name in halves if book.RECORDS[name].flavor
            and not book.RECORDS[name].gets] == []


def test_only_what_is_ignored_is_blamed_for_that():
    optional, other, rest = IGNORED
    assert codes(guests.problems({**other, **optional}, base=rest)) == \
        codes(guests.problems(optional, base={**rest, **other})) == \
        dict.fromkeys(optional, errors.NO_EFFECT)
    # Nova boots it without Secure Boot, which is what "optional" means.
    assert guests.problems(dict(other), base={**rest, **optional}) == {}
    assert guests.problems(
        dict(PC), {'os__secure_boot': 'optional'}, UEFI) == {}


def test_what_does_nothing_anyway_conflicts_with_nothing():
    """Without UEFI there is no Secure Boot that q35 could be needed for."""
    assert guests.problems(
        dict(PC), base={'os_secure_boot': 'required'}) == {}


def test_each_row_of_the_book_is_among_these():
    met = set()
    for one, other, rest in (*ROWS, IGNORED):
        guest = {**rest, **one, **other}
        for record in book.RECORDS.values():
            met.update(
                id(row) for row in record.excludes if no_effect.is_met(
                    row, guest.get(record.name), guest.get(row.name)))
    missing = [(record.name, row.name) for record in book.RECORDS.values()
               for row in record.excludes if id(row) not in met]
    assert missing == []


@pytest.mark.parametrize('record, row', [
    (record, row) for record in book.RECORDS.values()
    for row in record.excludes
    if {record.name, row.name} <= catalog_module.running().keys()])
def test_a_row_speaks_of_properties_and_values_that_there_are(record, row):
    catalog = catalog_module.running()
    for name, patterns in ((record.name, row.of), (row.name, row.values),
                           (row.name, row.but)):
        prop = catalog[name]
        for pattern in patterns if prop.values else ():
            assert fnmatch.filter(prop.values, pattern), pattern
