"""Nova's functions that check flavor and image, with one signature."""

import collections.abc
import functools
import typing

from nova import exception
from nova import objects
from nova.scheduler import utils as scheduler_utils
from nova.virt import hardware

from nova_image_override.nova_interfaces import api as api_interfaces

#: Raises what Nova raises, and returns what Nova makes of flavor and image.
Check = collections.abc.Callable[[typing.Any, typing.Any], typing.Any]

#: What Nova's functions raise to refuse. ImageMeta.from_dict and
#: parse_cpu_spec raise those that are not Nova's, for what images hold.
REFUSALS = (exception.NovaException, ValueError, TypeError, AttributeError)


def _stateless_firmware(flavor: typing.Any, image_meta: typing.Any) -> bool:
    return hardware.get_stateless_firmware_constraint(image_meta)


def _video_ram(flavor: typing.Any, image_meta: typing.Any) -> int:
    """Check as LibvirtDriver._add_video_driver and vmwareapi's vmops do."""
    asked = image_meta.properties.get('hw_video_ram', 0)
    if asked:
        limit = int(flavor.extra_specs.get('hw_video:ram_max_mb', 0))
        if asked > limit:
            raise exception.RequestedVRamTooHigh(
                req_vram=asked, max_vram=limit)
    return asked


def _ephemeral_encryption(
        flavor: typing.Any, image_meta: typing.Any) -> typing.Any:
    """Check as API._update_ephemeral_encryption_bdms does.

    :returns: the format; False without encryption
    """
    return hardware.get_ephemeral_encryption_constraint(
        flavor, image_meta) and hardware.get_ephemeral_encryption_format(
            flavor, image_meta)


def topologies(
    vcpus: int,
) -> collections.abc.Iterator[tuple[int, int, int]]:
    """Yield the sockets, cores and threads that make up VCPUS.

    nova.virt.hardware._get_possible_cpu_topologies tries each combination up
    to the number of vCPUs, which takes a second for 300 of them; only its
    divisors are tried here.
    """
    divisors = [n for n in range(1, vcpus + 1) if vcpus % n == 0]
    for sockets in divisors:
        for cores in divisors:
            if vcpus % (sockets * cores) == 0:
                yield sockets, cores, vcpus // (sockets * cores)


def cpu_topology(
    flavor: typing.Any, image_meta: typing.Any,
) -> tuple[typing.Any, typing.Any]:
    """Check as get_best_cpu_topology does.

    :returns: ``VirtCPUTopology`` of what is preferred, and of the limits
    :raises exception.ImageVCPULimitsRangeImpossible: no topology has as many
        vCPUs as the flavor
    """
    wanted, most = hardware.get_cpu_topology_constraints(flavor, image_meta)
    if not any(
            sockets <= most.sockets and cores <= most.cores
            and threads <= most.threads
            for sockets, cores, threads in topologies(flavor.vcpus)):
        raise exception.ImageVCPULimitsRangeImpossible(
            vcpus=flavor.vcpus, sockets=min(flavor.vcpus, most.sockets),
            cores=min(flavor.vcpus, most.cores),
            threads=min(flavor.vcpus, most.threads))
    return wanted, most


def forbidden_traits(
        flavor: typing.Any, image_meta: typing.Any) -> set[str]:
    """Return the required traits that the flavor forbids.

    Placement answers 400 to a request group that does both. What the image
    requires, by name or with another property (os_secure_boot), goes into the
    unnumbered group (ResourceRequest._process_image_meta), as the flavor's
    ``trait:NAME`` does. ``traitN:NAME`` belongs to another group, which other
    providers may satisfy.
    """
    group = scheduler_utils.ResourceRequest.from_request_spec(
        objects.RequestSpec(flavor=flavor, image=image_meta)
    ).get_request_group(None)
    return set(group.required_traits) & set(group.forbidden_traits)


@functools.cache
def checks() -> tuple[Check, ...]:
    """Return the checks that Nova makes in the API or the compute service.

    :func:`forbidden_traits` is the scheduler's, for what passes these.
    """
    return (
        *(function.get() for function in api_interfaces.CONSTRAINTS
          if function.needed),
        _ephemeral_encryption, _stateless_firmware, _video_ram, cpu_topology)
