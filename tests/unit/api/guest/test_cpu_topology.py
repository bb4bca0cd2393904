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


def numbers(prefix):
    return st.fixed_dictionaries({}, optional={
        f'{prefix}_cpu_{name}': st.integers(1, 12) for name in (
            'sockets', 'cores', 'threads', 'max_sockets', 'max_cores',
            'max_threads')})


@hypothesis.given(st.integers(1, 24), numbers('hw'), numbers('hw_'))
@hypothesis.example(7, {f'hw_cpu_max_{name}': 2 for name in (
    'sockets', 'cores', 'threads')}, {})
@hypothesis.example(8, {f'hw_cpu_max_{name}': 2 for name in (
    'sockets', 'cores', 'threads')}, {})
def test_a_topology_is_refused_as_nova_refuses_it(vcpus, properties, specs):
    guest = guests.flavor(vcpus, **specs), guests.image(**properties)
    assert refusal(guest_module.check_cpu_topology, *guest) == refusal(
        nova_hardware.get_best_cpu_topology, *guest)


@hypothesis.given(st.integers(1, 24), numbers('hw'), numbers('hw_'))
@hypothesis.example(8, {'hw_cpu_cores': 2}, {})
@hypothesis.example(4, {'hw_cpu_cores': 3}, {})
# Only a host without threads gives it two cores.
@hypothesis.example(
    6, {'hw_cpu_sockets': 1, 'hw_cpu_cores': 2, 'hw_cpu_threads': 2}, {})
def test_a_guest_gets_the_topology_that_nova_gives_it(
        vcpus, properties, specs):
    flavor, image = guests.flavor(vcpus, **specs), guests.image(**properties)
    try:
        # On hosts whose guests may have threads, and on others.
        best = [nova_hardware.get_best_cpu_topology(flavor, image, threads)
                for threads in (True, False)]
    except exception.NovaException:
        return
    guest = guest_module.Guest(flavor, image, properties)
    for name in 'sockets', 'cores', 'threads':
        field = f'hw_cpu_{name}'
        asked = properties.get(field)
        got = [getattr(each, name) for each in best]
        assert guest.topology(field) == (asked if asked in got else got[0])


def test_a_topology_that_is_impossible_is_left_to_nova_s_refusal():
    properties = {'hw_cpu_threads': 1, 'hw_cpu_max_sockets': 3,
                  'hw_cpu_max_cores': 1, 'hw_cpu_max_threads': 1}
    guest = guest_module.Guest(
        guests.flavor(8), guests.image(**properties), properties)
    assert guest.topology('hw_cpu_threads') == 1


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


def test_what_is_asked_in_vain_is_what_a_guest_with_threads_gets():
    guest = guest_module.Guest.of(guests.flavor(4), guest_module.boot_metadata(
        {}, {'hw_cpu_sockets': '1', 'hw_cpu_cores': '2',
             'hw_cpu_threads': '3'}))
    assert guest.topology('hw_cpu_threads') == 2


def test_every_check_of_the_table_is_in_this_nova_or_its_property_is_not():
    names = {check.__name__ for check, _ in refusals.checks()}
    for function in api_interfaces.CONSTRAINTS:
        assert (function.name in names) == hasattr(nova_hardware, function.name)
