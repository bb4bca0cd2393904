"""Which disks move to another bus, and what they are called there."""

from nova import objects
import pytest

from nova_image_override import errors
from nova_image_override.api.change import disks


def disk(name, bus='virtio', boot_index=None, device_type='disk', **more):
    return objects.BlockDeviceMapping(
        device_name=name and f'/dev/{name}', disk_bus=bus,
        boot_index=boot_index, device_type=device_type,
        **{'source_type': 'volume', 'destination_type': 'volume',
           'guest_format': None, **more})


def root(name, bus='virtio'):
    return disk(name, bus, 0)


def ephemeral(name, bus='virtio'):
    return disk(name, bus, source_type='blank', destination_type='local')


def swap(name, bus='virtio'):
    return disk(name, bus, source_type='blank', destination_type='local',
                guest_format='swap')


def moved(mappings, source='virtio', target='scsi'):
    """Return what moves: the names before and after."""
    return {mapping.device_name: name
            for mapping, name in disks.moves(mappings, source, target)}


@pytest.mark.parametrize(('properties', 'bus'), [
    ({'hw_disk_bus': 'ide'}, 'ide'), ({'hw_disk_bus': ''}, 'virtio'),
    ({}, 'virtio')])
def test_the_bus_is_that_of_the_property_or_libvirts_default(properties, bus):
    assert disks.bus(properties) == bus


def test_the_root_disk_comes_first_and_the_others_in_their_order():
    assert moved([disk('vdc'), disk('vda'), root('vdb')]) == {
        '/dev/vdb': '/dev/sda', '/dev/vda': '/dev/sdb', '/dev/vdc': '/dev/sdc'}


@pytest.mark.parametrize('bus', ['virtio', 'ide', None])
def test_the_root_disk_moves_from_whatever_bus_it_is_on(bus):
    assert moved([root('vda', bus)]) == {'/dev/vda': '/dev/sda'}


def test_unless_it_is_there_already():
    assert moved([root('sda', 'scsi'), disk('vdb')]) == {
        '/dev/vdb': '/dev/sdb'}


@pytest.mark.parametrize('other', [
    disk('hda', 'ide'), disk('sdb', 'scsi'),
    disk('vdb', device_type='cdrom'), disk(None)])
def test_what_is_no_disk_of_the_old_bus_stays(other):
    assert moved([root('vda'), other]) == {'/dev/vda': '/dev/sda'}


def test_a_disk_of_no_type_is_one():
    assert moved([root('vda'), disk('vdb', device_type=None)]) == {
        '/dev/vda': '/dev/sda', '/dev/vdb': '/dev/sdb'}


def test_names_that_are_taken_on_the_new_bus_stay_taken():
    assert moved([root('vda'), disk('sda', 'scsi'), disk('vdb')]) == {
        '/dev/vda': '/dev/sdb', '/dev/vdb': '/dev/sdc'}


def test_names_that_become_free_are_taken():
    assert moved([root('sda', 'scsi'), disk('sdb', 'scsi')],
                 'scsi', 'usb') == {
        '/dev/sda': '/dev/sda', '/dev/sdb': '/dev/sdb'}


@pytest.mark.parametrize(('source', 'target'), [
    ('virtio', 'virtio'),
    # No bus of QEMU's guests.
    ('lxc', 'virtio')])
def test_nothing_moves_where_libvirt_would_move_nothing(source, target):
    assert moved([root('vda')], source, target) == {}


def test_a_bus_that_the_host_of_the_disks_lacks_is_refused():
    with pytest.raises(errors.Invalid) as caught:
        moved([root('vda')], target='lxc')
    (problem,) = caught.value.problems
    assert problem.name == 'hw_disk_bus'
    assert 'on virtio, and its host has no bus lxc' in problem.reason


# --- stored -----------------------------------------------------------------

class Database(Exception):
    """What fails, if it does."""


@pytest.fixture
def server(monkeypatch):
    """A server with four disks, whose block device mappings can be stored."""
    class Server(objects.Instance):
        saved = [root('vda'), ephemeral('vdb'), swap('vdc'),
                 disk('hda', 'ide')]
        #: How many can be saved until the database fails.
        left = 100

        def get_bdms(self):
            return [each.obj_clone() for each in self.saved]

        @property
        def disks(self):
            return [(each.disk_bus, each.device_name) for each in self.saved]

    made = Server(
        root_device_name='/dev/vda', default_ephemeral_device='/dev/vdb',
        default_swap_device='/dev/vdc')
    for number, each in enumerate(made.saved):
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
