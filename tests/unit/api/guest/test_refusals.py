"""Whom a refusal names, and what it says."""

from nova import exception
import pytest

from nova_image_override import errors
from nova_image_override.api.guest import refusals
from tests.unit.api.guest import guests
from tests.unit.api.guest.test_law import NODES
from tests.unit.api.guest.test_law import PINNED


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


@pytest.mark.parametrize(('overrides', 'specs', 'reason'), [
    ({'hw_mem_encryption': 'true'}, {},
     'encrypted memory needs UEFI firmware; set hw_firmware_type=uefi'),
    ({'hw_serial_port_count': '2'}, {'hw:serial_port_count': '1'},
     'the flavor has hw:serial_port_count=1; choose a flavor with '
     'hw:serial_port_count of at least 2'),
    ({'hw_rng_model': 'virtio'}, {'hw_rng:allowed': 'False'},
     'the flavor has hw_rng:allowed=False, which Nova takes instead; choose a '
     'flavor with hw_rng:allowed=True'),
    ({'hw_cpu_policy': 'shared'}, {'hw:cpu_policy': 'dedicated'},
     'the flavor has hw:cpu_policy=dedicated, which Nova takes instead; '
     'choose a flavor with hw:cpu_policy=shared, or without it'),
    ({'hw_mem_page_size': '2048'}, {'hw:mem_page_size': 'small'},
     "Page size 2048 forbidden against 'small'; choose a flavor with "
     'hw:mem_page_size=any or large'),
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
])
def test_a_reason_is_one_sentence_why_and_one_what_to_do(
        overrides, specs, reason):
    ((name, found),) = guests.problems(overrides, specs).items()
    assert [name] == list(overrides)
    assert found[1] == reason


def test_a_list_that_is_removed_is_no_list_with_a_vcpu_of_another():
    own = {'hw_numa_nodes': '3', **{
        f'hw_numa_{kind}.{node}': '1' for kind in ('cpus', 'mem')
        for node in range(3)}}
    assert sorted(guests.problems({
        'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0-1',
        'hw_numa_cpus.2': None, 'hw_numa_mem.2': None}, base=own)) == [
            'hw_numa_cpus.0']


def test_a_policy_is_to_blame_where_the_flavor_demands_another():
    found = guests.problems({'hw_cpu_policy': 'dedicated'},
                {'hw:cpu_dedicated_mask': '0-1'})
    assert list(found) == ['hw_cpu_policy']


def test_an_override_is_not_to_blame_for_what_no_value_of_it_ends():
    """The image's own policy is to blame."""
    found = guests.problems(
        {'hw_numa_nodes': '2', 'hw_boot_menu': 'true'},
        {'hw:cpu_policy': 'shared'}, {'hw_cpu_policy': 'dedicated'})
    assert list(found) == [errors.PARAMETER]
    assert 'by themselves' in found[errors.PARAMETER][1]


def test_the_exceptions_of_the_table_are_nova_s():
    # Nova 34 has brought stateless firmware for encrypted memory; the second
    # is Python's.
    assert {name for name in refusals._TABLE if not hasattr(exception, name)
            } <= {'StatelessFirmwareRequired', 'NotImplementedError'}
