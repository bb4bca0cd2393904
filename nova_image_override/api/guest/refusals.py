"""Conflicts of flavor and image properties, in Nova's own words.

Nova's functions are asked once, with the whole request; some of them it calls
where a refusal ends in the wrong HTTP status, or leaves the server in ERROR.
The exception says what is wrong, and a table says of which properties.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import dataclasses
import functools
import re
from typing import Any

from nova import exception
from nova import objects
from nova.scheduler import utils as scheduler_utils
from nova.virt import hardware
from oslo_utils import strutils
from oslo_utils import units

from nova_image_override import errors
from nova_image_override.api.guest.guest import (
    check_cpu_topology,
    Guest,
    read,
    REFUSALS,
)
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.override import Overrides
from nova_image_override.properties import book
from nova_image_override.properties import families

#: Most characters of a reason.
REASON_MAX = 300

#: Raises what Nova raises.
Check = Callable[[Any, Any], object]


def _video_ram(flavor: Any, image_meta: Any) -> None:
    """Check as LibvirtDriver._add_video_driver and vmwareapi's vmops do."""
    asked = image_meta.properties.get('hw_video_ram', 0)
    spec = 'hw_video:ram_max_mb'
    most = strutils.validate_integer(flavor.extra_specs.get(spec, 0), spec)
    if asked and asked > most:
        raise exception.RequestedVRamTooHigh(req_vram=asked, max_vram=most)


def _page_size(flavor: Any, image_meta: Any) -> None:
    """Check as NUMACell.can_fit_pagesize does, for a size that is named."""
    if not (flavor.extra_specs.get('hw:mem_page_size')
            or image_meta.properties.get('hw_mem_page_size')):
        return
    try:
        topology = hardware.numa_get_constraints(flavor, image_meta)
    except REFUSALS:  # Another check says so.
        return
    for cell in topology.cells if topology else ():
        # Names of sizes are negative numbers.
        size = cell.pagesize or 0
        if size > 0 and cell.memory * units.Ki % size:
            raise exception.MemoryPageSizeNotSupported(pagesize=f'{size} KiB')


def _ephemeral_encryption(flavor: Any, image_meta: Any) -> None:
    """Check as API._update_ephemeral_encryption_bdms does."""
    if hardware.get_ephemeral_encryption_constraint(flavor, image_meta):
        hardware.get_ephemeral_encryption_format(flavor, image_meta)


@functools.cache
def checks() -> tuple[tuple[Check, Sequence[str]], ...]:
    """Return Nova's checks, with the fields that the book says they read."""
    found: list[tuple[Check, Sequence[str]]] = [
        (function.get(), api_interfaces.CHECKED[function.name])
        for function in api_interfaces.CONSTRAINTS if function.needed]
    if api_interfaces.STATELESS_FIRMWARE.needed:
        found.append((
            lambda _, image: hardware.get_stateless_firmware_constraint(image),
            ('hw_firmware_stateless', 'hw_firmware_type')))
    return (*found, (_page_size, ()), (_ephemeral_encryption, ()),
            (_video_ram, ()), (check_cpu_topology, ()))


@dataclasses.dataclass(frozen=True)
class _Blame:
    """The properties to blame for one exception of Nova.

    :ivar groups: fields, separated by blanks; those of the first group that
        has any among the overrides are to blame
    :ivar advice: what to do, if it is not to choose the flavor that the book
        names
    :ivar says: the reason, in place of Nova's own sentence
    """

    groups: tuple[str, ...]
    advice: str = ''
    says: str = ''


_NODES = 'hw_numa_nodes hw_numa_cpus hw_numa_mem'
_LIMITS = 'hw_cpu_max_sockets hw_cpu_max_cores hw_cpu_max_threads'
_MEMORY = ('hw_mem_encryption_model', 'hw_mem_encryption')


def _dedicated_mask(guest: Guest) -> _Blame:
    """A flavor has a dedicated mask, without the mixed policy.

    hardware.get_cpu_policy_constraint prefers a flavor's own policy.
    """
    policy = guest.spec('hw:cpu_policy')
    if not policy:
        return _Blame(('hw_cpu_policy',), 'set hw_cpu_policy=mixed')
    return _Blame(
        ('hw_cpu_policy',), 'choose a flavor ' + (
            'with hw:cpu_policy=mixed, or without it'
            if guest.prop('hw_cpu_policy') == 'mixed'
            else 'without hw:cpu_dedicated_mask'),
        'hw:cpu_dedicated_mask needs the mixed policy, and the flavor has '
        f'hw:cpu_policy={policy}')


def _one_mask(guest: Guest) -> _Blame:
    """Nova raises the same for a flavor with two masks and with none."""
    if guest.spec('hw:cpu_dedicated_mask'):
        return _Blame(
            ('hw_cpu_policy',),
            'choose a flavor without hw:cpu_dedicated_mask',
            'the flavor has both hw:cpu_dedicated_mask and hw:cpu_realtime, '
            'and mixed takes the dedicated CPUs from one of them')
    return _Blame(
        ('hw_cpu_policy',), 'choose a flavor with hw:cpu_dedicated_mask, or '
        'with hw:cpu_realtime beside a realtime mask',
        'the flavor does not say which CPUs are dedicated')


#: Nova's exception -> who is to blame, or what finds that of the guest. Of what
#: is not here, Nova's sentence names the properties.
_TABLE: dict[str, _Blame | Callable[[Guest], _Blame]] = {
    'BadRequirementEmulatorThreadsPolicy': _Blame(
        ('hw_cpu_policy',), 'set hw_cpu_policy=dedicated'),
    'CPUThreadPolicyConfigurationInvalid': _Blame(
        ('hw_cpu_thread_policy', 'hw_cpu_policy'),
        'it needs hw_cpu_policy=dedicated (or mixed, with a flavor that has '
        'hw:cpu_dedicated_mask), and a flavor without hw:cpu_policy=shared'),
    'FlavorImageLockedMemoryConflict': _Blame(('hw_locked_memory',)),
    'ImageNUMATopologyAsymmetric': _Blame(
        ('hw_numa_nodes',), 'choose a number that divides the {vcpus} vCPUs '
        'and {memory_mb} MiB of the flavor, or assign them with '
        'hw_numa_cpus.N and hw_numa_mem.N'),
    'ImageNUMATopologyCPUDuplicates': _Blame(
        ('hw_numa_cpus',), 'assign each vCPU to one node'),
    'ImageNUMATopologyCPUsUnassigned': _Blame(
        ('hw_numa_cpus',),
        'assign each of the {vcpus} vCPUs of the flavor to one node'),
    'ImageNUMATopologyForbidden': _Blame((_NODES,)),
    'ImageNUMATopologyIncomplete': _Blame(
        (_NODES,), 'set hw_numa_nodes to the number of nodes, and for each of '
        'them hw_numa_cpus.N and hw_numa_mem.N'),
    'ImageNUMATopologyMemoryOutOfRange': _Blame(
        ('hw_numa_mem',), 'assign the {memory_mb} MiB of the flavor'),
    'ImageSerialPortNumberExceedFlavorValue': _Blame(
        ('hw_serial_port_count',)),
    'ImageVCPULimitsRangeExceeded': _Blame((_LIMITS,)),
    'ImageVCPULimitsRangeImpossible': _Blame(
        (_LIMITS,), 'raise a limit, so that sockets, cores and threads can '
        'make the {vcpus} vCPUs of the flavor'),
    'ImageVCPUTopologyRangeExceeded': _Blame(
        ('hw_cpu_sockets hw_cpu_cores hw_cpu_threads', _LIMITS),
        'stay within these limits'),
    'InvalidMachineType': _Blame(
        ('hw_machine_type', *_MEMORY), 'set hw_machine_type=q35',
        'encrypted memory needs another machine type'),
    'InvalidVideoMode': _Blame(
        ('hw_video_model', *_MEMORY), 'set hw_video_model=none',
        'this memory encryption takes no video device'),
    'LockMemoryForbidden': _Blame(
        ('hw_locked_memory',), 'choose a flavor with hw:mem_page_size'),
    'MemoryPageSizeForbidden': _Blame(
        ('hw_mem_page_size',),
        'choose a flavor with hw:mem_page_size=any or large'),
    'MemoryPageSizeNotSupported': _Blame(
        ('hw_mem_page_size', _NODES), 'choose a smaller page size, or a flavor '
        'with other memory than {memory_mb} MiB', 'the memory of each NUMA '
        'node must be a multiple of the page size'),
    'RealtimeConfigurationInvalid': _Blame(
        ('hw_cpu_policy',), 'set hw_cpu_policy=dedicated'),
    'RealtimeMaskNotFoundOrInvalid': _Blame(
        ('hw_cpu_realtime_mask',),
        'leave one vCPU out of hw_cpu_realtime_mask and others in, as ^0 does'),
    'RequestedVRamTooHigh': _Blame(
        ('hw_video_ram',),
        'choose a flavor with hw_video:ram_max_mb of at least {req_vram}'),
    'RequiredMixedInstancePolicy': _dedicated_mask,
    'NotImplementedError': _Blame(
        _MEMORY, 'boot from an image',
        'this Nova encrypts no memory of servers without one'),
    'RequiredMixedOrRealtimeCPUMask': _one_mask,
    'StatelessFirmwareRequired': _Blame(
        ('hw_firmware_stateless', *_MEMORY), 'set hw_firmware_stateless=true'),
}

#: Part of the sentence of an exception that says many things -> the same.
_SENTENCES = {
    "'hw_firmware_type' property": _Blame(
        ('hw_firmware_type', *_MEMORY), 'set hw_firmware_type=uefi',
        'encrypted memory needs UEFI firmware'),
    # Nova 31 to 33.
    'Stateless firmware is supported': _Blame(
        ('hw_firmware_stateless',), 'set hw_firmware_type=uefi'),
    'TPM model CRB': _Blame(
        ('hw_tpm_model hw_tpm_version',),
        'hw_tpm_model=tpm-tis goes with version 1.2'),
}

#: Properties from which Nova derives traits that the server's host needs
#: (ResourceRequest.from_request_spec), or without which it derives none.
_DERIVING = frozenset((
    'hw_firmware_stateless', 'hw_firmware_type', 'hw_maxphysaddr_mode',
    'hw_mem_encryption', 'hw_mem_encryption_model',
    'hw_pci_numa_affinity_policy', 'hw_tpm_model', 'hw_tpm_version',
    'os_secure_boot'))

#: Names of properties and extra specs in Nova's sentences.
_NAMES = re.compile(r'\b(?:(?:hw|os|img)[:_]\w+|trait:\w+)')


@dataclasses.dataclass
class Refusals:
    """Finds what Nova refuses of the guest of one request.

    :ivar guest: with the overrides
    :ivar image: boot metadata without them
    """

    guest: Guest
    image: dict[str, Any]
    overrides: Overrides

    def problems(self) -> Iterator[errors.Problem]:
        """Find what Nova refuses. A property can come up more than once."""
        agreed = True
        for check, fields in checks():
            if refusal := _refusal(check, self.guest):
                agreed = False
                yield from self._blamed(check, fields, refusal)
        if agreed:
            yield from self._forbidden_traits()

    def _blamed(
        self, check: Check, fields: Sequence[str], refusal: Exception,
    ) -> Iterator[errors.Problem]:
        sentence = _sentence(refusal)
        row = next(
            (row for part, row in _SENTENCES.items() if part in sentence),
            _TABLE.get(type(refusal).__name__))
        if row is None:
            row = _Blame((self._named(sentence),))
        elif not isinstance(row, _Blame):
            row = row(self.guest)
        groups = row.groups
        if self._own and (
                type(_refusal(check, self._own)) is type(refusal)):
            sentence = 'image and flavor conflict by themselves: ' + sentence
        else:
            groups = (*groups, ' '.join(fields))
        named = ([name for field in group.split()
                  for name in self._names_of(field, refusal)]
                 for group in groups)
        names = next(filter(None, named), [])
        for name in names:
            yield errors.Problem(name, errors.FLAVOR_CONFLICT,
                                 self._reason(name, row, refusal))
        if not names:
            # No override changes what the flavor itself says.
            advice = '' if any(
                rule.of(self.guest.flavor.extra_specs)
                for field in row.groups[0].split()
                if (rule := book.RECORDS[field].flavor)
            ) else self._advice(row, refusal)
            yield errors.Problem(
                errors.PARAMETER, errors.FLAVOR_CONFLICT,
                sentence[:REASON_MAX - len(advice)] + advice)

    def _named(self, sentence: str) -> str:
        """Return the overridden fields that a sentence of Nova's names."""
        names = {name if name in self.overrides
                 else name.replace(':', '_', 1)
                 for name in _NAMES.findall(sentence)}
        return ' '.join(dict.fromkeys(
            each.prop.field for each in self.overrides
            if names & {each.name, each.prop.field}))

    def _names_of(self, field: str, refusal: Exception) -> list[str]:
        """Return the overrides of FIELD that Nova's REFUSAL is about."""
        names = [each.name for each in self.overrides
                 if each.prop.field == field]
        found: dict[str, Any] = getattr(refusal, 'kwargs', {})
        kind = type(refusal).__name__
        if kind == 'ImageNUMATopologyForbidden':
            # Nova names only the first of those that the flavor has too.
            flavor = book.RECORDS[field].flavor
            return names if flavor and flavor.specs[
                0] in self.guest.flavor.extra_specs else []
        if kind == 'ImageNUMATopologyCPUDuplicates':
            lists = self.guest.prop('hw_numa_cpus')
            return [name for name in names
                    if self.overrides[name].value is not None
                    and found['cpunum']
                    in lists[int(families.NUMA_CPUS.rest_of(name))]]
        if kind in ('ImageVCPULimitsRangeExceeded',
                    'ImageVCPUTopologyRangeExceeded'):
            dimension = field.rpartition('_')[2]
            most = found.get(
                f'flavor_{dimension}', found.get(f'max_{dimension}'))
            return names if most and found[f'image_{dimension}'] > most else []
        return names

    def _reason(self, name: str, row: _Blame, refusal: Exception) -> str:
        """Return why the override called NAME is refused, and what to do."""
        guest = self.guest
        override = self.overrides[name]
        flavor = override.prop.record.flavor
        present = flavor.of(guest.flavor.extra_specs) if flavor else []
        says = row.says or _sentence(refusal)
        advice = self._advice(row, refusal)
        if flavor and present and not advice:
            # Nova's sentence quotes names of flavors and images instead.
            says = f'the flavor has {" and ".join(present)}'
            advice = '; ' + flavor.advice(
                guest.flavor.extra_specs, override.value)
        return says[:REASON_MAX - len(advice)] + advice

    def _advice(self, row: _Blame, refusal: Exception) -> str:
        flavor, found = self.guest.flavor, getattr(refusal, 'kwargs', {})
        return row.advice and '; ' + row.advice.format(**{
            **found, 'vcpus': flavor.vcpus, 'memory_mb': flavor.memory_mb})

    @functools.cached_property
    def _own(self) -> Guest | None:
        """The guest without overrides, if Nova can read the image."""
        try:
            return Guest.of(self.guest.flavor, self.image)
        except REFUSALS:
            return None

    def _forbidden_traits(self) -> Iterator[errors.Problem]:
        """Find the overrides that require a trait that the flavor forbids."""
        forbidden = forbidden_traits(self.guest.flavor, self.guest.image_meta)
        values = self.overrides.values
        blamed = {trait: [name] for trait in forbidden if values.get(
            name := families.TRAITS.member(trait)) is not None}
        blamed.update(self._deriving(forbidden - blamed.keys()))
        for trait in sorted(forbidden):
            for name in blamed[trait] or [errors.PARAMETER]:
                yield errors.Problem(
                    name, errors.FLAVOR_CONFLICT, 'the server needs what the '
                    f'flavor forbids with trait:{trait}=forbidden')

    def _deriving(self, traits: set[str]) -> dict[str, list[str]]:
        """Return the overrides without which Nova does not derive TRAITS.

        :returns: trait -> names; each override is left out once, for all
        """
        result: dict[str, list[str]] = {trait: [] for trait in traits}
        names = self.overrides.names
        for name in names & _DERIVING if traits else ():
            merged = self.overrides.only(names - {name}).merge(
                self.image['properties'])
            # CPU lists take long to read.
            image = {**self.image, 'properties': {
                each: value for each, value in merged.items()
                if not families.NUMA_CPUS.has(each)}}
            try:
                left = forbidden_traits(self.guest.flavor, read(image))
            except REFUSALS:
                continue
            for trait in traits - left:
                result[trait].append(name)
        return result


def _refusal(check: Check, guest: Guest) -> Exception | None:
    """Return what CHECK raises, if anything."""
    try:
        check(guest.flavor, guest.image_meta)
    except REFUSALS as exc:
        return exc
    return None


def _sentence(refusal: Exception) -> str:
    return (refusal.format_message()
            if isinstance(refusal, exception.NovaException)
            else str(refusal)).rstrip('.')


def forbidden_traits(flavor: Any, image_meta: Any) -> set[str]:
    """Return the required traits that the flavor forbids.

    Placement answers 400 to a request group that does both. What the image
    requires, by name or with another property (os_secure_boot), goes into the
    unnumbered group (ResourceRequest._process_image_meta), as the flavor's
    ``trait:NAME`` does. Only a flavor forbids what something else requires:
    the trait that hw_cpu_thread_policy requires or forbids,
    hardware.numa_get_constraints refuses first.
    """
    if not any(value == 'forbidden' and families.TRAITS.has(name)
               for name, value in flavor.extra_specs.items()):
        return set()
    group = scheduler_utils.ResourceRequest.from_request_spec(
        objects.RequestSpec(flavor=flavor, image=image_meta)
    ).get_request_group(None)
    return set(group.required_traits) & set(group.forbidden_traits)
