"""Where a server's disks are, and what they are called there."""

from nova import objects
from nova.virt.libvirt import blockinfo
import pytest

from nova_image_override import errors
from nova_image_override.api.change import disks
from nova_image_override.api.change.plan import Change
from tests.unit import refusals
from tests.unit.api.change.mappings import disk
from tests.unit.api.change.mappings import IDE
from tests.unit.api.change.mappings import root
from tests.unit.api.change.plans import unchecked
from tests.unit.strategies import overrides_of


def ephemeral(name, bus='virtio'):
    return disk(name, bus, source_type='blank', destination_type='local')


def swap(name, bus='virtio'):
    return disk(name, bus, source_type='blank', destination_type='local',
                guest_format='swap')


TO_SCSI = ('virtio', 'scsi')


def moved(mappings, source, target):
    """Return what moves: the names before and after."""
    return {mapping.device_name: name
            for mapping, name in disks.moves(mappings, source, target)}


@pytest.mark.parametrize(('properties', 'bus'), [
    ({'hw_disk_bus': 'ide'}, 'ide'), ({'hw_disk_bus': ''}, 'virtio'),
    ({}, 'virtio')])
def test_the_bus_is_that_of_the_property_or_libvirts_default(properties, bus):
    assert disks.bus(properties) == bus


@pytest.mark.parametrize(('mappings', 'buses', 'expected'), [
    # The root disk comes first, and the others in their order.
    ([disk('vdc'), disk('vda'), root('vdb')], TO_SCSI,
     {'vdb': 'sda', 'vda': 'sdb', 'vdc': 'sdc'}),
    # It moves from whatever bus it is on, unless it is there already.
    ([root('vda', 'ide')], TO_SCSI, {'vda': 'sda'}),
    ([root('vda', None)], TO_SCSI, {'vda': 'sda'}),
    ([root('sda', 'scsi'), disk('vdb')], TO_SCSI, {'vdb': 'sdb'}),
    # It alone moves where the others were there before.
    ([root('hda', 'ide'), disk('vda'), disk('vdb', None)],
     ('virtio', 'virtio'), {'hda': 'vdc'}),
    # What is no disk of the old bus stays; one of no type is a disk.
    *(([root('vda'), other], TO_SCSI, {'vda': 'sda'}) for other in (
        disk('hda', 'ide'), disk('sdb', 'scsi'),
        disk('vdb', device_type='cdrom'), disk(None))),
    ([root('vda'), disk('vdb', device_type=None)], TO_SCSI,
     {'vda': 'sda', 'vdb': 'sdb'}),
    # Names that are taken on the new bus stay taken; those that become free
    # are taken.
    ([root('vda'), disk('sda', 'scsi'), disk('vdb')], TO_SCSI,
     {'vda': 'sdb', 'vdb': 'sdc'}),
    ([root('sda', 'scsi'), disk('sdb', 'scsi')], ('scsi', 'usb'),
     {'sda': 'sda', 'sdb': 'sdb'}),
    # Nothing moves where all were there before, where libvirt would move
    # nothing, or on no bus of QEMU's guests, which their host knows.
    ([root('vda'), disk('vdb')], ('virtio', 'virtio'), {}),
    ([root('vda', 'lxc')], ('lxc', 'virtio'), {}),
    ([root('vda', 'lxc'), disk('vdb', None)], ('virtio', 'lxc'), {})])
def test_disks_move_to_the_first_names_of_their_new_bus(
        mappings, buses, expected):
    assert moved(mappings, *buses) == {
        f'/dev/{before}': f'/dev/{after}'
        for before, after in expected.items()}


@pytest.mark.parametrize('bus', blockinfo.SUPPORTED_DEVICE_BUSES['qemu'])
def test_devices_on_each_bus_have_the_names_that_nova_gives_them(bus):
    prefix = '/dev/' + blockinfo.get_dev_prefix_for_disk_bus(bus)
    other = 'ide' if bus == 'virtio' else 'virtio'
    assert moved([root('xda', other)], other, bus) == {
        '/dev/xda': f'{prefix}a'}
    # A volume that was attached has a name, and no bus yet.
    assert moved([disk(f'{prefix[5:]}b', None)], bus, other).keys() == {
        f'{prefix}b'}


def test_a_bus_that_the_host_of_the_disks_lacks_is_refused():
    ((name, (_, reason)),) = refusals.of(
        moved, [root('vda')], 'virtio', 'lxc').items()
    assert name == 'hw_disk_bus'
    assert 'on virtio, and its host has no bus lxc' in reason


# --- mappings of a create -----------------------------------------------------

def test_what_the_legacy_form_leaves_out_is_set():
    mapping = objects.BlockDeviceMapping(boot_index=0, device_name='vda')
    disks.complete([mapping])
    assert (mapping.boot_index, mapping.device_type, mapping.disk_bus) == (
        0, None, None)


# --- what an image itself places ----------------------------------------------

SCSI = {'hw_disk_bus': 'scsi'}
CDROM = disk('vdb', device_type='cdrom')


def placed(mappings, asked, image, of_image=None):
    """Return where disks are created, and the name that the root is to have.

    :param image: the properties of an image that places OF_IMAGE, if not all
    """
    own = {**image, 'block_device_mapping': [
        {'device_name': each.device_name, 'disk_bus': each.disk_bus}
        for each in (mappings if of_image is None else of_image)]}
    options = {'root_device_name': '/dev/vda'}
    disks.place_images(unchecked(asked, own), mappings, options)
    return [each.device_name for each in mappings], options['root_device_name']


@pytest.mark.parametrize(('mappings', 'asked', 'image', 'of_image', 'names'), [
    # On another bus they are placed anew.
    ([root('vda'), disk('vdb'), disk('vdc', None)], SCSI, {}, None,
     [None, None, None]),
    ([root('sda', 'scsi')], {'hw_disk_bus': None}, SCSI, None, [None]),
    # The root is, wherever it was.
    ([root('sda', 'sata'), disk('sdb', 'sata')], SCSI, {}, None,
     [None, '/dev/sdb']),
    # What the request places, or what is no disk, stays.
    ([disk('vda'), CDROM], SCSI, {}, [CDROM], ['/dev/vda', '/dev/vdb']),
    # A name without a bus is not kept, whoever gives it.
    ([root('vda', None)], SCSI, {}, [], [None])])
def test_disks_of_an_image_are_placed_anew_on_another_bus(
        mappings, asked, image, of_image, names):
    mappings = [each.obj_clone() for each in mappings]
    assert placed(mappings, asked, image, of_image) == (names, None)


def test_all_stays_without_an_override_of_the_bus():
    assert placed([root('vda')], {'hw_pmu': 'true'}, {}) == (
        ['/dev/vda'], '/dev/vda')


def test_an_image_that_places_nothing_names_the_root_all_the_same():
    options = {'root_device_name': '/dev/vda'}
    disks.place_images(unchecked(IDE, {}), [root(None)], options)
    assert options == {'root_device_name': None}


# --- config drive -----------------------------------------------------------

MUST, MAY = ({'img_config_drive': value} for value in ('mandatory', 'optional'))


def config_drive(before, after, has_drive, way, own=None):
    """Return the code with which a change of overrides is refused, or None."""
    before, after = overrides_of(before), overrides_of(after)
    try:
        disks.require_config_drive(
            Change(None, {'properties': own or {}}, after, after, before),
            objects.Instance(config_drive='True' if has_drive else ''), way)
    except errors.OverrideError as refusal:
        (problem,) = refusal.problems
        assert problem.name == 'img_config_drive'
        assert isinstance(refusal, errors.Conflict) == (
            bool(way) and way in problem.reason)
        return problem.code
    return None


@pytest.mark.parametrize(('before', 'after', 'has_drive', 'own', 'code'), [
    ({}, MUST, False, {}, errors.NEEDS_REBUILD),
    (MAY, MUST, False, MAY, errors.NEEDS_REBUILD),
    ({}, MAY, True, MUST, errors.NO_EFFECT),
    (MUST, MAY, True, {}, errors.NO_EFFECT),
    ({}, {'img_config_drive': None}, True, MUST, errors.NO_EFFECT)])
def test_a_config_drive_is_neither_made_nor_taken_away(
        before, after, has_drive, own, code):
    assert config_drive(before, after, has_drive, 'rebuild it', own) == code


@pytest.mark.parametrize(('before', 'after', 'has_drive', 'own'), [
    ({}, MUST, True, {}), (MAY, MUST, True, {}),
    ({}, MAY, False, {}), ({}, MAY, False, MUST),
    # As the image has it, and as it was.
    (MUST, MAY, True, MAY), (MUST, {}, True, {}), (MUST, {}, True, MAY),
    (MUST, MUST, False, {}),
    ({'hw_pmu': 'true'}, {}, False, {})])
def test_what_asks_for_neither_is_permitted(before, after, has_drive, own):
    assert config_drive(before, after, has_drive, 'rebuild it', own) is None


def test_a_guest_that_will_be_built_is_given_one():
    assert config_drive({}, MUST, False, None) is None
    assert config_drive({}, MAY, True, None, MUST) == errors.NO_EFFECT


# --- stored -----------------------------------------------------------------

class Database(Exception):
    """What fails, if it does."""


@pytest.fixture
def server(monkeypatch):
    """A server with four disks, whose block device mappings can be stored."""
    class Server(objects.Instance):
        saved = dict(enumerate((
            root('vda'), ephemeral('vdb'), swap('vdc'), disk('hda', 'ide'))))
        #: How many can be saved until the database fails.
        left = 100

        def get_bdms(self):
            return [each.obj_clone() for each in self.saved.values()]

        @property
        def disks(self):
            return [(each.disk_bus, each.device_name)
                    for each in self.saved.values()]

    made = Server(
        root_device_name='/dev/vda', default_ephemeral_device='/dev/vdb',
        default_swap_device='/dev/vdc')
    for number, each in made.saved.items():
        each.id = number

    def save(mapping):
        if not made.left:
            raise Database
        made.left -= 1
        made.saved[mapping.id] = mapping.obj_clone()

    monkeypatch.setattr(objects.BlockDeviceMapping, 'save', save)
    return made


MOVED = [('scsi', '/dev/sda'), ('scsi', '/dev/sdb'), ('scsi', '/dev/sdc'),
         ('ide', '/dev/hda')]


def names(server):
    return (server.root_device_name, server.default_ephemeral_device,
            server.default_swap_device)


def test_the_disks_are_stored_on_their_new_bus_and_the_server_names_them(
        server):
    disks.move(server, 'virtio', 'scsi')
    assert server.disks == MOVED
    assert names(server) == ('/dev/sda', '/dev/sdb', '/dev/sdc')


@pytest.mark.parametrize('done', range(4))
def test_done_again_it_moves_only_what_is_left(server, done):
    server.left = done
    if done < 3:
        with pytest.raises(Database):
            disks.move(server, 'virtio', 'scsi')
    else:
        disks.move(server, 'virtio', 'scsi')
    assert server.disks[:done] == MOVED[:done]
    server.left = 3 - done
    disks.move(server, 'virtio', 'scsi')
    assert server.left == 0
    assert server.disks == MOVED
    assert names(server) == ('/dev/sda', '/dev/sdb', '/dev/sdc')


def test_a_device_that_the_server_does_not_name_stays_unnamed(server):
    server.default_ephemeral_device = None
    disks.move(server, 'virtio', 'scsi')
    assert names(server) == ('/dev/sda', None, '/dev/sdc')


def test_a_disk_that_is_gone_leaves_the_name_that_the_server_has(server):
    del server.saved[2]
    disks.move(server, 'virtio', 'scsi')
    assert names(server) == ('/dev/sda', '/dev/sdb', '/dev/vdc')


def test_they_are_put_back_where_they_were(server):
    former, before = disks.places(server), server.disks
    disks.move(server, 'virtio', 'scsi')
    disks.put_back(server, former)
    assert names(server) == ('/dev/vda', '/dev/vdb', '/dev/vdc')
    assert server.disks == before


def test_one_that_was_detached_meanwhile_does_not_keep_the_others(server):
    former = disks.places(server)
    disks.move(server, 'virtio', 'scsi')
    del server.saved[0]
    disks.put_back(server, former)
    assert server.disks == [
        ('virtio', '/dev/vdb'), ('virtio', '/dev/vdc'), ('ide', '/dev/hda')]


def test_what_is_where_it_was_is_not_stored_again(server):
    server.left = 0
    disks.put_back(server, disks.places(server))


# --- room for what is stored --------------------------------------------------

def places_for(server, asked, own, config_drive=''):
    """Require the places of a server of the image properties OWN."""
    server.config_drive = config_drive
    disks.require_places(unchecked(asked, own), server, own)


@pytest.mark.parametrize('config_drive', ['', 'True'])
def test_disks_are_counted_where_a_change_moves_them(server, config_drive):
    before = server.disks
    if config_drive:
        with pytest.raises(errors.Invalid, match='take the 5 disks'):
            places_for(server, IDE, {}, config_drive)
    else:
        places_for(server, IDE, {})
    # They are not moved.
    assert server.disks == before


def test_they_are_counted_where_they_are_if_it_moves_none(server):
    asked = {'hw_cdrom_bus': 'ide'}
    places_for(server, asked, {}, 'True')
    for each in server.saved.values():
        each.disk_bus = None
    with pytest.raises(errors.Invalid, match='take the 5 disks'):
        places_for(server, asked, IDE, 'True')


def test_what_moves_none_and_adds_none_is_not_refused_for_what_there_is(
        server):
    server.saved[4] = disk('hdb', 'ide')
    places_for(server, {'hw_pmu': 'true'}, IDE, 'True')
