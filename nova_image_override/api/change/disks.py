"""A server's disks: their bus, and the config drive.

Nova records the bus when the server is created. From the first boot on, each
block device mapping has a bus and a device name
(ComputeManager._default_block_device_names), which take precedence over
``hw_disk_bus`` (nova/virt/libvirt/blockinfo.py get_info_from_bdm). Where
overrides give a server another ``hw_disk_bus``, this module moves its disks to
that bus; the guest sees them there when it is next built.

A server has a config drive for life once it has one. nova-compute makes it
when it builds the guest, and notes that in the instance
(nova/virt/configdrive.py update_instance); every later guest has it, whatever
the image says (required_by).

Drives are disks and CD-ROM drives. Only IDE has a limit to them that no host
can raise: two channels of two drives
(blockinfo.get_dev_count_for_disk_bus).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
import contextlib
import itertools
from typing import Any

from nova import block_device
from nova import exception
from nova import objects

from nova_image_override import errors
from nova_image_override.api.change.plan import Change, Plan
from nova_image_override.api.guest import no_effect
from nova_image_override.override import ImageProperties
from nova_image_override.properties import book

#: The property that the disks follow.
PROPERTY = 'hw_disk_bus'

#: The property that the config drive follows.
CONFIG_DRIVE = 'img_config_drive'

#: The choice of libvirt hosts where no property says otherwise
#: (nova/virt/libvirt/blockinfo.py get_disk_bus_for_device_type).
_DEFAULT = 'virtio'

#: Buses of libvirt's disks -> what names of devices on them begin with
#: (nova/virt/libvirt/blockinfo.py SUPPORTED_DEVICE_BUSES and
#: get_dev_prefix_for_disk_bus).
_PREFIXES = {'virtio': 'vd', 'scsi': 'sd', 'sata': 'sd', 'usb': 'sd',
             'ide': 'hd', 'fdc': 'fd'}

#: The properties that decide where drives are.
_PLACING = (PROPERTY, 'hw_cdrom_bus', CONFIG_DRIVE)

#: The properties that decide on the bus of CD-ROM drives.
_CDROM = ('hw_cdrom_bus', 'hw_machine_type', 'hw_architecture')

#: Architectures whose CD-ROM drives are on SCSI
#: (blockinfo.get_disk_bus_for_device_type).
_SCSI_CDROMS = ('aarch64', 'ppc', 'ppc64', 'ppc64le', 'ppcle', 's390', 's390x')

#: Drives that an IDE bus takes.
_IDE_ROOM = 4


def bus(properties: ImageProperties) -> str:
    """Return the bus of the disks of a server with PROPERTIES."""
    return properties.get(PROPERTY) or _DEFAULT


def complete(mappings: Iterable[objects.BlockDeviceMapping]) -> None:
    """Set what the legacy form leaves out (BlockDeviceDict.from_legacy)."""
    for mapping in mappings:
        for field in ('boot_index', 'device_type', 'disk_bus'):
            if not mapping.obj_attr_is_set(field):
                setattr(mapping, field, None)


def place_images(
    plan: Plan, mappings: Iterable[objects.BlockDeviceMapping],
    base_options: dict[str, Any],
) -> None:
    """Have Nova place anew what the image itself places, on another bus.

    The image of a volume-backed server has the bus and the device name of each
    of its disks (API.snapshot_volume_backed). A name without a bus, be it the
    request's, is not kept, either: libvirt makes addresses of names.

    :param mappings: those of a server to be created
    :param base_options: what else it is made of
    """
    if PROPERTY not in plan.change.differing:
        return
    base_options['root_device_name'] = None
    placed = [(block_device.prepend_dev(each.get('device_name')),
               each.get('disk_bus'))
              for each in plan.base.get('block_device_mapping') or ()]
    for mapping in mappings:
        if mapping.device_type in (None, 'disk') and (
                mapping.disk_bus is None or (
                    (mapping.device_name, mapping.disk_bus) in placed
                    and (_is_root(mapping)
                         or mapping.disk_bus == bus(plan.base)))):
            mapping.disk_bus = mapping.device_name = None


def moves(
    mappings: Iterable[objects.BlockDeviceMapping], source: str, target: str,
) -> list[tuple[objects.BlockDeviceMapping, str]]:
    """Return what moves from the bus SOURCE to TARGET, with its new name.

    These are the root disk and the disks on the old bus: others were given a
    bus of their own at boot. So may the root have been: it moves to TARGET
    also where that was the bus of the others before.

    :raises errors.Invalid: libvirt's hosts have no bus TARGET
    """
    mappings = [*mappings]
    if target not in _PREFIXES and any(
            each.disk_bus in _PREFIXES for each in mappings):
        raise errors.Invalid.of(
            [PROPERTY], errors.INVALID_VALUE, f'the disks of the server are on '
            f'{source}, and its host has no bus {target}')
    if not {source, target} <= _PREFIXES.keys():
        return []
    # The root disk first, the others as they are now.
    moving = sorted(
        (each for each in mappings if _is_moved(each, source, target)),
        key=lambda each: (not _is_root(each), each.device_name))
    taken = [block_device.strip_dev(each.device_name) for each in mappings
             if each.device_name and each not in moving]
    result = []
    for mapping in moving:
        names = (block_device.generate_device_name(_PREFIXES[target], place)
                 for place in itertools.count())
        name = next(name for name in names if name not in taken)
        taken.append(name)
        result.append((mapping, block_device.prepend_dev(name)))
    return result


def require_places(
    plan: Plan, instance: Any, before: ImageProperties,
) -> None:
    """Require that the drives of a server can be where PLAN has them.

    :param before: the image properties that the server has
    :raises errors.Invalid: they cannot
    """
    if {*_PLACING, *_CDROM}.isdisjoint(plan.change.differing):
        return
    mappings = instance.get_bdms()
    _require_drives(plan, mappings, before)
    source = bus(before)
    if PROPERTY in plan.change.differing:
        target = bus(plan.image['properties'])
        for mapping, _ in moves(mappings, source, target):
            # Only counted, and not saved.
            mapping.disk_bus = target
    require_room(plan, mappings, instance.config_drive, source)


def require_room(
    plan: Plan, mappings: Iterable[Any], config_drive: Any,
    otherwise: str | None = None,
) -> None:
    """Require that the buses have room for the drives of a server.

    :param config_drive: whether it has a config drive, or asks for one
    :param otherwise: the bus of disks that no bus is recorded of; by default
        that of PLAN
    :raises errors.Invalid: they have none, or its machine lacks the bus of one
    """
    properties = plan.image['properties']
    cdroms = _cdrom_bus(properties)
    buses = [
        # A root that is an ISO image is a CD-ROM (blockinfo.get_root_info).
        cdroms if _is_iso(plan, each)
        else each.disk_bus or (cdroms if each.device_type == 'cdrom'
                               else otherwise or bus(properties))
        for each in mappings if not each.get('no_device', None)]
    if config_drive or properties.get(CONFIG_DRIVE) == 'mandatory':
        buses.append(cdroms)
    _require_buses(plan, mappings)
    count = buses.count('ide')
    if count:
        # A machine that has an IDE bus has its CD-ROM drives on it.
        count += buses.count(None)
    names = _placing(plan.change)
    if names and count > _IDE_ROOM:
        raise errors.Invalid.of(
            names, errors.INVALID_VALUE, f'the bus ide does not take the '
            f'{count} disks and CD-ROM drives of the server, but {_IDE_ROOM}: '
            'choose another bus')


def _require_buses(plan: Plan, mappings: Iterable[Any]) -> None:
    """Require that libvirt has the buses of drives beside the overrides.

    Nova records a bus for those that the request, or a boot, has put on one.
    """
    if plan.virt_drivers != {'libvirt'}:
        return
    asked = {each.disk_bus for each in mappings if not _is_iso(plan, each)}
    problems = [
        errors.Problem(row.name, errors.INVALID_VALUE, 'a drive of the server '
                       f'is on the bus {each}: {row.says}; {row.advice}')
        for row in book.RECORDS[PROPERTY].excludes
        if row.name in plan.change.differing
        for each in asked if no_effect.is_met(
            row, each, plan.image['properties'].get(row.name))]
    if problems:
        raise errors.Invalid(problems)


def _require_drives(
    plan: Plan, mappings: Iterable[Any], before: ImageProperties,
) -> None:
    """Require that no CD-ROM drive is to be on another bus than it is.

    Nova records the bus of volumes that are CD-ROMs, too; of a root that is an
    ISO image, the name, from which libvirt makes the address of the drive.
    """
    source, target = map(_cdrom_bus, (before, plan.image['properties']))
    decide = _CDROM[:1] if plan.change.after.values.get(_CDROM[0]) else _CDROM
    names = [name for name in decide if name in plan.change.differing]
    if names and source != target and None not in (source, target) and any(
            each.device_type == 'cdrom' and each.disk_bus == source
            for each in mappings):
        raise errors.Invalid.of(
            names, errors.INVALID_VALUE, 'a CD-ROM drive of the server keeps '
            f'its place on the bus {source}: detach its volume first, or boot '
            'another server')


def _is_iso(plan: Plan, mapping: Any) -> bool:
    """Return whether a drive has the root's ISO image, wherever that was."""
    return _is_root(mapping) and plan.image.get('disk_format') == 'iso'


def _placing(change: Change) -> list[str]:
    return [name for name in _PLACING if name in change.differing]


def _cdrom_bus(properties: ImageProperties) -> str | None:
    """Return the bus of CD-ROM drives; None where the host decides.

    Follows blockinfo.get_disk_bus_for_device_type.
    """
    own: str | None = properties.get('hw_cdrom_bus')
    if own:
        return own
    if properties.get('hw_architecture') in _SCSI_CDROMS:
        return 'scsi'
    machine = properties.get('hw_machine_type')
    if machine is None:
        return None
    return 'sata' if 'q35' in machine else 'ide'


#: Disks, with the bus and the device name that they have.
Places = list[tuple['objects.BlockDeviceMapping', 'str | None', str]]


def places(instance: Any) -> Places:
    """Return where a server's disks are."""
    return [(each, each.disk_bus, each.device_name)
            for each in instance.get_bdms()]


def _if_there() -> contextlib.AbstractContextManager[None]:
    """Save no disk that is detached meanwhile, which takes no task state."""
    return contextlib.suppress(exception.BDMNotFound)


def put_back(instance: Any, former: Places) -> None:
    """Store that a server's disks are where they were.

    The device names in INSTANCE follow; it is not saved.
    """
    stored = {each.id: each for each in instance.get_bdms()} if former else {}
    for mapping, bus, name in former:
        present = stored.get(mapping.id)
        if present is not None and (
                present.disk_bus, present.device_name) != (bus, name):
            present.disk_bus, present.device_name = bus, name
            with _if_there():
                present.save()
    _name(instance, stored.values())


def move(instance: Any, source: str, target: str) -> None:
    """Store that a server's disks are on another bus.

    Doing it again, after it was cut off, moves the disks that are left. The
    device names in INSTANCE follow; it is not saved.
    """
    mappings = instance.get_bdms()
    for mapping, device_name in moves(mappings, source, target):
        mapping.disk_bus, mapping.device_name = target, device_name
        with _if_there():
            mapping.save()
    _name(instance, mappings)


def _name(instance: Any, mappings: Collection[Any]) -> None:
    """Have the device names in INSTANCE follow its disks."""
    for field, is_such in (
            ('root_device_name', _is_root),
            ('default_ephemeral_device', block_device.new_format_is_ephemeral),
            ('default_swap_device', block_device.new_format_is_swap)):
        names = [mapping.device_name for mapping in mappings
                 if is_such(mapping)]
        if names and getattr(instance, field):
            setattr(instance, field, names[0])


def _is_root(mapping: objects.BlockDeviceMapping) -> bool:
    return bool(mapping.boot_index == 0)


def _is_moved(
    mapping: objects.BlockDeviceMapping, source: str, target: str,
) -> bool:
    """Return whether a disk is on the bus SOURCE, or the root and not moved.

    A volume that is attached has a name from that bus, but no bus is recorded
    (ComputeManager.reserve_block_device_name) until its guest is next built.
    """
    if not (mapping.device_name and mapping.device_type in (None, 'disk')):
        return False
    if _is_root(mapping) and mapping.disk_bus != target:
        return True
    if source == target:
        return False
    return bool(mapping.disk_bus == source if mapping.disk_bus else
                block_device.strip_dev(mapping.device_name).startswith(
                    _PREFIXES[source]))


def require_config_drive(
    change: Change, instance: Any, way: str | None,
) -> None:
    """Refuse a config-drive change that would have no effect.

    :param way: how the caller can have the guest built with its disks; None
        if it will be
    :raises errors.Invalid: the server keeps its drive all the same
    :raises errors.Conflict: the drive is not made
    """
    if CONFIG_DRIVE not in change.differing:
        return
    wanted = change.after.values.get(CONFIG_DRIVE)
    if wanted == 'mandatory':
        if way and not instance.config_drive:
            raise errors.Conflict.of(
                [CONFIG_DRIVE], errors.NEEDS_REBUILD,
                f'a config drive is made when the guest is built: {way}')
    elif (CONFIG_DRIVE in change.after and instance.config_drive
            and wanted != change.base.get(CONFIG_DRIVE)):
        raise errors.Invalid.of(
            [CONFIG_DRIVE], errors.NO_EFFECT, 'would do nothing: the server '
            'has a config drive, and keeps it')
