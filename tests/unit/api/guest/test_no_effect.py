"""What nova-api makes of the cloud's drivers."""

import re

import pytest

from nova_image_override import errors
from nova_image_override.api.guest import no_effect
from nova_image_override.authorization.discovery_schema import Overridable
from nova_image_override.properties import book
from nova_image_override.properties import catalog
from tests.unit.strategies import overrides_of

LIBVIRT, VMWARE = frozenset({'libvirt'}), frozenset({'vmwareapi'})
MIXED = LIBVIRT | VMWARE


def problems(overrides, virt_drivers=VMWARE, base=()):
    merged = {**dict(base), **overrides}
    return {each.name: each for each in no_effect.on_hosts(
        virt_drivers, dict(base), merged, overrides_of(overrides))}


# --- what is refused --------------------------------------------------------

@pytest.mark.parametrize(('virt_drivers', 'overrides', 'base', 'refused'), [
    *((VMWARE, {name: value}, {}, True) for name, value in (
        ('hw_disk_bus', 'virtio'), ('hw_disk_bus', 'scsi'),
        ('hw_vif_model', 'virtio'), ('hw_video_ram', '32'),
        ('hw_boot_menu', 'true'), ('hw_numa_mem.0', '64'),
        # No code of Nova reads it.
        ('hw_ipxe_boot', 'true'))),
    # What a host acts on, or the scheduler.
    *((VMWARE, {name: value}, {}, False) for name, value in (
        ('hw_disk_bus', 'ide'), ('hw_vif_model', 'vmxnet3'),
        ('trait:CUSTOM_A', 'required'), ('img_hv_type', 'vmware'),
        ('hw_boot_menu', None))),
    # The other half may be the image's.
    (VMWARE, {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'vmpvscsi'}, {}, False),
    (VMWARE, {'hw_disk_bus': 'scsi'}, {'hw_scsi_model': 'lsilogic'}, False),
    # The image's own value is no problem.
    (VMWARE, {'hw_boot_menu': 'true'}, {'hw_boot_menu': 'True'}, False),
    (VMWARE, {'hw_boot_menu': 'true'}, {'hw_boot_menu': 'False'}, True),
    # Nothing is refused where something may act.
    *((drivers, {'hw_boot_menu': 'true'}, {}, False)
      for drivers in (LIBVIRT, MIXED, frozenset())),
    # What only other drivers read.
    (LIBVIRT, {'hw_disk_type': 'thin'}, {}, True),
    (MIXED, {'hw_disk_type': 'thin'}, {}, False),
    # An image without a value has none that is spelt so.
    (LIBVIRT, {'hw_disk_type': 'None'}, {}, True),
    # What guests have, though no driver reads it, is left to the flavor.
    (LIBVIRT, {'hw_rng_model': 'virtio'}, {}, False)])
def test_what_no_host_acts_on_is_refused(
        virt_drivers, overrides, base, refused):
    found = problems(overrides, virt_drivers, base)
    assert {name: each.code for name, each in found.items()} == (
        dict.fromkeys(overrides, errors.NO_EFFECT) if refused else {})


def test_a_reason_says_whether_the_server_would_be_built():
    found = problems({'hw_vif_model': 'virtio',
                               'hw_boot_menu': 'true'})
    assert found['hw_vif_model'].reason == (
        'the server would end in ERROR, or the property would do nothing, on '
        'any host of this cloud: vmwareapi takes e1000, e1000e, pcnet, sriov, '
        'vmxnet, vmxnet3')
    assert found['hw_boot_menu'].reason == (
        'would do nothing on any host of this cloud: vmwareapi does not read '
        'it')


def test_only_a_property_that_guests_have_anyway_may_lack_who_acts_on_it():
    """Else it would be one that every cloud refuses."""
    assert {name for name, record in book.RECORDS.items()
            if record.has_anyway} == {'hw_rng_model'}


# --- what is on offer ---------------------------------------------------------

@pytest.mark.parametrize(('virt_drivers', 'field', 'values', 'left'), [
    (VMWARE, 'hw_vif_model', ['virtio', 'e1000'], ['e1000']),
    (MIXED, 'hw_vif_model', ['virtio', 'e1000'], ['virtio', 'e1000']),
    (frozenset(), 'hw_vif_model', ['virtio', 'e1000'], ['virtio', 'e1000']),
    (LIBVIRT, 'hw_boot_menu', ['true', 'false'], ['true', 'false']),
    (VMWARE, 'hw_boot_menu', ['true', 'false'], []),
    # Text: of some a reader names the values, of some it takes any.
    (VMWARE, 'hw_disk_type', ['thin', 'other'], ['thin']),
    (LIBVIRT, 'hw_disk_type', ['thin', 'other'], []),
    (LIBVIRT, 'hw_machine_type', ['q35', 'other'], ['q35', 'other'])])
def test_values_on_offer_are_those_that_a_host_acts_on(
        virt_drivers, field, values, left):
    found = no_effect.limit(
        virt_drivers, Overridable(catalog.running()[field]))
    assert [value for each in found for value in values if not any(
        re.fullmatch(pattern, value) for pattern in each.denied)] == left


@pytest.mark.parametrize(('virt_drivers', 'field'), [
    (LIBVIRT, 'hw_boot_menu'), (MIXED, 'hw_scsi_model')])
def test_where_a_host_acts_on_every_value_none_is_compared(
        virt_drivers, field):
    (left,) = no_effect.limit(
        virt_drivers, Overridable(catalog.running()[field]))
    assert left.denied == ()


# --- what a check reports ---------------------------------------------------

def test_a_check_tells_which_drivers_ignore_a_property():
    def told(virt_drivers, **properties):
        return no_effect.by_driver(
            virt_drivers, next(iter(overrides_of(properties))), properties)

    assert told(MIXED, hw_boot_menu='true') == {
        'libvirt': 'acts', 'vmwareapi': 'ignored'}
    assert told(MIXED, hw_vif_model='virtio') == {
        'libvirt': 'acts', 'vmwareapi': 'error'}
    assert told(MIXED, hw_vif_model='e1000') == {}
    assert told(MIXED, hw_ipxe_boot='true') == {}
    assert told(frozenset(), hw_boot_menu='true') == {}
    assert told(VMWARE, hw_disk_bus='ide') == {}
    # Of one that is removed nothing is left to act.
    assert no_effect.by_driver(MIXED, next(iter(overrides_of(
        {'hw_vif_model': None}))), {}) == {}
