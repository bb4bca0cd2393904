"""A guest, as flavor and image properties make it."""
from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from typing import Any, NamedTuple

from nova import exception
from nova import objects
import nova.conf
from nova.virt import hardware
from oslo_utils import strutils

from nova_image_override.override import ImageProperties

#: Raised by Nova's functions to refuse, and so by those here. ValueError is of
#: numbers in extra specs and properties; the last of
#: hardware.get_mem_encryption_constraint of Nova 26 to 28, without an image: it
#: wants to name its id. AttributeError and TypeError are mistakes of ours or
#: Nova's, and no refusals.
REFUSALS = (exception.NovaException, ValueError, NotImplementedError)


@dataclasses.dataclass(frozen=True)
class Guest:
    """Flavor and properties of a guest, of which the book asks what Nova makes.

    :ivar image_meta: ``nova.objects.ImageMeta``, with the merged properties
    :ivar properties: the same as Glance has them, for those that
        ``ImageMetaProps`` has no field for
    """

    flavor: Any
    image_meta: Any
    properties: ImageProperties

    @classmethod
    def of(cls, flavor: Any, image: dict[str, Any]) -> Guest:
        """Return the guest of a flavor and of boot metadata.

        :raises REFUSALS: Nova cannot read the properties
        """
        return cls(flavor, read(image), image['properties'])

    def without_specs(self, *names: str) -> Guest:
        """Return the same guest with a flavor that lacks some extra specs."""
        flavor = self.flavor.obj_clone()
        flavor.extra_specs = {
            name: value for name, value in self.flavor.extra_specs.items()
            if name not in names}
        return dataclasses.replace(self, flavor=flavor)

    def prop(self, field: str) -> Any:
        """Return the merged value of FIELD as Nova reads it, or None."""
        return self.image_meta.properties.get(field)

    def only(self, field: str, acts: bool) -> Any:
        """Return the merged value of FIELD if it acts, else None."""
        return self.prop(field) if acts else None

    def spec(self, name: str) -> str | None:
        """Return an extra spec of the flavor, or None."""
        value = self.flavor.extra_specs.get(name)
        return None if value is None else str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return an extra spec of the flavor that is a boolean."""
        return strutils.bool_from_string(self.spec(name), default=default)

    def ask(self, function: str) -> Any:
        """Call a function of ``nova.virt.hardware`` about the guest.

        :raises REFUSALS: what the function raises
        """
        return getattr(hardware, function)(self.flavor, self.image_meta)

    @property
    def has_stateless_firmware(self) -> bool:
        """True if the guest's firmware has no persistent variables."""
        return bool(hardware.get_stateless_firmware_constraint(self.image_meta))

    @property
    def architecture(self) -> Any:
        """The guest's architecture; None where it is the host's own.

        Follows LibvirtDriver._check_emulation_arch.
        """
        return (self.prop('hw_emulation_architecture')
                or self.prop('hw_architecture') or None)

    @property
    def default_architecture(self) -> Any:
        """The scheduler's default, if nova-api knows it."""
        options = nova.conf.CONF.filter_scheduler
        return options.image_properties_default_architecture

    def topology(self, field: str) -> Any:
        """Return the sockets, cores or threads that the guest gets."""
        asked = self.prop(field)
        # libvirt's guests may have threads, VMware's may not.
        found = [best_cpu_topology(self.flavor, self.image_meta, threads)
                 for threads in (True, False)]
        got = [getattr(best, field.removeprefix('hw_cpu_'))
               for best in found if best is not None]
        return asked if asked in got or not got else got[0]


def read(image: dict[str, Any]) -> Any:
    """Return the ``nova.objects.ImageMeta`` of boot metadata.

    :raises REFUSALS: Nova cannot read the properties
    """
    try:
        return objects.ImageMeta.from_dict(image)
    except (AttributeError, TypeError) as exc:
        # Images can hold what is no text: ImageMetaProps._set_numa_cpus has
        # hardware.parse_cpu_spec split it, and fields take int() of it.
        raise ValueError(str(exc)) from exc


def boot_metadata(
    image: Mapping[str, Any], properties: ImageProperties | None = None,
) -> dict[str, Any]:
    """Return IMAGE with what Nova's functions read of every image.

    A volume's metadata has no name, which the messages of nova.virt.hardware
    use, and a blank volume's has no status, which API._validate_flavor_image
    does.

    :param properties: what it is to have in place of its own
    """
    if properties is None:
        properties = image.get('properties', {})
    return {'status': 'active', 'name': '', **image,
            'properties': dict(properties)}


# --- CPU topologies ---------------------------------------------------------

class Topology(NamedTuple):
    """Sockets, cores per socket and threads per core."""

    sockets: int
    cores: int
    threads: int


def best_cpu_topology(
    flavor: Any, image_meta: Any, threads: bool = True,
) -> Topology | None:
    """Return the topology that hardware.get_best_cpu_topology prefers, if any.

    Only divisors are tried: hardware._get_possible_cpu_topologies takes a
    second to try all numbers up to 300 vCPUs.

    :param threads: whether cores may have several threads
    :raises nova.exception.NovaException: flavor and image do not agree
    """
    want, most = (
        Topology(each.sockets, each.cores, each.threads) for each
        in hardware.get_cpu_topology_constraints(flavor, image_meta))
    vcpus = flavor.vcpus
    divisors = [n for n in range(1, vcpus + 1) if vcpus % n == 0]
    every = (Topology(sockets, cores, vcpus // (sockets * cores))
             for sockets in divisors for cores in divisors
             if vcpus % (sockets * cores) == 0)
    return max(
        (each for each in every
         if each.sockets <= most.sockets and each.cores <= most.cores
         and each.threads <= (most.threads if threads else 1)),
        # hardware._sort_possible_cpu_topologies
        key=lambda each: (
            sum(a == b for a, b in zip(each, want)),
            each.sockets * each.cores, each.sockets),
        default=None)


def check_cpu_topology(flavor: Any, image_meta: Any) -> None:
    """Check as hardware.get_best_cpu_topology does.

    :raises nova.exception.ImageVCPULimitsRangeImpossible: none has as many
        vCPUs as the flavor
    """
    if best_cpu_topology(flavor, image_meta) is None:
        most = hardware.get_cpu_topology_constraints(flavor, image_meta)[1]
        raise exception.ImageVCPULimitsRangeImpossible(
            vcpus=flavor.vcpus, sockets=min(flavor.vcpus, most.sockets),
            cores=min(flavor.vcpus, most.cores),
            threads=min(flavor.vcpus, most.threads))
