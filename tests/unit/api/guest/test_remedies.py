"""A conflict names the flavor's extra spec, what agrees and who decides."""

import pytest

from nova_image_override import errors
from tests.unit.api.guest import test_constraints
from tests.unit.api.guest import test_validation

OPERATOR = 'extra specs are the operator\'s, so choose another flavor or ask'


def reasons(catalog, overrides, base=None, **specs):
    found = test_validation.problems(
        catalog, test_constraints.flavor(4, **{
            name.replace('__', ':'): value for name, value in specs.items()}),
        overrides, base or {})
    assert {code for code, _ in found.values()} == {errors.FLAVOR_CONFLICT}
    return {name: reason for name, (_, reason) in found.items()}


@pytest.mark.parametrize(('overrides', 'specs', 'parts'), [
    ({'hw_mem_page_size': '1048576'}, {}, [
        '1048576', 'the flavor has no hw:mem_page_size', 'any or large',
        OPERATOR]),
    ({'hw_mem_page_size': '2048'}, {'hw__mem_page_size': 'small'}, [
        'the flavor has hw:mem_page_size=small', 'any or large', OPERATOR]),
    ({'hw_cpu_policy': 'dedicated'}, {'hw__cpu_policy': 'shared'}, [
        'the flavor has hw:cpu_policy=shared', 'the same policy', OPERATOR]),
    ({'hw_cpu_policy': 'shared'}, {'hw__cpu_policy': 'dedicated'}, [
        'the flavor has hw:cpu_policy=dedicated', 'the same policy',
        OPERATOR]),
    ({'hw_cpu_thread_policy': 'isolate'}, {}, [
        'no hw:cpu_policy and no hw:cpu_thread_policy', 'dedicated vCPUs']),
    ({'hw_numa_nodes': '2'}, {'hw__numa_nodes': '1'}, [
        'the flavor has hw:numa_nodes=1', 'one without it', OPERATOR]),
    ({'hw_numa_nodes': '3'}, {}, [
        'the flavor has no hw:numa_nodes', '4 vCPUs and 1024 MiB']),
    ({'hw_cpu_max_sockets': '4'}, {'hw__cpu_max_sockets': '2'}, [
        'the flavor has hw:cpu_max_sockets=2', '4 vCPUs', OPERATOR]),
    ({'hw_cpu_sockets': '4'}, {'hw__cpu_max_sockets': '2'}, [
        'the flavor has hw:cpu_max_sockets=2', '4 vCPUs', OPERATOR]),
    ({'hw_locked_memory': 'true'}, {}, [
        'no hw:mem_page_size', 'needs hw:mem_page_size', OPERATOR]),
    ({'hw_pci_numa_affinity_policy': 'required'},
     {'hw__pci_numa_affinity_policy': 'legacy'}, [
        'the flavor has hw:pci_numa_affinity_policy=legacy',
        'the same value, or none', OPERATOR]),
])
def test_a_reason_says_what_the_flavor_has_and_what_agrees(
        catalog, overrides, specs, parts):
    (reason,) = set(reasons(catalog, overrides, **specs).values())
    for part in parts:
        assert part in reason
    assert len(reason) < 350


REALTIME = {'hw__cpu_realtime': 'yes', 'hw__cpu_policy': 'dedicated'}


@pytest.mark.parametrize('mask', ['^0-3', '0-3'])
def test_a_realtime_mask_is_to_blame_where_another_one_would_do(
        catalog, mask):
    found = reasons(catalog, {'hw_cpu_realtime_mask': mask}, **REALTIME)
    assert list(found) == ['hw_cpu_realtime_mask']
    assert 'leave one vCPU out and others in, as ^0 does' in found[
        'hw_cpu_realtime_mask']


def test_a_policy_is_to_blame_where_the_flavor_demands_another(catalog):
    found = reasons(catalog, {'hw_cpu_policy': 'dedicated'},
                    hw__cpu_dedicated_mask='0-1')
    assert list(found) == ['hw_cpu_policy']


def test_an_override_is_not_to_blame_for_what_no_value_of_it_ends(catalog):
    """The image's own policy is to blame."""
    found = reasons(
        catalog, {'hw_numa_nodes': '2', 'hw_boot_menu': 'true'},
        {'hw_cpu_policy': 'dedicated'}, hw__cpu_policy='shared')
    assert list(found) == [errors.PARAMETER]
    assert 'by themselves' in found[errors.PARAMETER]


NODES = {'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0-1',
         'hw_numa_cpus.1': '2-3', 'hw_numa_mem.0': '512',
         'hw_numa_mem.1': '512'}


@pytest.mark.parametrize(('wrong', 'names', 'reason'), [
    ({'hw_numa_mem.1': '256'}, ['hw_numa_mem.0', 'hw_numa_mem.1'],
     '768 MB of memory assigned, but expected 1024 MB'),
    # Nova has not got to the memory yet, which may be wrong as well.
    ({'hw_numa_cpus.1': '1-3'}, sorted(NODES),
     'CPU number 1 is assigned to two nodes'),
    ({'hw_numa_cpus.1': '3', 'hw_numa_mem.1': '1'}, sorted(NODES),
     'is not assigned to any node'),
])
def test_what_the_numa_lists_have_wrong_is_told_of_them(
        catalog, wrong, names, reason):
    found = reasons(catalog, {**NODES, **wrong})
    assert sorted(found) == names
    for each in found.values():
        assert reason in each
        assert 'have to give out its 4 vCPUs and 1024 MiB' in each
