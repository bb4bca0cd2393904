"""What ``image_props_override`` may hold, and how each mistake is reported."""

import contextlib
import tracemalloc

import pytest

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.authorization import presets
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import property as property_module
from testing import release
from tests.unit import memory
from tests.unit import refusals
from tests.unit import strategies

USED = override.UsedPreset('windows', 'd1')

# --- what is accepted -------------------------------------------------------

@pytest.mark.parametrize('raw', [
    {}, {'os_distro': None, 'trait:A': None},
    {f'hw_numa_mem.{n}': '1' for n in range(128)},
], ids=['none', 'null, which removes', '128'])
def test_properties_are_taken_as_they_are(parser, raw):
    assert parser.parse(raw).values == raw


@pytest.mark.parametrize(('name', 'stored'), [
    ('hw_boot_menu', {'YES': 'true', 'on': 'true', '0': 'false'}),
    ('hw_architecture', {'amd64': 'x86_64', 'X86_64': 'x86_64'}),
    ('hw_scsi_model', {'paraVirtual': 'vmpvscsi'}),
    ('hw_vif_model', {'VirtualE1000': 'e1000'}),
    ('hw_vm_mode', {'HVM': 'hvm'}), ('img_hv_type', {'QEMU': 'qemu'}),
    ('os_type', {'Linux': 'linux'}), ('hw_cpu_sockets', {'0002': '2'}),
    ('hw_redirected_usb_ports', {'000': '0'}),
    ('hw_mem_page_size', {
        'any': 'any', '2MB': '2048', '1GiB': '1048576', '4KB': '4'}),
    *((name, {value: value}) for name, value in (
        ('hw_numa_mem.0', '1024'), ('hw_numa_cpus.127', '^3-4,0,4095'),
        ('hw_auto_disk_config', 'disabled'),
        ('trait:HW_CPU_X86_AVX2', 'required'),
        ('img_hv_requested_version', '>=6.0,<8.0'),
        ('os_command_line', 'console=ttyS0 quiet'),
        ('os_command_line', 'null'), ('os_distro', '\u65e5' * 85),
        ('os_admin_user', 'a' * 255))),
])
def test_a_value_is_stored_in_its_canonical_spelling(parser, name, stored):
    release.need(name)
    for value, canonical in stored.items():
        assert parser.parse({name: value}).values == {name: canonical}


def test_every_listed_value_of_every_property_is_taken(catalog, parser):
    for field, prop in catalog.items():
        name = 'trait:A' if prop.family else field
        for value in prop.values:
            assert parser.parse({name: value}).values == {name: value}


def integer_limits():
    for field, prop in catalog_module.running().items():
        if isinstance(prop, property_module.Integer):
            name = f'{field}.0' if prop.family else field
            limits = prop.record.limits
            yield pytest.param(
                name, limits.minimum, limits.maximum, id=name)


@pytest.mark.parametrize(('name', 'minimum', 'maximum'), integer_limits())
def test_integers_are_taken_up_to_their_limits_and_no_further(
        parser, name, minimum, maximum):
    for number in (minimum, maximum):
        assert parser.parse({name: str(number)}).values == {
            name: str(number)}
    for number in (minimum - 1, maximum + 1):
        code, reason = refusals.of(parser.parse, {name: str(number)})[name]
        assert code == errors.INVALID_VALUE
        assert f'an integer from {minimum} to {maximum}' in reason


# --- names alone ------------------------------------------------------------

def test_names_are_taken_once_each(parser):
    assert parser.parse_names([
        'hw_disk_bus', 'trait:A', 'hw_numa_mem.3', 'hw_disk_bus',
    ]) == {'hw_disk_bus', 'trait:A', 'hw_numa_mem.3'}
    assert parser.parse_names([]) == frozenset()


def test_eight_names_are_taken_however_often_they_come(parser):
    names = [f'hw_numa_mem.{n}' for n in range(8)]
    assert parser.parse_names([*names, *names]) == {*names}


def test_a_ninth_name_is_refused_before_any_of_them_is_read(parser):
    assert refusals.of(parser.parse_names, [f'x{n}' for n in range(9)]) == {
        errors.PARAMETER: (errors.TOO_MANY, 'at most 8 properties, not 9')}


def test_every_wrong_name_of_several_is_refused(parser):
    assert refusals.codes(parser.parse_names, [
        'hw_pmu', 'x', 'vm_mode', 'hw_numa_cpus', '']) == {
        '': errors.UNKNOWN, 'x': errors.UNKNOWN,
        'vm_mode': errors.LEGACY_NAME, 'hw_numa_cpus': errors.LIST_FIELD}


# --- what is refused --------------------------------------------------------

@pytest.mark.parametrize(('raw', 'kind'), [
    (None, 'null'), ([], 'an array'), ([['hw_boot_menu', 'true']], 'an array'),
    ('hw_boot_menu=true', 'a string'), ('', 'a string'), (True, 'a boolean'),
    (0, 'a number'), (1.5, 'a number'),
])
def test_the_parameter_must_be_an_object(parser, raw, kind):
    assert refusals.of(parser.parse, raw) == {errors.PARAMETER: (
        errors.INVALID_TYPE, f'must be an object of strings, not {kind}')}


@pytest.mark.parametrize('value', ['nullify', 'floppy', ' null', '0'])
def test_only_what_is_meant_to_remove_is_told_how_to(parser, value):
    ((_, reason),) = refusals.of(parser.parse, {'hw_disk_bus': value}).values()
    assert 'send null' not in reason


@pytest.mark.parametrize('value', ['', 'null', 'x'])
def test_a_reason_is_short_whatever_the_property_takes(catalog, value):
    for prop in catalog.values():
        read = prop.read(prop.spelling, value)
        assert isinstance(read, str) or len(read.reason) <= 300


def test_more_than_128_properties_are_refused_whatever_they_are(parser):
    raw = {f'hw_numa_mem.{n}': '1' for n in range(128)}
    raw['hw_boot_menu'] = 'true'
    assert refusals.of(parser.parse, raw) == {errors.PARAMETER: (
        errors.TOO_MANY, 'at most 128 properties, not 129')}


@pytest.mark.parametrize(('names', 'code', 'phrase'), [
    (['hw_no_such_thing', '', 'image_hw_disk_bus', 'x' * 100000,
      'os_glance_override:hw_disk_bus'], errors.UNKNOWN,
     'not an image property'),
    (['hw:cpu_policy'], errors.UNKNOWN, 'did you mean hw_cpu_policy?'),
    (['hw:emulator_threads_policy'], errors.UNKNOWN,
     'only a flavor can have it: extra spec hw:emulator_threads_policy'),
    (['hw_video_ram_max_mb'], errors.UNKNOWN, 'extra spec hw_video:ram_max_mb'),
    (['quota_cpu_shares'], errors.UNKNOWN, 'extra spec quota:cpu_shares'),
    (['HW_DISK_BUS', 'hw_disk_bus\n', ' hw_disk_bus', 'hw_disk_bus ',
      'hw_disk_bus\0', 'hw_d\u0456sk_bus', '\uff48w_disk_bus',
      'hw_disk_bus\ud800'], errors.UNKNOWN, 'did you mean hw_disk_bus?'),
    (['vm_mode'], errors.LEGACY_NAME, 'use hw_vm_mode'),
    (['hw_numa_cpus'], errors.LIST_FIELD, 'use hw_numa_cpus.N'),
    (['hw_numa_cpus.'], errors.UNKNOWN, 'hw_numa_cpus.N with N from 0 to 127'),
    (['hw_numa_mem.128', 'hw_numa_mem.00', 'hw_numa_mem.-1',
      'hw_numa_mem.\u0661', 'hw_numa_mem.0\n', 'HW_NUMA_MEM.0',
      'hw_numa_mem.0.0'], errors.UNKNOWN,
     'hw_numa_mem.N with N from 0 to 127, no leading zeros'),
    (['hw_numa_mem0', 'xhw_numa_mem.0'], errors.UNKNOWN,
     'did you mean hw_numa_mem.N?'),
    (['trait:', 'trait:hw_cpu', 'trait:HW CPU', 'trait:HW_CPU\n',
      'Trait:HW_CPU', 'trait:' + 'A' * 214], errors.UNKNOWN,
     'trait:NAME with up to 213 of A-Z, 0-9 and _'),
])
@pytest.mark.parametrize('value', ['virtio', None, 7])
def test_a_wrong_name_is_refused_whatever_its_value(
        parser, names, code, phrase, value):
    for name in names:
        found = refusals.of(parser.parse, {name: value})
        assert found == {name: (code, found[name][1])}
        assert phrase in found[name][1]


def test_a_name_like_no_other_gets_no_hint(parser):
    assert refusals.of(parser.parse, {'my_property': 'x'}) == {
        'my_property': (
            errors.UNKNOWN, 'not an image property that Nova reads')}


def test_no_hint_names_a_property_that_can_never_be_overridden(parser):
    ((_, reason),) = refusals.of(
        parser.parse, {'img_owner_idd': 'x'}).values()
    assert 'img_owner_id' not in reason


@pytest.mark.parametrize(('value', 'kind'), [
    (1, 'a number'), (1.0, 'a number'), (float('nan'), 'a number'),
    (True, 'a boolean'), ([], 'an array'),
    (['virtio'], 'an array'), ({}, 'an object'),
    ({'value': 'virtio'}, 'an object'),
])
def test_a_value_must_be_a_string(parser, value, kind):
    assert refusals.of(parser.parse, {'hw_rng_model': value}) == {
        'hw_rng_model': (
            errors.INVALID_TYPE,
            f'must be a string (one of virtio), not {kind}')}


@pytest.mark.parametrize(('name', 'values', 'phrase'), [
    ('hw_boot_menu', ['maybe'], 'must be true or false, not maybe'),
    ('hw_boot_menu', [' true'], 'not " true"'),
    ('hw_boot_menu', ['true\n'], r'not "true\n"'),
    ('hw_boot_menu', ['\uff54rue'], 'true or false'),
    ('hw_boot_menu', [''], 'must not be empty'),
    ('hw_disk_bus', ['floppy'], 'virtio'),
    ('hw_disk_bus', [''], 'must not be empty'),
    ('hw_disk_bus', ['null'], 'must not be null; to remove the image\'s '
     'property, send null without quotes (openstack: hw_disk_bus=; metadata: '
     'image_props_override={"hw_disk_bus": null})'),
    ('hw_numa_nodes', ['None'], 'send null'),
    ('hw_disk_bus', ['\u0455csi'], r'"\u0455csi"'),
    ('hw_disk_bus', ['scsi\0'], r'"scsi\u0000"'),
    ('hw_disk_bus', ['SCSI'], 'scsi'),
    ('hw_disk_bus', ['x' * 255], 'must be one of'),
    # KELVIN SIGN: its lower case is a plain "k".
    ('img_hv_type', ['\u212aVM'], r'"\u212aVM"'),
    ('hw_architecture', ['m68\u212a'], r'"m68\u212a"'),
    ('hw_cpu_sockets',
     ['0', '-1', '+1', '1_0', '1.0', '0x2', ' 2', '\u0663'],
     'an integer from 1'),
    ('hw_numa_mem.0', ['2147483648'], 'an integer from 1'),
    ('hw_numa_cpus.0', ['0-99999999999'], 'up to 4095'),
    ('hw_numa_cpus.0', ['0-4096', '4096', '0,^4096'], 'beyond 4095'),
    ('hw_cpu_realtime_mask', ['^0-4096'], 'beyond 4095'),
    ('hw_numa_cpus.0', ['0-4095,^0'], 'more than 4096'),
    ('hw_numa_cpus.0', ['3-1'], 'range 3-1 ends before it begins'),
    ('hw_numa_cpus.0', ['0,^3-2'], 'range ^3-2 ends before it begins'),
    ('hw_numa_cpus.0', ['0, 1'], 'without blanks'),
    ('hw_numa_cpus.0', ['0,,1', '-1', '^^1', '1-2-3'], 'a CPU list'),
    ('trait:HW', ['forbidden', 'REQUIRED'], 'one of required'),
    ('hw_mem_page_size', ['0', 'huge', '2Mb', '2.5MB', '1000GB'],
     'KB, MB or GB'),
    ('hw_machine_type', ['q35 ', '../q35'], 'letters, digits'),
    ('hw_auto_disk_config', ['True'], 'disabled'),
    ('img_hv_requested_version', ['6.0', '>=six'], '>=6.0,<8.0'),
    ('os_command_line', [''], 'must not be empty'),
    *((name, values, 'control characters, nor any beyond U+FFFF')
      for name, values in (
          ('hw_cpu_sockets', ['2\n']), ('hw_numa_cpus.0', ['0\n']),
          ('hw_machine_type', ['q35\n']),
          ('os_command_line', [
              'quiet\n', 'a\0b', 'a\x7f', 'a\x85b', 'a\u2028b', 'a\ud800',
              'a\uffff', 'a\U0001f600']))),
])
def test_a_wrong_value_is_refused_with_what_would_be_right(
        parser, name, values, phrase):
    for value in values:
        found = refusals.of(parser.parse, {name: value})
        assert found == {name: (errors.INVALID_VALUE, found[name][1])}
        assert phrase in found[name][1]


@pytest.mark.parametrize(('name', 'value', 'phrase'), [
    ('hw_cpu_sockets', '9' * 5000, 'not 5000 characters'),
    ('os_command_line', 'a' * 256, 'not 256 characters'),
    ('hw_disk_bus', 'x' * 256, 'not 256 characters'),
    ('os_command_line', '\u00e9' * 128, 'not 256 bytes of UTF-8'),
    ('os_command_line', '\u65e5' * 86, 'not 258 bytes of UTF-8')])
def test_a_value_that_nova_would_cut_is_refused(parser, name, value, phrase):
    assert refusals.of(parser.parse, {name: value}) == {name: (
        errors.TOO_LONG, f'at most 255 bytes of UTF-8, {phrase}')}


@pytest.mark.parametrize('value', [
    '0-99999999999', ','.join(['0-9999'] * 36), ','.join(['0-4095'] * 36)])
def test_cpu_ranges_are_judged_without_being_expanded(catalog, value):
    parser = override.Parser(catalog)
    tracemalloc.start()
    try:
        with contextlib.suppress(errors.Invalid):
            parser.parse({'hw_numa_cpus.0': value})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A set of 4096 numbers takes more than twice as much.
    assert peak < 100_000


def test_one_answer_names_every_wrong_property_and_no_right_one(parser):
    assert refusals.codes(parser.parse, {
        'hw_boot_menu': 'true', 'hw_disk_bus': 'floppy', 'vm_mode': 'hvm',
        'hw_numa_cpus': '0', 'os_distro': 7, 'nonsense': 'x',
        'os_command_line': 'a' * 256}) == {
        'hw_disk_bus': errors.INVALID_VALUE, 'vm_mode': errors.LEGACY_NAME,
        'hw_numa_cpus': errors.LIST_FIELD, 'os_distro': errors.INVALID_TYPE,
        'nonsense': errors.UNKNOWN, 'os_command_line': errors.TOO_LONG}


def test_what_was_judged_before_is_judged_alike_again(parser):
    for _ in range(2):
        assert parser.parse({'hw_boot_menu': 'on'}).values == {
            'hw_boot_menu': 'true'}
        assert list(refusals.of(parser.parse, {'hw_boot_menu': 'up'})) == [
            'hw_boot_menu']


def test_what_was_judged_long_ago_is_forgotten(catalog):
    class Forgetful(override.Parser):
        CACHE_SIZE = 8
    parser = Forgetful(catalog)
    assert memory.held(lambda text: parser.parse(
        {'os_admin_user': text})) < 100_000


def test_what_is_too_long_to_be_stored_is_not_remembered(parser):
    def refuse(text):
        for asked in {'os_admin_user': 2 * text}, {2 * text: 'x'}:
            with pytest.raises(errors.Invalid):
                parser.parse(asked)

    assert memory.held(refuse, 500) < 100_000


def test_a_request_is_laid_over_its_preset(parser):
    had = {'hw_disk_bus': 'scsi', 'hw_pmu': None, 'hw_boot_menu': 'true'}
    asked = {'hw_disk_bus': 'ide', 'hw_boot_menu': None}
    preset = strategies.overrides_of(had, USED)
    assert parser.parse(asked, preset=preset).values == {**had, **asked}
    assert parser.parse({}, preset=preset) == preset
    assert preset.values == had


@pytest.mark.parametrize(('asked', 'codes'), [
    ({}, {}), ({'hw_pmu': 'x'}, {'hw_pmu': errors.INVALID_VALUE}),
    # What cannot be read at all.
    ([], {errors.PARAMETER: errors.INVALID_TYPE}),
    ({f'trait:CUSTOM_{n}': 'required' for n in range(129)},
     {errors.PARAMETER: errors.TOO_MANY})])
def test_what_is_wrong_with_a_preset_is_told_with_the_rest(
        parser, asked, codes):
    fault = errors.Problem(errors.PRESET, errors.UNKNOWN_PRESET, 'x')
    assert refusals.codes(parser.parse, asked, found=[fault]) == {
        **codes, errors.PRESET: errors.UNKNOWN_PRESET}


def test_what_the_preset_cannot_be_asked_with_is_told_too(parser):
    asked = []

    def refuse(overrides):
        asked.append(overrides.values)
        return [errors.Problem('hw_pmu', errors.DENIED, 'x')]

    with pytest.raises(errors.Forbidden):
        parser.parse({'hw_disk_bus': 'x'}, refuse,
                     strategies.overrides_of(
                         {'hw_disk_bus': 'ide', 'hw_pmu': 'true'}))
    assert asked == [{'hw_pmu': 'true'}]


def test_what_is_only_taken_out_of_the_preset_needs_no_permission(parser):
    asked = []
    with pytest.raises(errors.Invalid) as caught:
        parser.parse({'hw_disk_bus': 'x', 'hw_pmu': None, 'os_type': None},
                     lambda overrides: asked.append(overrides.values) or (),
                     strategies.overrides_of({'hw_pmu': 'true'}))
    assert asked == [{'os_type': None}]
    assert caught.value.unchecked == {'hw_pmu', 'os_type'}


def test_what_a_preset_is_refused_for_is_said_of_it_beside_the_rest(parser):
    denied = [errors.Problem(name, errors.DENIED, 'x')
              for name in ('hw_pmu', 'os_type')]
    found = refusals.of(
        parser.parse, {'hw_disk_bus': 'x', 'os_type': 'linux'},
        lambda overrides: denied, presets.Preset.of(
            'menu', strategies.overrides_of({'hw_pmu': 'true'})).overrides,
        error=errors.Forbidden)
    assert {name: reason.startswith('of preset menu: ')
            for name, (_, reason) in found.items()} == {
                'hw_disk_bus': False, 'hw_pmu': True, 'os_type': False}


def test_preset_and_request_together_are_not_too_many(parser):
    preset = strategies.overrides_of(
        {f'trait:CUSTOM_{n}': 'required' for n in range(100)})
    asked = {f'trait:CUSTOM_{n}': None for n in range(72, 128)}
    assert len(parser.parse(asked, preset=preset)) == 128
    assert refusals.codes(
        parser.parse, {**asked, 'hw_pmu': 'true'}, preset=preset) == {
            errors.PARAMETER: errors.TOO_MANY}
