"""The terms in which the book describes an image property."""
from __future__ import annotations

from collections.abc import Callable, Mapping
import dataclasses
import functools
import types
from typing import Any

from nova_image_override.properties import cpu_lists

#: Virt drivers: module in nova/virt -> the name that people know.
DRIVERS: Mapping[str, str] = types.MappingProxyType({
    'libvirt': 'libvirt (KVM, QEMU)', 'vmwareapi': 'VMware vSphere',
    'ironic': 'Ironic (bare metal)', 'zvm': 'IBM z/VM',
    'fake': 'fake (tests)'})

SCHEDULER = 'scheduler'
API = 'nova-api'

#: The parts of Nova that read properties.
PARTS = (*DRIVERS, SCHEDULER, API)

#: ``compute_nodes.hypervisor_type`` -> driver. Nothing is known about others:
#: libvirt also reports LXC or Parallels, whose guests have little of this.
HYPERVISOR_TYPES: Mapping[str, str] = types.MappingProxyType({
    'QEMU': 'libvirt', 'VMware vCenter Server': 'vmwareapi',
    'ironic': 'ironic', 'zvm': 'zvm', 'fake': 'fake'})

# --- outcomes ---------------------------------------------------------------
#: It does what the property says.
ACTS = 'acts'
#: It has no effect.
IGNORED = 'ignored'
#: The server ends in ERROR, or is never built.
ERROR = 'error'
#: The same whatever the driver, of what image and overrides say.
UNSCHEDULED = 'unscheduled'

# --- when Nova decides ------------------------------------------------------
#: Whenever the guest is defined.
AT_START = 'start'
#: When the guest is built with its disks. What else it has, a start keeps: its
#: NVRAM (LibvirtDriver.cleanup), and since Nova 33 the firmware that belongs to
#: it (LibvirtDriver._copy_guest_firmware_elements). A host may have come to
#: Nova 33 before the next start.
AT_BUILD = 'build'
#: When a server is given a host.
AT_UNSHELVE = 'unshelve'
#: Only when the server is created.
AT_CREATE = 'create'


@dataclasses.dataclass(frozen=True)
class Reader:
    """A part of Nova that reads a property, and the effect of the property.

    Which functions those are is in docs/source/_ext/readers.py.

    :ivar part: the part, of :data:`PARTS`
    :ivar outcome: the effect of a value
    :ivar values: the values that have OUTCOME; None for all
    :ivar otherwise: the effect of any other value
    :ivar needs: value ('' for any) -> another property, and the value that it
        must have ('' for any), without which the outcome is OTHERWISE
    :ivar note: why no value acts, in words
    """

    part: str
    outcome: str = ACTS
    values: tuple[str, ...] | None = None
    otherwise: str = IGNORED
    needs: Mapping[str, tuple[str, str]] = dataclasses.field(
        default_factory=dict)
    note: str = ''

    def outcome_of(
        self, value: str, properties: Mapping[str, object] | None,
    ) -> str:
        """Return the outcome of VALUE with a server's other PROPERTIES.

        :param properties: None for those that it needs
        """
        if self.values is not None and value not in self.values:
            return self.otherwise
        if properties is None:
            return self.outcome
        for name, wanted in (each for key, each in self.needs.items()
                             if key in ('', value)):
            if properties.get(name) is None or wanted not in (
                    '', str(properties[name])):
                return self.otherwise
        return self.outcome

    @property
    def limits(self) -> str:
        """The values and properties that the part needs, in words."""
        words = [f'takes {", ".join(self.values)}'] if self.values else []
        words += [f'needs {name}{"=" * bool(wanted)}{wanted}'
                  f'{" for " * bool(value)}{value}'
                  for value, (name, wanted) in self.needs.items()]
        return f'{self.part} ' + (
            ', and '.join(words) or f'cannot: {self.note}')


#: Drivers that act on every value.
LIBVIRT, VMWARE = map(Reader, ('libvirt', 'vmwareapi'))
#: Hosts are picked by it, whatever their driver.
CHOOSES = Reader(SCHEDULER)
#: Without any of these, ImagePropertiesFilter._instance_supported compares
#: nothing.
COMPARED = ('hw_architecture', 'img_hv_type', 'hw_vm_mode')


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of a value that Nova does not state.

    :ivar minimum: smallest integer taken
    :ivar maximum: largest integer taken; 0 if the value is no integer
    :ivar pattern: regular expression (ECMA 262 and Python) of the value
    :ivar expects: PATTERN in words, for the message of a refusal
    :ivar values: all values there are, of a field that is any text to Nova
    :ivar cpu_list: the value is a CPU list, to be bounded
    :ivar size: the value may be a size with a unit, which is stored in KiB
    """

    minimum: int = 0
    maximum: int = 0
    pattern: str | None = None
    expects: str | None = None
    values: tuple[str, ...] = ()
    cpu_list: bool = False
    size: bool = False


def number(maximum: int, minimum: int = 1) -> Limits:
    """Return the limits of an integer."""
    return Limits(minimum, maximum)


_ID = r'(?:0|[1-9][0-9]{0,3})'
_ITEM = rf'\^?{_ID}(?:-{_ID})?'
CPU_LIST = Limits(
    pattern=rf'^{_ITEM}(?:,{_ITEM})*$', cpu_list=True,
    expects='a CPU list such as 0-3,^2,5, without blanks, of ids up to '
            f'{cpu_lists.CPU_ID_MAX}')
WORD = Limits(pattern=r'^[A-Za-z0-9][A-Za-z0-9._-]*$',
              expects='letters, digits, ".", "_" and "-"')


#: Part of descriptions.
VMWARE_ONLY = 'Acts with VMware only.'


@dataclasses.dataclass(frozen=True)
class Flavor:
    """The way in which a flavor and the property agree.

    :ivar specs: the flavor's extra specs that Nova compares with the property,
        or takes instead of it
    :ivar agrees: which flavor agrees with a ``{value}``; ``{spec}`` stands for
        that one of SPECS which the present one has
    """

    specs: tuple[str, ...]
    agrees: str

    def of(self, extra_specs: Mapping[str, str]) -> list[str]:
        """Return the extra specs among EXTRA_SPECS, as ``name=value``."""
        return [f'{name}={extra_specs[name]}' for name in self.specs
                if name in extra_specs]

    def advice(self, extra_specs: Mapping[str, str], value: str | None) -> str:
        """Return which flavor to choose instead of one with EXTRA_SPECS."""
        present = [name for name in self.specs if name in extra_specs]
        agrees = 'without {spec}' if len(present) > 1 or value is None \
            else self.agrees
        return 'choose a flavor ' + agrees.format(
            spec=' and '.join(present), value=value)


def same(*specs: str) -> Flavor:
    """Return the rule that a flavor must have the same value, or none."""
    return Flavor(specs, 'with {spec}={value}, or without it')


def at_most(spec: str) -> Flavor:
    """Return the rule that a flavor must permit as much."""
    return Flavor((spec,), 'with {spec} of at least {value}')


def without(*specs: str) -> Flavor:
    """Return the rule that a flavor must have none of SPECS."""
    return Flavor(specs, 'without {spec}')


#: Architectures to which Nova gives other devices by default.
PPC = ('ppc', 'ppc64', 'ppc64le')

#: Machine types of QEMU, as shell-style patterns: libvirt's
#: qemuDomainMachineIsI440FX, IsQ35 and IsARMVirt.
PC = ('pc', 'pc-i440fx-*', 'pc-0.*', 'pc-1.*')
Q35 = ('q35', 'pc-q35-*')
VIRT = ('virt', 'virt-*')


@dataclasses.dataclass(frozen=True)
class Excludes:
    """What no guest has beside some values of a property.

    All values are shell-style patterns.

    :ivar name: the other property; ``hw_architecture`` stands for the guest's
        architecture, which hw_emulation_architecture decides if it is set
    :ivar values: its values that are excluded
    :ivar says: the sentence of Nova or of libvirt
    :ivar advice: what to do
    :ivar of: the values of the property itself
    :ivar but: those of VALUES that are not excluded
    :ivar outcome: what comes of both together: ERROR or IGNORED with libvirt,
        or UNSCHEDULED
    :ivar unless: a third property, beside which they are not excluded
    """

    name: str
    values: tuple[str, ...]
    says: str
    advice: str
    of: tuple[str, ...] = ('*',)
    but: tuple[str, ...] = ()
    outcome: str = ERROR
    unless: str = ''

    @property
    def words(self) -> str:
        """The same for people."""
        whose = '' if self.of == ('*',) else f'{", ".join(self.of)} '
        only, which = ('only', self.but) if self.but else ('not', self.values)
        values = '' if which == ('*',) else f' {", ".join(which)}'
        return f'{whose}{only} with {self.name}{values}' + (
            f' without {self.unless}' * bool(self.unless))


def no_usb(advice: str, *of: str) -> tuple[Excludes, ...]:
    """Return the rows of what needs a USB controller.

    Nova disables it where no disk or input device is on that bus
    (LibvirtDriver._guest_add_usb_root_controller).
    """
    says = 'USB is disabled for this domain'
    return (Excludes('hw_usb_model', ('none',), says, advice, of=of),
            Excludes('hw_input_bus', ('virtio',), says,
                     'set hw_usb_model=qemu-xhci', of=of,
                     unless='hw_usb_model'))


#: The value that a guest gets, in the type that Nova reads it as, from
#: :class:`nova_image_override.api.guest.guest.Guest`. Anything but the value
#: asked for means that Nova ignores that value.
Gets = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class Record:
    """One image property.

    :ivar name: the field of ``ImageMetaProps``
    :ivar text: its effect, with the unit of its value
    :ivar readers: the parts of Nova that read it; by default libvirt alone
    :ivar limits: what limits its value
    :ivar needs: requirements without which it has no effect, in words
    :ivar idle: why it has no effect, where NEEDS does not say it
    :ivar gets: the value that a guest gets, where Nova can ignore it
    :ivar has_anyway: whether every guest has it, so that no driver reads it
    :ivar in_topology: whether Nova makes ``instance.numa_topology`` of it
    :ivar flavor: how a flavor agrees with it, if Nova compares them
    :ivar checked_by: functions of ``nova.virt.hardware`` that check it with
        the flavor
    :ivar excludes: what a guest cannot have beside it
    :ivar settled: when Nova decides on it for the last time
    :ivar hosts: value -> the only hosts of libvirt that build a guest with it
    :ivar keeps: option of nova-compute, without which it does not start again
        on a host that has a server with the property
    :ivar billed: whether clouds bill servers by it
    :ivar never: whether it says what the image is, not how the guest is
        built, so that no deployment can permit it to be overridden
    :ivar read_as: a legacy name under which Nova still reads it straight from
        the image's properties, past ``ImageMetaProps``
        (nova/compute/api.py _inherit_properties_from_image)
    """

    name: str
    text: str
    readers: tuple[Reader, ...] = (LIBVIRT,)
    limits: Limits = Limits()
    needs: str = ''
    idle: str = ''
    gets: Gets | None = None
    has_anyway: bool = False
    in_topology: bool = False
    flavor: Flavor | None = None
    checked_by: tuple[str, ...] = ()
    excludes: tuple[Excludes, ...] = ()
    settled: str = AT_START
    hosts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    keeps: str = ''
    billed: bool = False
    never: bool = False
    read_as: str | None = None

    @property
    def description(self) -> str:
        """The meaning of the property, its needs, and what it excludes."""
        words = '; '.join(dict.fromkeys(
            row.words for row in self.excludes if row.outcome != UNSCHEDULED))
        return (self.text + f' Needs {self.needs}.' * bool(self.needs)
                + f' With libvirt: {words}.' * bool(words))

    def reader(self, part: str) -> Reader | None:
        """Return the effect in one part of Nova, if that reads it."""
        return next((each for each in self.readers if each.part == part), None)

    @functools.cached_property
    def acting(self) -> list[str]:
        """The parts of Nova that act on some value of it."""
        return [part for part in PARTS
                if (reader := self.reader(part)) and reader.outcome == ACTS]

    @functools.cached_property
    def acts_everywhere(self) -> bool:
        """True if the scheduler or nova-api acts on it, whatever the driver."""
        return any(part not in DRIVERS for part in self.acting)

    def outcome(
        self, driver: str, value: str,
        properties: Mapping[str, object] | None = None,
    ) -> tuple[str, str]:
        """Return the outcome on hosts of DRIVER, and why it is not ACTS.

        :param properties: the server's properties, with VALUE among them; by
            default whatever VALUE needs
        """
        if self.acts_everywhere or self.has_anyway:
            return ACTS, ''
        reader = self.reader(driver)
        if reader is None:
            return IGNORED, f'{driver} does not read it'
        kind = reader.outcome_of(value, properties)
        return kind, '' if kind == ACTS else reader.limits


def unread(name: str, text: str, **others: Any) -> Record:
    """Return the record of a property that nothing of Nova acts on."""
    return Record(
        name, f'{text} No driver of Nova reads it; only the scheduler can '
        'compare it with host aggregates.', readers=(), **others)


def records(*each: Record) -> dict[str, Record]:
    """Return the records of one purpose by name."""
    return {record.name: record for record in each}
