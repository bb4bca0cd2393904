"""Code that replaces, or goes beyond, a function of nova.virt.hardware."""

import hypothesis
from hypothesis import strategies as st
from nova import exception
from nova.virt import hardware as nova_hardware
import pytest

from nova_image_override.api.guest import guest as guest_module
from nova_image_override.api.guest import refusals
from nova_image_override.nova_interfaces import api as api_interfaces
from tests.unit.api.guest import guests

_limit = st.none() | st.integers(1, 12)


def refusal(function, *arguments):
    try:
        function(*arguments)
    except exception.NovaException as exc:
        return type(exc), exc.format_message()
    return None


@hypothesis.given(
    st.integers(1, 24), st.fixed_dictionaries({}, optional={
        f'hw_cpu_{name}': st.integers(1, 12) for name in (
            'sockets', 'cores', 'threads', 'max_sockets', 'max_cores',
            'max_threads')}),
    st.fixed_dictionaries({}, optional={
        f'hw__cpu_{name}': st.integers(1, 12) for name in (
            'sockets', 'cores', 'threads', 'max_sockets', 'max_cores',
            'max_threads')}))
@hypothesis.example(7, {f'hw_cpu_max_{name}': 2 for name in (
    'sockets', 'cores', 'threads')}, {})
@hypothesis.example(8, {f'hw_cpu_max_{name}': 2 for name in (
    'sockets', 'cores', 'threads')}, {})
def test_a_topology_is_refused_as_nova_refuses_it(vcpus, properties, specs):
    guest = guests.flavor(vcpus, **specs), guests.image(**properties)
    assert refusal(guest_module.check_cpu_topology, *guest) == refusal(
        nova_hardware.get_best_cpu_topology, *guest)


@pytest.mark.parametrize(('specs', 'properties', 'traits'), [
    ({'trait__X': 'forbidden'}, {'trait:X': 'required'}, {'X'}),
    ({'trait__X': 'forbidden'}, {'trait:Y': 'required'}, set()),
    ({'trait__X': 'required'}, {'trait:X': 'required'}, set()),
    ({'trait__X': 'required', 'trait__Y': 'forbidden'}, {}, set()),
    # In another request group, which other providers may satisfy.
    ({'trait1__X': 'forbidden'}, {'trait:X': 'required'}, set()),
    ({'trait_A__X': 'forbidden', 'resources_A__VGPU': 1},
     {'trait:X': 'required'}, set()),
    ({'trait__COMPUTE_SECURITY_UEFI_SECURE_BOOT': 'forbidden'},
     {'os_secure_boot': 'required', 'hw_firmware_type': 'uefi'},
     {'COMPUTE_SECURITY_UEFI_SECURE_BOOT'}),
    ({'trait__COMPUTE_SECURITY_TPM_2_0': 'forbidden'},
     {'hw_tpm_version': '2.0', 'trait:X': 'required'},
     {'COMPUTE_SECURITY_TPM_2_0'}),
])
def test_traits_that_one_request_group_requires_and_forbids(
        specs, properties, traits):
    assert refusals.forbidden_traits(
        guests.flavor(**specs), guests.image(**properties)) == traits


def test_every_check_of_the_table_is_in_this_nova_or_its_property_is_not():
    names = {check.__name__ for check, _ in refusals.checks()}
    for function in api_interfaces.CONSTRAINTS:
        assert (function.name in names) == hasattr(nova_hardware, function.name)
