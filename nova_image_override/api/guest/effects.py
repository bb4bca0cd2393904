"""What is asked for takes effect or is refused.

Nova silently ignores some image properties, because another property or
something in the flavor is missing, or because the flavor says otherwise. This
module covers the cases that flavor and merged properties alone decide,
whatever driver and host build the server. Where a driver, a host, a network or
a volume decides, :mod:`nova_image_override.properties.descriptions` says so.
"""

import collections.abc
import dataclasses
import typing

from nova import exception
from nova import objects
from nova.objects import fields
from nova.virt import hardware
from oslo_utils import strutils

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.api.guest import constraints
from nova_image_override.api.guest import remedies
from nova_image_override.properties import catalog as catalog_module

#: What Nova's functions raise to refuse readable text.
_REFUSALS = (exception.NovaException, ValueError)


@dataclasses.dataclass(frozen=True)
class Guest:
    """What a guest is built from.

    :ivar flavor: ``nova.objects.Flavor``
    :ivar image_meta: ``nova.objects.ImageMeta``, with the merged properties
    :ivar properties: the same properties as Glance has them, for those that
        ``ImageMetaProps`` has no field for
    """

    flavor: typing.Any
    image_meta: typing.Any
    properties: override.ImageProperties

    def prop(self, field: str) -> typing.Any:
        """Return the merged value of FIELD as Nova reads it, or None."""
        return self.image_meta.properties.get(field)

    def spec(self, name: str) -> str | None:
        """Return an extra spec of the flavor, or None."""
        value = self.flavor.extra_specs.get(name)
        return None if value is None else str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return an extra spec of the flavor that is a boolean."""
        return strutils.bool_from_string(
            self.spec(name), default=default)

    def ask(
        self, function: collections.abc.Callable[..., typing.Any],
    ) -> typing.Any:
        """Return what a function of nova.virt.hardware makes of the guest."""
        return function(self.flavor, self.image_meta)


#: Returns what a guest gets of one property, in the type that Nova reads it
#: as. Anything but the value asked for means that Nova ignores that value.
Gets = collections.abc.Callable[[Guest], typing.Any]


@dataclasses.dataclass(frozen=True)
class Rule:
    """One property that Nova can ignore.

    :ivar gets: what the guest gets of it
    :ivar acts: what would make it take effect
    :ivar specs: extra specs of the flavor that Nova uses instead
    """

    gets: Gets
    acts: str = ''
    specs: tuple[str, ...] = ()


def _only(field: str, acts: collections.abc.Callable[[Guest], bool]) -> Gets:
    """Get the value asked for if ACTS holds, else None."""
    return lambda guest: guest.prop(field) if acts(guest) else None


def _is_realtime(guest: Guest) -> bool:
    return bool(hardware.is_realtime_enabled(guest.flavor))


def _encrypts_disks(guest: Guest) -> bool:
    """Follow API._update_ephemeral_encryption_bdms and the scheduler's filter.
    """
    return bool(guest.ask(hardware.get_ephemeral_encryption_constraint))


def _encrypts_memory(guest: Guest) -> bool:
    return bool(guest.ask(hardware.get_mem_encryption_constraint))


def _has_nodes(guest: Guest) -> bool:
    return guest.ask(hardware.numa_get_constraints) is not None


def _may_have_rng(guest: Guest) -> bool:
    """Follow LibvirtDriver._add_rng_device, which reads no property."""
    return guest.flag('hw_rng:allowed', True)


def _has_kernel(guest: Guest) -> bool:
    """Follow API._handle_kernel_and_ramdisk and LibvirtDriver._conf_non_lxc.
    """
    return guest.properties.get('kernel_id') not in (None, '', 'nokernel')


def _architecture(guest: Guest) -> str | None:
    """Follow LibvirtDriver._check_emulation_arch; None is the host's own."""
    return (guest.prop('hw_emulation_architecture')
            or guest.prop('hw_architecture'))


def _has_hpet(guest: Guest) -> bool:
    """Follow LibvirtDriver._set_kvm_timers."""
    return _architecture(guest) in (
        None, fields.Architecture.I686, fields.Architecture.X86_64)


def _is_uefi(guest: Guest) -> bool:
    """Follow LibvirtDriver._configure_guest_by_virt_type, where Arm is UEFI."""
    firmware = guest.prop('hw_firmware_type')
    return firmware == fields.FirmwareType.UEFI or (
        not firmware and _architecture(guest) == fields.Architecture.AARCH64)


def _has_display(guest: Guest) -> bool:
    """Follow how libvirt builds video devices; VMware reads no video model."""
    return (guest.prop('hw_video_model') != fields.VideoModel.NONE
            or guest.prop('img_hv_type') == fields.HVType.VMWARE)


def _secure_boot(guest: Guest) -> str:
    return (guest.prop('os_secure_boot') if _is_uefi(guest)
            else fields.SecureBoot.DISABLED)


def _hpet(guest: Guest) -> bool:
    return bool(_has_hpet(guest) and guest.prop('hw_time_hpet'))


def _pointer_model(guest: Guest) -> str | None:
    """Follow LibvirtDriver._get_pointer_bus_and_model."""
    bus = guest.prop('hw_input_bus') or fields.InputBus.USB
    return guest.prop('hw_pointer_model') \
        if bus == fields.InputBus.USB else None


def _hidden(guest: Guest) -> bool:
    """Follow LibvirtDriver._set_features."""
    return (guest.flag('hide_hypervisor_id')
            or guest.flag('hw:hide_hypervisor_id')
            or bool(guest.prop('img_hide_hypervisor_id')))


def _address_bits(guest: Guest) -> int | None:
    """Follow LibvirtDriver._get_guest_cpu_config_maxphysaddr."""
    if not (guest.spec('hw:maxphysaddr_mode')
            or guest.prop('hw_maxphysaddr_mode')):
        return None
    return int(guest.spec('hw:maxphysaddr_bits')
               or guest.prop('hw_maxphysaddr_bits'))


def _usb_model(guest: Guest) -> str | None:
    """Follow LibvirtDriver._guest_needs_usb, for the disks.

    Guests that need USB have libvirt's own model of controller.
    """
    return None if 'usb' in (
        guest.prop('hw_disk_bus'), guest.prop('hw_cdrom_bus')
    ) else guest.ask(hardware.get_usb_model)


def _iommu(guest: Guest) -> str:
    """Follow LibvirtDriver._get_iommu_model."""
    return guest.spec('hw:viommu_model') or guest.prop('hw_viommu_model')


def _tpm_model(guest: Guest) -> str | None:
    config = guest.ask(hardware.get_vtpm_constraint)
    return None if config is None else config.model


def _stateless(guest: Guest) -> bool:
    return bool(hardware.get_stateless_firmware_constraint(guest.image_meta))


def _locked(guest: Guest) -> bool:
    """Follow Nova 34; up to 33 only the libvirt driver knows everything."""
    return bool(guest.ask(hardware.get_locked_memory_constraint))


def _topology(dimension: int) -> Gets:
    """Return what the guest gets of sockets (0), cores (1) or threads (2)."""
    field = ('hw_cpu_sockets', 'hw_cpu_cores', 'hw_cpu_threads')[dimension]

    def gets(guest: Guest) -> int:
        asked = guest.prop(field)
        # libvirt's guests may have threads, VMware's may not.
        found = [best_topology(guest, threads) for threads in (True, False)]
        got = [best[dimension] for best in found if best is not None]
        return asked if asked in got or not got else got[0]

    return gets


def best_topology(
        guest: Guest, threads: bool) -> tuple[int, int, int] | None:
    """Return sockets, cores and threads as hardware.get_best_cpu_topology does.

    :returns: None where the limits leave no topology, which is a conflict
    """
    want, most = (
        (each.sockets, each.cores, each.threads) for each in
        guest.ask(hardware.get_cpu_topology_constraints))
    return max(
        ((s, c, t) for s, c, t in constraints.topologies(guest.flavor.vcpus)
         if s <= most[0] and c <= most[1]
         and t <= (most[2] if threads else 1)),
        # hardware._sort_possible_cpu_topologies
        key=lambda t: (sum(a == b for a, b in zip(t, want, strict=True)),
                       t[0] * t[1], t[0]),
        default=None)


_TOPOLOGY = (
    'sockets, cores and threads per core that are asked for must make the '
    'flavor\'s number of vCPUs between them, within the hw_cpu_max_* limits')
_NUMA = (
    'it needs hw_numa_nodes, and hw_numa_cpus.N and hw_numa_mem.N that give '
    'out the flavor\'s vCPUs and memory to that many nodes')

#: Fields that Nova can ignore.
RULES: dict[str, Rule] = {
    'hw_cpu_cores': Rule(_topology(1), _TOPOLOGY),
    'hw_cpu_policy': Rule(
        lambda guest: guest.ask(hardware.get_cpu_policy_constraint),
        specs=('hw:cpu_policy',)),
    'hw_cpu_realtime_mask': Rule(
        _only('hw_cpu_realtime_mask', _is_realtime),
        'it needs a flavor with hw:cpu_realtime=yes'),
    'hw_cpu_sockets': Rule(_topology(0), _TOPOLOGY),
    'hw_cpu_thread_policy': Rule(
        lambda guest: guest.ask(hardware.get_cpu_thread_policy_constraint),
        specs=('hw:cpu_thread_policy',)),
    'hw_cpu_threads': Rule(_topology(2), _TOPOLOGY),
    'hw_ephemeral_encryption_format': Rule(
        _only('hw_ephemeral_encryption_format', _encrypts_disks),
        'it needs hw_ephemeral_encryption=true'),
    'hw_firmware_stateless': Rule(
        _stateless, 'it needs hw_firmware_type=uefi'),
    'hw_locked_memory': Rule(
        _locked, 'it needs a server whose memory is not encrypted, which '
        'keeps it locked', specs=('hw:mem_encryption',)),
    'hw_maxphysaddr_bits': Rule(
        _address_bits, 'it needs hw_maxphysaddr_mode',
        specs=('hw:maxphysaddr_bits',)),
    'hw_mem_encryption_model': Rule(
        _only('hw_mem_encryption_model', _encrypts_memory),
        'it needs hw_mem_encryption=true'),
    'hw_numa_cpus': Rule(_only('hw_numa_cpus', _has_nodes), _NUMA),
    'hw_numa_mem': Rule(_only('hw_numa_mem', _has_nodes), _NUMA),
    'hw_pointer_model': Rule(
        _pointer_model,
        'it needs hw_input_bus=usb, or that property removed, which makes '
        'the pointer another one'),
    # Absent in Nova 31, as the property is.
    'hw_redirected_usb_ports': Rule(
        lambda guest: guest.ask(hardware.get_redirected_usb_ports),
        specs=('hw:redirected_usb_ports',)),
    'hw_rng_model': Rule(
        _only('hw_rng_model', _may_have_rng),
        specs=('hw_rng:allowed',)),
    'hw_serial_port_count': Rule(
        lambda guest: guest.ask(hardware.get_number_of_serial_ports),
        'Nova takes 0 for unset, so it needs at least 1'),
    'hw_time_hpet': Rule(
        _hpet, 'it needs an x86 guest, and hw_architecture or '
        'hw_emulation_architecture says another'),
    'hw_tpm_model': Rule(_tpm_model, 'it needs hw_tpm_version'),
    # Absent in Nova 31, as the property is.
    'hw_usb_model': Rule(
        _usb_model, 'it needs disks and CD-ROMs on another bus than usb',
        specs=('hw:usb_model',)),
    'hw_vif_multiqueue_enabled': Rule(
        lambda guest: guest.ask(hardware.get_vif_multiqueue_constraint),
        'it needs a flavor with at least 2 vCPUs'),
    'hw_video_ram': Rule(
        _only('hw_video_ram', _has_display),
        'it needs a display, and hw_video_model is none'),
    'hw_viommu_model': Rule(_iommu, specs=('hw:viommu_model',)),
    'img_hide_hypervisor_id': Rule(
        _hidden, specs=('hw:hide_hypervisor_id', 'hide_hypervisor_id')),
    'os_command_line': Rule(
        _only('os_command_line', _has_kernel),
        'it needs an image with a kernel image (kernel_id)'),
    'os_secure_boot': Rule(_secure_boot, 'it needs hw_firmware_type=uefi'),
}


def problems(
    catalog: catalog_module.Catalog, flavor: typing.Any,
    image: dict[str, typing.Any], base: override.ImageProperties,
    overrides: override.Overrides,
) -> collections.abc.Iterator[errors.Problem]:
    """Find the overrides that Nova would ignore.

    A property that is removed (None) might as well never have been there, and
    the image's own value applies anyway: neither is a problem. Nor is what
    Nova itself refuses, which :mod:`nova_image_override.api.guest.conflicts`
    names.

    :param catalog: the properties that can be named
    :param flavor: ``nova.objects.Flavor`` of the server
    :param image: boot metadata, with the merged properties
    :param base: the image's own properties
    :param overrides: what was merged over BASE
    """
    asked = {
        name: field for name, value in overrides.items()
        if value is not None
        and (field := catalog.field_of(name)) in RULES
        and not override.is_image_s_own(catalog, base, name, value)}
    if not asked:
        return
    try:
        image_meta = objects.ImageMeta.from_dict(image)
    except _REFUSALS:
        return
    guest = Guest(flavor, image_meta, image['properties'])
    found = {field: _problem(field, guest) for field in set(asked.values())}
    for name, field in asked.items():
        verdict = found[field]
        if verdict is not None:
            yield errors.Problem(name, *verdict)


def _problem(field: str, guest: Guest) -> tuple[str, str] | None:
    """Return code and reason if Nova ignores FIELD, else None."""
    rule = RULES[field]
    asked = guest.prop(field)
    try:
        if rule.gets(guest) == asked:
            return None
        winners = {name: value for name in rule.specs
                   if (value := guest.spec(name)) is not None}
        if winners and rule.gets(_without(winners, guest)) == asked:
            return errors.FLAVOR_CONFLICT, remedies.remedy(
                guest.flavor, field, 'the flavor has ' + ', '.join(
                    f'{name}={value}' for name, value in winners.items())
                + ', which Nova takes instead', winners)
    except _REFUSALS:
        return None
    return errors.NO_EFFECT, f'would do nothing: {rule.acts}'


def _without(
        specs: collections.abc.Collection[str], guest: Guest) -> Guest:
    """Return GUEST with a flavor that lacks SPECS."""
    flavor = guest.flavor.obj_clone()
    flavor.extra_specs = {
        name: value for name, value in flavor.extra_specs.items()
        if name not in specs}
    return dataclasses.replace(guest, flavor=flavor)
