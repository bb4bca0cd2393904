"""Which overrides the flavor decides: those without which nothing changes."""

import pytest

from nova_image_override.api.flavor import decided_by
from nova_image_override.api.flavor import image_metadata
from tests.unit.api.flavor import test_constraints


def decides(catalog, overrides, image=(), **specs):
    properties = {**dict(image), **{
        name: value for name, value in overrides.items() if value is not None}}
    return decided_by.flavor_decides(
        catalog, test_constraints.flavor(4, **specs),
        image_metadata.with_properties({}, properties), overrides)


@pytest.mark.parametrize(('overrides', 'specs'), [
    ({'hw_cpu_policy': 'dedicated'}, {'hw__cpu_policy': 'dedicated'}),
    ({'hw_cpu_policy': None}, {'hw__cpu_policy': 'dedicated'}),
    ({'hw_cpu_max_sockets': '2'}, {'hw__cpu_max_sockets': '2'}),
    ({'hw_vif_multiqueue_enabled': 'true'},
     {'hw__vif_multiqueue_enabled': 'true'}),
    ({'img_hide_hypervisor_id': 'true'}, {'hide_hypervisor_id': 'true'}),
    ({'hw_pmu': 'false'}, {'hw__pmu': 'false'}),
])
def test_what_the_flavor_says_too_is_decided_by_it(
        catalog, overrides, specs):
    assert decides(catalog, overrides, **specs) == set(overrides)


@pytest.mark.parametrize(('overrides', 'specs'), [
    ({'hw_cpu_policy': 'dedicated'}, {}),
    ({'hw_mem_page_size': '2048'}, {'hw__mem_page_size': 'any'}),
    ({'hw_cpu_max_sockets': '1'}, {'hw__cpu_max_sockets': '2'}),
    ({'hw_numa_nodes': '2'}, {'hw__cpu_policy': 'dedicated'}),
    # libvirt takes the image's value, which none of Nova's functions reads.
    ({'hw_watchdog_action': 'reset'}, {'hw__watchdog_action': 'reset'}),
    ({'hw_disk_bus': 'ide'}, {'hw__disk_bus': 'ide'}),
    ({'trait:CUSTOM_A': 'required'}, {'trait__CUSTOM_A': 'required'}),
])
def test_what_would_be_another_without_it_is_not(catalog, overrides, specs):
    assert not decides(catalog, overrides, **specs)


def test_each_override_is_one_of_its_own(catalog):
    assert decides(
        catalog, {'hw_cpu_policy': 'dedicated', 'hw_numa_nodes': '2',
                  'hw_mem_page_size': 'small', 'hw_boot_menu': 'true'},
        hw__cpu_policy='dedicated', hw__mem_page_size='any',
    ) == {'hw_cpu_policy'}


def test_cpu_lists_that_take_long_to_expand_are_not_expanded(catalog):
    """The image may have lists of any length."""
    lists = {'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0-1,' * 20_000 + '0',
             'hw_numa_cpus.1': '2-3', 'hw_numa_mem.0': '512',
             'hw_numa_mem.1': '512'}
    assert decides(catalog, {'hw_cpu_policy': 'dedicated'}, lists.items(),
                   hw__cpu_policy='dedicated') == {'hw_cpu_policy'}
