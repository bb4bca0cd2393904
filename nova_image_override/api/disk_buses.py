"""The bus of a server's disks, which Nova records when the server is created.

From the first boot on, each block device mapping has a bus and a device name
(ComputeManager._default_block_device_names), which take precedence over
``hw_disk_bus`` (nova/virt/libvirt/blockinfo.py get_info_from_bdm). Where
overrides give a server another ``hw_disk_bus``, this module moves its disks to
that bus; the guest sees them there when it is next built.
"""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import typing

from nova import block_device
from nova import exception
from nova import objects
from nova.virt.libvirt import blockinfo
from oslo_utils import excutils

from nova_image_override import errors
from nova_image_override import override

#: The property that the disks follow.
PROPERTY = 'hw_disk_bus'

#: What libvirt hosts choose where no property says otherwise
#: (nova/virt/libvirt/blockinfo.py get_disk_bus_for_device_type).
_DEFAULT = 'virtio'


@dataclasses.dataclass(frozen=True)
class Disk:
    """One disk that is moved to another bus.

    :ivar mapping: its block device mapping
    :ivar bus: the bus that it is moved to
    :ivar device_name: its device name there
    """

    mapping: objects.BlockDeviceMapping
    bus: str
    device_name: str


class Moves:
    """Disks of one server that are moved, if any.

    :param disks: those disks
    """

    def __init__(self, disks: collections.abc.Iterable[Disk] = ()) -> None:
        self._disks = tuple(disks)
        self._names: dict[str | None, str] = {
            each.mapping.device_name: each.device_name
            for each in self._disks}

    def rename(self, instance: typing.Any) -> None:
        """Set the new device names in INSTANCE, without saving it."""
        def renamed(name: str | None) -> str | None:
            return self._names.get(name, name)

        instance.root_device_name = renamed(instance.root_device_name)
        instance.default_ephemeral_device = renamed(
            instance.default_ephemeral_device)
        instance.default_swap_device = renamed(instance.default_swap_device)

    def apply(
        self, mappings: collections.abc.Iterable[objects.BlockDeviceMapping],
    ) -> None:
        """Make the same changes in other objects of the server's mappings."""
        moved = {each.mapping.id: each for each in self._disks}
        for mapping in mappings:
            if mapping.id in moved:
                mapping.disk_bus = moved[mapping.id].bus
                mapping.device_name = moved[mapping.id].device_name

    @contextlib.contextmanager
    def saved(self) -> collections.abc.Iterator[None]:
        """Store the moves; undo them if the context fails."""
        before = [(each.mapping, each.mapping.disk_bus,
                   each.mapping.device_name) for each in self._disks]
        try:
            for each in self._disks:
                _save(each.mapping, each.bus, each.device_name)
            yield
        except Exception:
            with excutils.save_and_reraise_exception():
                for mapping, bus, name in before:
                    _save(mapping, bus, name)


#: Nothing moves.
NONE = Moves()


def between(
    context: typing.Any, instance: typing.Any,
    before: override.ImageProperties, after: override.ImageProperties,
) -> Moves:
    """Find out which disks have to move when properties change.

    These are the root disk and the disks on the old bus: others were given a
    bus of their own at boot.

    :param before: the properties that the server has
    :param after: those that it is to have
    :raises errors.Invalid: the bus does not take that many disks
    """
    source, target = (each.get(PROPERTY) or _DEFAULT
                      for each in (before, after))
    if source == target or not all(
            blockinfo.is_disk_bus_valid_for_virt('kvm', each)
            for each in (source, target)):
        return NONE
    mappings = objects.BlockDeviceMappingList.get_by_instance_uuid(
        context, instance.uuid)
    moving = sorted(
        (each for each in mappings if _is_moved(each, source)), key=_order)
    taken = [block_device.strip_dev(each.device_name) for each in mappings
             if each.device_name and each not in moving]
    disks = []
    for mapping in moving:
        try:
            name = blockinfo.find_disk_dev_for_disk_bus({}, target, taken)
        except exception.TooManyDiskDevices:
            raise errors.Invalid.of(
                [PROPERTY], errors.INVALID_VALUE,
                f'the bus {target} does not take the {len(moving)} disks that '
                f'the server has on {source}') from None
        taken.append(name)
        disks.append(Disk(mapping, target, block_device.prepend_dev(name)))
    return Moves(disks)


def _is_moved(mapping: objects.BlockDeviceMapping, source: str) -> bool:
    return bool(
        mapping.device_name and mapping.device_type in (None, 'disk')
        and (mapping.disk_bus == source or mapping.boot_index == 0))


def _order(mapping: objects.BlockDeviceMapping) -> tuple[bool, str]:
    """Return the sort key: the root disk first, the others as they are now."""
    return mapping.boot_index != 0, mapping.device_name


def _save(
        mapping: objects.BlockDeviceMapping, bus: str | None, name: str,
) -> None:
    mapping.disk_bus, mapping.device_name = bus, name
    mapping.save()
