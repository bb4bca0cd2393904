"""Which drives a bus, or a machine, has no room for."""

from nova import objects
from nova.objects import fields
from nova.virt.libvirt import blockinfo
import pytest

from nova_image_override import errors
from nova_image_override.api.change import disks
from tests.unit.api.change.mappings import disk
from tests.unit.api.change.mappings import IDE
from tests.unit.api.change.mappings import root
from tests.unit.api.change.plans import unchecked


def has_room(mappings, overrides=IDE, own=None, config_drive='', of='qcow2',
             otherwise=None):
    """Return whether a server has room for its drives."""
    try:
        disks.require_room(unchecked(overrides, own or {}, disk_format=of),
                           mappings, config_drive, otherwise)
    except errors.Invalid as refusal:
        assert refusal.problems[0].name in overrides
        assert 'but 4: choose another bus' in refusal.problems[0].reason
        return False
    return True


def drives(number, bus=None, device_type=None):
    return [disk(f'xd{index}', bus, device_type=device_type)
            for index in range(number)]


CDROM_ON_SATA = {**IDE, 'hw_cdrom_bus': 'sata'}
MANDATORY = {**IDE, 'hw_machine_type': 'pc', 'img_config_drive': 'mandatory'}


@pytest.mark.parametrize(('drives', 'more'), [
    (drives(4), {}), ([*drives(4), disk('xde', 'ide', no_device=True)], {}),
    ([*drives(4), *drives(4, 'scsi')], {}),
    (drives(5), {'otherwise': 'virtio'}),
    (drives(5, device_type='cdrom'), {'overrides': CDROM_ON_SATA}),
    (drives(5, 'sata', 'cdrom'),
     {'overrides': {**IDE, 'hw_machine_type': 'pc'}}),
    ([root('xda', 'ide'), *drives(4)],
     {'overrides': CDROM_ON_SATA, 'of': 'iso'}),
    (drives(3), {'config_drive': 'True'}),
    (drives(3), {'overrides': MANDATORY}),
    # The host may have them on SATA.
    ([*drives(5, device_type='cdrom'), *drives(3, 'scsi')],
     {'overrides': {'img_config_drive': 'mandatory'}}),
    (drives(4), {'overrides': {**MANDATORY, 'img_config_drive': 'optional'}}),
    # The image asks for it, and no override.
    (drives(5), {'overrides': {'hw_pmu': 'true'}, 'own': IDE})])
def test_an_ide_bus_takes_four_drives(drives, more):
    assert has_room(drives, **more)


@pytest.mark.parametrize(('drives', 'more'), [
    (drives(5), {}),
    (drives(5, 'ide'), {'otherwise': 'virtio'}),
    (drives(5), {'overrides': {'hw_disk_bus': 'scsi'}, 'otherwise': 'ide'}),
    (drives(5, device_type='cdrom'), {'overrides': {'hw_cdrom_bus': 'ide'}}),
    ([root('xda', 'ide'), *drives(4)],
     {'overrides': CDROM_ON_SATA, 'of': 'raw'}),
    ([disk('xda', 'ide', 1), *drives(4)],
     {'overrides': CDROM_ON_SATA, 'of': 'iso'}),
    (drives(4), {'overrides': MANDATORY}),
    # The host decides on the machine type; with q35 it has no IDE at all.
    (drives(4), {'config_drive': 'True'}),
    ([*drives(1, 'ide'), *drives(4, device_type='cdrom')],
     {'overrides': {'hw_disk_bus': 'scsi'}})])
def test_and_no_fifth(drives, more):
    assert not has_room(drives, **more)


def test_nova_puts_no_fifth_on_one_either():
    assert blockinfo.get_dev_count_for_disk_bus('ide') == 4


@pytest.mark.parametrize('machine', ['pc', 'pc-q35-8.2', 'malta'])
@pytest.mark.parametrize('architecture', fields.Architecture.ALL)
def test_a_config_drive_is_one_where_nova_puts_it_there(machine, architecture):
    own = {'hw_machine_type': machine, 'hw_architecture': architecture}
    bus = blockinfo.get_disk_bus_for_device_type(
        objects.Instance(), 'kvm',
        objects.ImageMeta.from_dict({'properties': dict(own)}), 'cdrom')
    assert has_room(drives(4), own=own, config_drive='True') == (bus != 'ide')


# --- drives where a machine type has none -------------------------------------

def unfit(asked, mapping, own=(), **kwargs):
    """Return why a server with a drive of its own bus is refused."""
    try:
        disks.require_room(
            unchecked(asked, dict(own), **kwargs), [mapping], '')
    except errors.Invalid as refusal:
        return {each.name: each.reason for each in refusal.problems}
    return {}


Q35 = {'hw_machine_type': 'q35'}


@pytest.mark.parametrize('device_type', ['disk', 'cdrom'])
def test_a_drive_that_the_request_puts_on_ide_is_refused_beside_q35(
        device_type):
    assert unfit(Q35, disk('hda', 'ide', device_type=device_type)) == {
        'hw_machine_type': 'a drive of the server is on the bus ide: IDE '
        'controllers are unsupported for this machine type; choose the bus '
        'sata, scsi or virtio'}


def test_each_override_that_excludes_it_is_named():
    assert unfit({'hw_machine_type': 'virt', 'hw_architecture': 'aarch64'},
                 disk('hda', 'ide')).keys() == {
                     'hw_machine_type', 'hw_architecture'}


@pytest.mark.parametrize(('asked', 'mapping', 'more'), [
    (Q35, disk('sda', 'sata'), {}), (Q35, disk('sda', None), {}),
    ({'hw_machine_type': 'pc'}, disk('hda', 'ide'), {}),
    ({'hw_pmu': 'true'}, disk('hda', 'ide'), {'own': Q35}),
    (Q35, disk('hda', 'ide'), {'drivers': ('libvirt', 'vmwareapi')}),
    (Q35, root('hda', 'ide'), {'disk_format': 'iso'})])
def test_what_another_host_builds_or_nobody_asks_for_is_not(
        asked, mapping, more):
    assert unfit(asked, mapping, **more) == {}


# --- CD-ROM drives that are there ---------------------------------------------

PC = {'hw_machine_type': 'pc'}


def stays(asked, own=PC, mapping=None, before=None):
    """Return the properties that are refused to a server with a CD-ROM."""
    mapping = mapping or disk('hda', 'ide', device_type='cdrom')
    server = objects.Instance(config_drive='')
    server.get_bdms = lambda: [mapping]
    try:
        disks.require_places(unchecked(asked, own), server, before or own)
    except errors.Invalid as refusal:
        assert refusal.problems
        assert all('on the bus ide: detach' in each.reason
                   for each in refusal.problems)
        return [each.name for each in refusal.problems]
    return []


@pytest.mark.parametrize(('asked', 'more', 'names'), [
    ({'hw_cdrom_bus': 'scsi'}, {}, ['hw_cdrom_bus']),
    (Q35, {}, ['hw_machine_type']),
    ({'hw_architecture': 'aarch64'}, {}, ['hw_architecture']),
    # Where the bus is asked for, nothing else is to blame.
    ({'hw_cdrom_bus': 'scsi', **Q35}, {}, ['hw_cdrom_bus']),
    ({'hw_cdrom_bus': None, **Q35}, {'own': {**PC, 'hw_cdrom_bus': 'ide'}},
     ['hw_cdrom_bus', 'hw_machine_type']),
    # An ISO image keeps its name.
    (Q35, {'mapping': disk('hda', 'ide', 0, device_type='cdrom')},
     ['hw_machine_type'])])
def test_a_cd_rom_drive_that_would_be_on_another_bus_is_refused(
        asked, more, names):
    assert stays(asked, **more) == names


@pytest.mark.parametrize(('asked', 'more'), [
    ({'hw_cdrom_bus': 'ide', 'hw_machine_type': 'pc-i440fx-7.2'}, {}),
    ({'hw_pmu': 'true'}, {}),
    ({'hw_machine_type': None}, {}),
    ({'hw_cdrom_bus': 'scsi'}, {'own': {}}),
    ({'hw_cdrom_bus': 'scsi'}, {'mapping': disk('hda', 'ide')}),
    # Only the image of a rebuild has another machine.
    ({'hw_disk_bus': 'scsi'}, {'own': Q35, 'before': PC}),
    (Q35, {'mapping': disk('sda', 'scsi', device_type='cdrom')}),
    (Q35, {'mapping': disk('vda')})])
def test_what_leaves_a_cd_rom_drive_where_it_is_is_not_refused(asked, more):
    assert stays(asked, **more) == []
