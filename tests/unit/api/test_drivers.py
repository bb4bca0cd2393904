"""What nova-api makes of the cloud's drivers."""

import threading

import pytest

from nova_image_override import errors
from nova_image_override.api import cloud_drivers
from nova_image_override.api import driver_effects
from nova_image_override.properties import drivers

VMWARE = cloud_drivers.CloudDrivers(frozenset({'vmwareapi'}))
MIXED = cloud_drivers.CloudDrivers(frozenset({'libvirt', 'vmwareapi'}))


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def problems(catalog, overrides, cloud=VMWARE, base=()):
    merged = {**dict(base), **overrides}
    return {each.name: each for each in driver_effects.problems(
        catalog, cloud, dict(base), merged, overrides)}


# --- what is known ----------------------------------------------------------

def test_the_cells_are_asked_once_a_minute(clock):
    asked = []
    memory = cloud_drivers.Memory(lambda: asked.append(1) or VMWARE, clock)
    assert asked == []
    for clock.now in (0, 59.9):
        assert memory.known() is VMWARE
    assert len(asked) == 1
    clock.now = 60
    memory.known()
    assert len(asked) == 2


def test_what_could_not_be_known_is_not_asked_for_again_at_once(clock):
    asked = []
    memory = cloud_drivers.Memory(lambda: asked.append(1), clock)
    assert [memory.known(), memory.known()] == [None, None]
    assert len(asked) == 1


def test_while_one_request_asks_others_have_what_was_known(clock):
    answers = [VMWARE]
    begun, end = threading.Event(), threading.Event()

    def ask():
        if answers:
            return answers.pop()
        begun.set()
        assert end.wait(10)
        return MIXED

    memory = cloud_drivers.Memory(ask, clock)
    assert memory.known() is VMWARE
    clock.now = 61
    thread = threading.Thread(target=memory.known)
    thread.start()
    assert begun.wait(10)
    assert memory.known() is VMWARE
    end.set()
    thread.join()
    assert memory.known() is MIXED


@pytest.mark.parametrize(('types', 'expected'), [
    (set(), None), ({'fake'}, None), ({'QEMU', 'LXC'}, None),
    ({'QEMU'}, {'libvirt'}),
    ({'VMware vCenter Server', 'ironic', 'zvm'},
     {'vmwareapi', 'ironic', 'zvm'})])
def test_hypervisor_types_are_of_drivers_where_all_are_known(types, expected):
    assert drivers.of_types(types) == expected


# --- what is refused --------------------------------------------------------

@pytest.mark.parametrize('overrides', [
    {'hw_disk_bus': 'virtio'}, {'hw_disk_bus': 'scsi'},
    {'hw_vif_model': 'virtio'}, {'hw_video_ram': '32'},
    {'hw_boot_menu': 'true'}, {'hw_numa_mem.0': '64'}])
def test_what_no_host_acts_on_is_refused(catalog, overrides):
    found = problems(catalog, overrides)
    assert {each.code for each in found.values()} == {errors.NO_EFFECT}
    assert found.keys() == overrides.keys()


@pytest.mark.parametrize('overrides', [
    {'hw_disk_bus': 'ide'},
    {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'vmpvscsi'},
    {'hw_vif_model': 'vmxnet3'}, {'trait:CUSTOM_A': 'required'},
    {'img_hv_type': 'vmware'},
    # No Nova code reads it: it is for host aggregates.
    {'hw_ipxe_boot': 'true'},
    {'hw_boot_menu': None}])
def test_what_a_host_acts_on_or_the_scheduler_is_not(catalog, overrides):
    assert problems(catalog, overrides) == {}


@pytest.mark.parametrize('cloud', [
    None, MIXED, cloud_drivers.CloudDrivers(frozenset({'libvirt'})),
    cloud_drivers.CloudDrivers(
        frozenset({'vmwareapi'}), frozenset({'hw_boot_menu'}))])
def test_nothing_is_refused_where_something_may_act(catalog, cloud):
    assert problems(catalog, {'hw_boot_menu': 'true'}, cloud) == {}


def test_the_other_half_may_be_the_image_s(catalog):
    assert problems(catalog, {'hw_disk_bus': 'scsi'},
                    base={'hw_scsi_model': 'lsilogic'}) == {}


def test_the_image_s_own_value_is_no_problem(catalog):
    assert problems(catalog, {'hw_boot_menu': 'true'},
                    base={'hw_boot_menu': 'True'}) == {}


def test_a_reason_says_whether_the_server_would_be_built(catalog):
    found = problems(catalog, {'hw_vif_model': 'virtio',
                               'hw_boot_menu': 'true'})
    assert found['hw_vif_model'].reason == (
        'the server would end in ERROR, or do nothing of it on any host of '
        'this cloud: vmwareapi takes e1000, e1000e, pcnet, sriov, vmxnet, '
        'vmxnet3')
    assert found['hw_boot_menu'].reason == (
        'would do nothing on any host of this cloud: vmwareapi does not read '
        'it')


# --- what a check reports ---------------------------------------------------

def test_a_check_tells_which_drivers_ignore_a_property(catalog):
    def told(cloud, **properties):
        return driver_effects.by_driver(
            catalog, cloud, next(iter(properties)), properties)

    assert told(MIXED, hw_boot_menu='true') == {
        'libvirt': 'acts', 'vmwareapi': 'ignored'}
    assert told(MIXED, hw_vif_model='virtio') == {
        'libvirt': 'acts', 'vmwareapi': 'error'}
    assert told(MIXED, hw_vif_model='e1000') == {}
    assert told(MIXED, hw_ipxe_boot='true') == {}
    assert told(None, hw_boot_menu='true') == {}
    assert told(VMWARE, hw_disk_bus='ide') == {}
