"""Checking flavor and merged properties is cheap, also when repeated."""

import dataclasses

from nova import objects
from nova.virt import hardware
from oslo_config import cfg
from oslo_config import fixture as config_fixture
import pytest

from nova_image_override import errors
from nova_image_override.api.guest import check
from nova_image_override.api.guest import refusals
from nova_image_override.api.guest.guest import boot_metadata
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.server_record import ServerRecord
from tests.unit.api.guest import guests
from tests.unit.strategies import overrides_of


@pytest.fixture(autouse=True)
def nothing_remembered():
    check._GOOD.clear()
    yield
    check._GOOD.clear()


def problems(flavor, overrides, base=None):
    return guests.problems(overrides, base=base, of=flavor)


@dataclasses.dataclass
class Work:
    """Counts how often Nova's functions check and how many CPUs they read."""

    checked: int = 0
    cpus: int = 0


@pytest.fixture
def work(monkeypatch):
    result = Work()

    def count(name):
        function = getattr(hardware, name)

        def counting(*args):
            result.checked += 1
            return function(*args)
        monkeypatch.setattr(hardware, name, counting)

    def parse(spec, function=hardware.parse_cpu_spec):
        for item in spec.split(','):
            first, _, last = item.strip().removeprefix('^').partition('-')
            result.cpus += int(last or first) - int(first) + 1
        return function(spec)

    count('numa_get_constraints')
    monkeypatch.setattr(hardware, 'parse_cpu_spec', parse)
    # Use the functions as they are patched now.
    refusals.checks.cache_clear()
    yield result
    refusals.checks.cache_clear()


_OTHERS = {
    'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'isolate',
    'hw_locked_memory': 'true', 'hw_mem_page_size': 'large',
    'hw_mem_encryption': 'true', 'hw_pmu': 'true', 'hw_numa_nodes': '100'}


#: Lists of 64 nodes that name as many CPUs as they may.
_MOST = {f'hw_numa_cpus.{n}': ','.join(['0-7'] * 8) for n in range(64)}


@pytest.mark.parametrize(('flavor', 'overrides', 'base', 'blamed', 'cpus'), [
    (guests.flavor(8, hw__pmu='false'), _OTHERS | _MOST, {},
     {'hw_mem_encryption', 'hw_mem_page_size', 'hw_pmu'}, 4096),
    # An image's are expanded once with the overrides and once without, with
    # any number of conflicts.
    (guests.flavor(8, hw__pmu='false', hw__cpu_policy='shared'), _OTHERS,
     _MOST, {'hw_cpu_policy', 'hw_mem_encryption', 'hw_pmu'}, 2 * 4096),
    # To find what makes an exclusion, they are not expanded again.
    (guests.flavor(8), {'hw_firmware_type': 'uefi', **_MOST},
     {'hw_machine_type': 'pc', 'os_secure_boot': 'required'},
     {'hw_firmware_type', *_MOST}, 4096),
    # Nor to ask what requires a trait.
    (guests.flavor(trait__COMPUTE_SECURITY_UEFI_SECURE_BOOT='forbidden'),
     {'os_secure_boot': 'required', 'hw_boot_menu': 'true',
      'hw_numa_nodes': '1', 'hw_numa_cpus.0': '0-3', 'hw_numa_mem.0': '1024'},
     {}, {'os_secure_boot'}, 4)])
def test_hostile_lists_are_checked_in_bounded_work(
        work, flavor, overrides, base, blamed, cpus):
    assert problems(flavor, overrides, base).keys() == blamed
    assert work.checked <= 8
    assert work.cpus == cpus


def test_lists_that_together_name_too_many_cpus_are_not_expanded(work):
    found = problems(guests.flavor(8), _OTHERS | _MOST | {
        'hw_numa_cpus.64': '0', 'hw_numa_cpus.65': '0-7',
        'hw_cpu_realtime_mask': '^0'})
    assert found == dict.fromkeys(['hw_numa_cpus.64', 'hw_numa_cpus.65'], (
        errors.PROPERTY_CONFLICT, 'and the lists of other nodes name more than '
        '4096 CPUs, repeated ones included: name each CPU once'))
    found = problems(guests.flavor(8), _OTHERS, _MOST | {
        'hw_numa_cpus.64': '0'})
    code, reason = found['hw_numa_cpus.64']
    assert code == errors.UNREADABLE
    assert reason.startswith("the image's own value and the lists of other")
    assert work.cpus == 0


def test_the_lists_of_a_flavor_of_4096_vcpus_are_not_too_many(work):
    found = problems(guests.flavor(4096), {
        'hw_numa_nodes': '64', 'hw_cpu_realtime_mask': '^0-4094',
        **{f'hw_numa_cpus.{n}': f'{n * 64}-{n * 64 + 63}' for n in range(64)},
        **{f'hw_numa_mem.{n}': '16' for n in range(64)}})
    assert not {name for name in found if name.startswith('hw_numa')}, found
    assert work.cpus


def _nodes(first, second):
    return {'hw_numa_nodes': '2', 'hw_numa_mem.0': '512',
            'hw_numa_mem.1': '512', 'hw_numa_cpus.0': first,
            'hw_numa_cpus.1': second}


@pytest.mark.parametrize('none', ['^0', '0-3,^0-3', '^0-3', '2,^1-3'])
def test_a_numa_node_without_a_cpu_is_refused(none):
    flavor, asked = guests.flavor(4), _nodes('0-3', none)
    refused = {'hw_numa_cpus.1': (
        errors.INVALID_VALUE,
        'names no CPU: each NUMA node must have one at least')}
    assert problems(flavor, asked) == refused
    assert problems(flavor, {'hw_numa_cpus.1': none}, _nodes(
        '0-3', '3')) == refused
    assert problems(flavor, _nodes(none, none)).keys() == {
        'hw_numa_cpus.0', 'hw_numa_cpus.1'}
    # One more CPU than it excludes, and what the image has by itself.
    assert problems(flavor, _nodes('0-2', '0-3,^0-2')) == {}
    assert problems(flavor, {'hw_boot_menu': 'true'}, asked) == {}


def test_hosts_of_a_default_architecture_have_a_version_to_compare():
    asked = {'img_hv_requested_version': '>=6.0'}
    assert problems(guests.flavor(), asked) == {'img_hv_requested_version': (
        errors.NO_EFFECT, 'would do nothing: it needs hw_architecture, '
                          'img_hv_type or hw_vm_mode')}
    fixture = config_fixture.Config()
    with fixture:
        fixture.config(group='filter_scheduler',
                       image_properties_default_architecture='x86_64')
        assert problems(guests.flavor(), asked) == {}


def test_a_realtime_mask_may_name_only_the_others():
    flavor = guests.flavor(
        4, hw__cpu_realtime='yes', hw__cpu_policy='dedicated')
    assert problems(flavor, {'hw_cpu_realtime_mask': '^0'}) == {}
    found = problems(guests.flavor(4), {'hw_cpu_realtime_mask': '^4'})
    assert found['hw_cpu_realtime_mask'] == (
        errors.FLAVOR_CONFLICT,
        'names vCPU 4, but the flavor has 4, numbered from 0 to 3')


def test_a_list_of_vcpus_that_the_flavor_lacks_is_not_expanded(work):
    found = problems(guests.flavor(4), {
        'hw_numa_nodes': '1', 'hw_numa_mem.0': '1024',
        'hw_numa_cpus.0': '1-4095', 'hw_boot_menu': 'true'})
    assert found == {'hw_numa_cpus.0': (
        errors.FLAVOR_CONFLICT,
        'names vCPU 4095, but the flavor has 4, numbered from 0 to 3')}
    assert (work.checked, work.cpus) == (0, 0)


@pytest.mark.parametrize(('value', 'code', 'names'), [
    ('0-4', errors.FLAVOR_CONFLICT, 'vCPU 4'),
    ('0-4096', errors.UNREADABLE, ''), ('0-4095,0-3', errors.UNREADABLE, '')])
def test_so_is_a_list_of_the_image_unless_an_override_takes_its_place(
        work, value, code, names):
    flavor = guests.flavor(4)
    base = {'hw_numa_nodes': '1', 'hw_numa_mem.0': '1024',
            'hw_numa_cpus.0': value}
    found = problems(flavor, {'hw_boot_menu': 'true'}, base)
    assert found['hw_numa_cpus.0'][0] == code
    assert f"the image's own value names {names}" in found['hw_numa_cpus.0'][1]
    assert work.cpus == 0
    assert not problems(flavor, {'hw_numa_cpus.0': '0-3'}, base)
    assert not problems(flavor, dict.fromkeys(base), base)
    assert work.cpus == 4


@pytest.mark.parametrize('value', ['4', '0-4095,0-3'])
def test_what_overrides_do_wrong_beside_an_images_list_is_theirs(value):
    """Without it, too, the image would lack a list for each of its nodes."""
    base = {'hw_numa_nodes': '1', 'hw_numa_mem.0': '1024',
            'hw_numa_cpus.0': value}
    found = problems(
        guests.flavor(4), {'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0-3'}, base)
    assert set(found) == {'hw_numa_nodes', 'hw_numa_cpus.0'}
    assert 'by themselves' not in str(found)


def test_an_images_mask_is_checked_where_the_flavor_has_it_read():
    base = {'hw_cpu_realtime_mask': '^0-99'}
    asked = {'hw_boot_menu': 'true'}
    assert not problems(guests.flavor(4), asked, base)
    found = problems(guests.flavor(
        4, hw__cpu_realtime='yes', hw__cpu_policy='dedicated'), asked, base)
    assert found[errors.PARAMETER][0] == errors.FLAVOR_CONFLICT


def test_of_an_images_lists_only_the_one_that_is_too_large_is_named():
    own = {'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0-99999',
           'hw_numa_cpus.1': '1-3', 'hw_numa_mem.0': '512',
           'hw_numa_mem.1': '512'}
    assert problems(guests.flavor(), {'hw_boot_menu': 'true'}, own).keys() == {
        'hw_numa_cpus.0'}


def test_what_a_removal_leaves_to_the_flavor_is_not_without_effect():
    assert problems(guests.flavor(), {'hw_cpu_sockets': None},
                    {'hw_cpu_sockets': '2'}) == {}


def test_the_check_leaves_the_image_as_it_is():
    base = {'hw_numa_cpus.0': '0,1,2,3', 'hw_numa_mem.0': '1024',
            'hw_numa_nodes': '1'}
    image = boot_metadata({}, dict(base))
    check.problems(guests.flavor(4), image, base,
                   overrides_of({'hw_boot_menu': 'true'}))
    assert image['properties'] == base


def test_an_unreadable_property_that_is_overridden_is_no_cause():
    found = problems(guests.flavor(),
        {'hw_machine_type': 'q35', 'hw_disk_bus': 'sata', 'hw_pmu': 'true',
         'hw_video_ram': '16'},
        {'hw_disk_bus': 'bogus', 'hw_video_ram': 'many'})
    assert set(found) == {'hw_video_ram'}


def test_only_what_nova_cannot_read_of_an_image_is_named():
    found = problems(guests.flavor(), {'hw_boot_menu': 'true'},
                     {'hw_cpu_sockets': 'x', 'hw_pmu': 'true'})
    assert found == {'hw_cpu_sockets': (
        errors.UNREADABLE, "Nova cannot read the image's own value x")}


def test_what_was_found_good_is_checked_once_until_anything_differs(work):
    plain, menu = guests.flavor(), {'hw_boot_menu': 'true'}
    for checked, (flavor, asked, base) in enumerate((
            (plain, menu, {}), (guests.flavor(vcpus=3), menu, {}),
            (guests.flavor(hw__numa_nodes='1'), menu, {}),
            (plain, {'hw_boot_menu': 'false'}, {}),
            (plain, {'hw_boot_menu': None}, {}),
            (plain, menu, {'hw_pmu': 'true'}),
            (plain, menu, {'hw_pmu': True})), 1):
        for _ in range(2):
            assert not problems(flavor, asked, base)
            assert work.checked == checked


def test_a_refusal_is_not_remembered():
    flavor = guests.flavor(hw__pmu='false')
    for _ in range(2):
        assert problems(flavor, {'hw_pmu': 'true'})
    assert not check._GOOD


def test_when_no_more_can_be_remembered_all_is_forgotten(work, monkeypatch):
    monkeypatch.setattr(check, 'REMEMBERED', 2)
    flavor = guests.flavor()
    for asked, checked in (('true', 1), ('false', 2), ('true', 2),
                           (None, 3), (None, 3), ('true', 4)):
        assert not problems(flavor, {'hw_boot_menu': asked})
        assert work.checked == checked


class _Recording(objects.Flavor):
    """A flavor that remembers which of its fields were read."""

    read: set[str] = set()

    @classmethod
    def obj_name(cls):
        return 'Flavor'

    def __getattribute__(self, name):
        if name in objects.Flavor.fields:
            _Recording.read.add(name)
        return super().__getattribute__(name)


def test_all_that_is_read_of_a_flavor_tells_verdicts_apart():
    _Recording.read.clear()
    plain = guests.flavor(
        hw__mem_page_size='any', hw__mem_encryption='true')
    flavor = _Recording(**{
        name: getattr(plain, name) for name in plain.obj_what_changed()})
    overrides = {
        'hw_cpu_policy': 'dedicated', 'hw_numa_nodes': '2',
        'hw_mem_page_size': 'small', 'hw_firmware_type': 'uefi',
        'hw_machine_type': 'q35', 'hw_tpm_version': '2.0',
        'hw_tpm_model': 'tpm-crb', 'hw_cpu_max_sockets': '2'}
    problems(flavor, overrides)
    assert {'vcpus', 'memory_mb', 'extra_specs'} <= _Recording.read
    assert _Recording.read <= {*check.FLAVOR_FIELDS, 'extra_specs'}


def test_no_option_of_novas_that_is_read_decides(monkeypatch):
    """Options are not part of what distinguishes verdicts."""
    read = set()
    get = cfg.ConfigOpts._get

    def reading(self, name, group=None, namespace=None):
        if group is not None or name not in self._groups:
            read.add(name)
        return get(self, name, group, namespace)

    monkeypatch.setattr(cfg.ConfigOpts, '_get', reading)
    assert not problems(guests.flavor(), {
            'hw_cpu_policy': 'dedicated', 'os_secure_boot': 'required',
            'hw_firmware_type': 'uefi',
            'hw_tpm_version': '2.0', 'trait:A': 'required'})
    # The number of candidates that the scheduler asks placement for.
    assert read <= {'max_placement_results'}


@pytest.mark.parametrize(('name', 'value', 'gets'), [
    ('hw_tpm_model', 'tpm-tis', lambda guest: guest.vtmp),
    ('hw_tpm_model', 'tpm-tis', lambda guest: guest.ask('get_vtmp')),
    ('hw_time_hpet', 'true', lambda guest: guest.prop()),
    ('hw_time_hpet', 'true', lambda guest: 1 + guest.prop('hw_tpm_model'))])
def test_a_mistake_in_the_book_is_an_error_and_no_silence(
        monkeypatch, name, value, gets):
    properties = catalog_module.running()
    prop = properties[name]
    monkeypatch.setitem(properties, name, dataclasses.replace(
        prop, record=dataclasses.replace(prop.record, gets=gets)))
    with pytest.raises((AttributeError, TypeError)):
        problems(guests.flavor(), {name: value})


@pytest.mark.parametrize('mistake', [AttributeError, TypeError])
def test_a_mistake_in_a_check_is_an_error_and_no_refusal(monkeypatch, mistake):
    def check_that_is_wrong(flavor, image_meta):
        raise mistake('wrong')

    monkeypatch.setattr(
        refusals, 'checks', lambda: ((check_that_is_wrong, ()),))
    with pytest.raises(mistake):
        problems(guests.flavor(), {'hw_boot_menu': 'true'})


def test_what_nova_reads_one_by_one_only_is_the_fault_of_all(monkeypatch):
    def together(flavor, image):
        raise ValueError('together')

    monkeypatch.setattr(check.Guest, 'of', together)
    assert problems(guests.flavor(), {'hw_boot_menu': 'true'},
                    {'hw_pmu': 'true'}) == {errors.PARAMETER: (
        errors.UNREADABLE,
        'Nova cannot read the merged properties: together')}


@pytest.mark.parametrize('value', [3, None, ['0-1']])
def test_what_an_image_holds_that_is_no_text_is_still_unreadable(value):
    with pytest.raises(AttributeError):
        objects.ImageMeta.from_dict({'properties': {'hw_numa_cpus.0': value}})
    found = problems(guests.flavor(), {'hw_boot_menu': 'true'},
                     {'hw_numa_cpus.0': value})
    assert {code for code, _ in found.values()} == {errors.UNREADABLE}


# --- a resize -----------------------------------------------------------------

SOCKETS = ServerRecord.read({
    'image_os_glance_override:hw_cpu_sockets': '', 'image_hw_cpu_sockets': '2',
    'image_hw_serial_port_count': '4'})


@pytest.mark.parametrize(('vcpus', 'specs', 'blamed'), [
    (4, {}, set()),
    # Two sockets have no effect, and may have one again.
    (3, {}, set()),
    # The image's own value, which is left to Nova.
    (4, {'hw__serial_port_count': 1}, set()),
    (4, {'hw__cpu_max_sockets': 1}, {'hw_cpu_sockets'})])
def test_a_resize_is_refused_for_overrides_that_the_flavor_excludes(
        vcpus, specs, blamed):
    found = set()
    try:
        check.check_resize(guests.flavor(vcpus, **specs), SOCKETS,
                           guests.flavor(), check.problems)
    except errors.Invalid as refusal:
        found = {each.name for each in refusal.problems}
    assert found == blamed


def test_what_a_default_of_nova_compute_makes_ineffective_is_known():
    secure = ServerRecord.read({
        'image_hw_firmware_type': 'uefi', 'image_os_secure_boot': 'optional',
        'image_hw_machine_type': 'pc',
        'image_os_glance_override:hw_firmware_type': '',
        'image_os_glance_override:os_secure_boot': ''})
    assert check.ineffective(guests.flavor(), secure) == {'os_secure_boot'}


def test_what_a_flavor_excludes_is_not_taken_for_what_does_nothing():
    record = ServerRecord.read({
        'image_hw_firmware_type': 'uefi', 'image_hw_machine_type': 'pc',
        'image_os_glance_override:hw_machine_type': ''})
    flavor = guests.flavor(os__secure_boot='required')
    assert check.ineffective(flavor, record) == set()


def test_what_has_no_effect_with_a_flavor_is_known_where_nova_can_read_it():
    flavor = guests.flavor(3)
    assert check.ineffective(flavor, SOCKETS) == {'hw_cpu_sockets'}
    assert check.ineffective(flavor, ServerRecord.read(
        {**SOCKETS.metadata, 'image_hw_cpu_cores': 'x'})) == set()
