"""Servers whose disks are Cinder's volumes, in Ceph."""

import contextlib

from openstack import exceptions
import pytest

from testing.deployment import command
from testing.deployment import places
from testing.deployment import processes
from testing.deployment import tenants
from tests.integration import whole

#: What servers here are booted with: something for each place.
OVERRIDES = {'os_command_line': 'console=ttyS0 quiet volume=1', **places.SCSI}

#: What the volumes here say, and no image and no override.
OWN = {'hw_machine_type': 'q35'}

BLANK = ('--block-device', 'source_type=blank,destination_type=volume,'
         'volume_size=1,boot_index=0')

pytestmark = pytest.mark.usefixtures('cinder')


class Storage:
    """What a tenant keeps in Cinder."""

    def __init__(self, deployment, tenant):
        self._openstack = tenant
        self._cinder = tenants.connect(
            deployment.state, 'operator').block_storage

    def settled(self, volume, status='available'):
        def reached():
            found = self._cinder.get_volume(volume)
            assert not found.status.startswith('error'), found
            return found.status == status and found

        return processes.wait_for(reached, f'{volume} {status}')

    def volume(self, *options):
        """Make a volume of 1 GiB."""
        volume = self._openstack.json(
            'volume', 'create', '--size', '1', *options, 'test')['id']
        self.settled(volume)
        return volume

    def bootable(self):
        """Make a volume of the guest's image, with properties of its own."""
        volume = self.volume('--image', 'guest')
        for name, value in OWN.items():
            self._openstack('volume', 'set', '--image-property',
                            f'{name}={value}', volume)
        return volume

    def snapshot(self, volume):
        snapshot = self._openstack.json(
            'volume', 'snapshot', 'create', '--volume', volume, 'test')['id']
        processes.wait_for(
            lambda: self._cinder.get_snapshot(snapshot).status == 'available',
            snapshot)
        return snapshot

    def properties(self, volume):
        """Return what Nova takes for the properties of its image."""
        return self._cinder.get_volume(volume).volume_image_metadata

    def is_empty(self):
        """Delete what can be; what depends on it goes first."""
        left = [(kind, each) for kind in ('snapshot', 'volume') for each in
                getattr(self._cinder, f'{kind}s')(all_projects=True)]
        for kind, each in left:
            if each.status == 'available' or each.status.startswith('error'):
                with contextlib.suppress(exceptions.BadRequestException):
                    getattr(self._cinder, f'delete_{kind}')(each)
        return not left


@pytest.fixture
def storage(deployment, tenant):
    """Cinder, in which a test leaves nothing."""
    storage = Storage(deployment, tenant)
    yield storage
    processes.wait_for(storage.is_empty, 'the end of volumes', 120, pause=1)


@pytest.fixture
def boot(storage, boot):
    """Create servers that are gone before their volumes are."""
    return boot


def check(server, disks=('sda',), overrides=OVERRIDES, machine='q35'):
    """Check all three places."""
    assert server.api == overrides
    check_guest(server, disks, overrides, machine)


def check_guest(server, disks, overrides, machine):
    """Check the second and the third."""
    domain = server.domain
    assert domain.findtext('os/cmdline') == overrides['os_command_line']
    assert machine in domain.find('os/type').get('machine')
    assert {(disk.find('source').get('protocol'),
             disk.find('target').get('bus'))
            for disk in domain.findall('devices/disk')} == {('rbd', 'scsi')}
    told = server.told
    assert told.cmdline == overrides['os_command_line']
    assert told.disks == list(disks)
    assert machine in told.machine


# --- ways to boot -----------------------------------------------------------

def test_overrides_lie_over_the_properties_of_a_volume(boot, storage):
    volume = storage.bootable()
    before = storage.properties(volume)
    check(boot(OVERRIDES, '--volume', volume, image=None))
    assert storage.properties(volume) == before


def test_overrides_lie_over_the_properties_of_a_snapshot(boot, storage):
    snapshot = storage.snapshot(storage.bootable())
    check(boot(OVERRIDES, '--snapshot', snapshot, image=None))


def test_overrides_of_a_server_on_a_blank_volume(boot):
    overrides = {**places.SCSI, 'hw_machine_type': 'q35'}
    server = boot(overrides, *BLANK, image=None)
    assert server.api == overrides
    disk = server.domain.find('devices/disk')
    assert disk.find('source').get('protocol') == 'rbd'
    assert disk.find('target').get('bus') == 'scsi'
    assert any('q35' in word for word in server.process.command)


# --- what the properties of a volume are ------------------------------------

#: What Glance says of an image that Cinder does not copy.
NOT_COPIED = {
    'created_at', 'file', 'id', 'name', 'os_hash_algo', 'os_hash_value',
    'os_hidden', 'owner', 'protected', 'schema', 'self', 'status', 'stores',
    'tags', 'updated_at', 'virtual_size', 'visibility'}


def test_cinder_copies_every_property_of_an_image(
        deployment, storage, imported):
    image = deployment.operator.image.get(f'/images/{imported}').json()
    assert {'hw_sound_model', 'x_origin', 'kernel_id'} <= set(image)
    volume = storage.volume('--image', imported)
    assert storage.properties(volume) == {
        'image_id': imported, 'image_name': image['name'],
        'signature_verified': 'False',
        **{name: str(value) for name, value in image.items()
           if name not in NOT_COPIED}}


def test_glance_protects_what_cinder_copied(boot, storage, imported, tenant):
    volume = storage.volume('--image', imported)
    for overrides in ({'hw_sound_model': 'ich6'}, {'hw_sound_model': ''}):
        with pytest.raises(command.Refused, match='hw_sound_model: injected'):
            boot(overrides, '--volume', volume, image=None)
    with pytest.raises(command.Refused, match='hw_watchdog_action: protected'):
        boot({'hw_watchdog_action': 'reset'}, '--volume', volume, image=None)
    # Cinder itself lets its owner write anything.
    tenant('volume', 'unset', '--image-property', 'hw_sound_model', volume)
    tenant('volume', 'set', '--image-property', 'hw_watchdog_action=reset',
           volume)
    server = boot({}, '--volume', volume, image=None)
    assert server.domain.find('devices/sound') is None
    assert server.domain.find('devices/watchdog') is not None


# --- rebuild ----------------------------------------------------------------

@pytest.fixture
def other(deployment):
    """An image that has properties."""
    with whole.image_with(deployment, {
            'hw_video_model': 'vga', 'hw_disk_bus': 'ide'}) as image:
        yield image


def test_a_rebuild_gives_the_volume_the_properties_of_its_new_image(
        boot, storage, tenant, other):
    volume = storage.bootable()
    server = boot(OVERRIDES, '--volume', volume, image=None)
    server.do('rebuild', '--image', other, '--reimage-boot-volume')
    check(server, machine='pc-i440fx')
    assert server.domain.find('devices/video/model').get('type') == 'vga'
    found = storage.properties(volume)
    assert found['image_id'] == other
    assert found['hw_disk_bus'] == 'ide'
    assert 'hw_machine_type' not in found
    others = {**OVERRIDES, 'os_command_line': 'console=ttyS0 quiet rebuilt=1'}
    tenant('--os-compute-api-version', '2.92', 'server', 'rebuild', '--image',
           other, *command.overriding(others), server.id)
    server.settled('ACTIVE')
    check(server, overrides=others, machine='pc-i440fx')


# --- disks of a server ------------------------------------------------------

def attach(tenant, storage, server, *volumes):
    for volume in volumes:
        tenant('server', 'add', 'volume', server.id, volume)
        storage.settled(volume, 'in-use')


def detach(tenant, storage, server, volume):
    tenant('server', 'remove', 'volume', server.id, volume)
    storage.settled(volume)


def buses(server):
    """Return device -> bus of its disks."""
    return {target.get('dev'): target.get('bus') for target in
            server.domain.findall('devices/disk/target')}


def seen(server, *changes):
    """Wait until the guest has seen its disks change."""
    processes.wait_for(
        lambda: server.told.plugged == list(changes), 'the disks', 120)


def test_overrides_lie_over_an_image_made_a_volume_and_the_next_one_follows(
        boot, storage, tenant):
    data = storage.volume()
    server = boot(OVERRIDES, '--boot-from-volume', '1')
    check(server, machine='pc-i440fx')
    attach(tenant, storage, server, data)
    seen(server, ['sda', 'sdb'])
    detach(tenant, storage, server, data)
    seen(server, ['sda', 'sdb'], ['sda'])


def test_a_volume_that_is_plugged_in_moves_with_the_root_disk(
        boot, storage, tenant):
    data = storage.volume()
    server = boot({}, '--boot-from-volume', '1')
    assert server.told.disks == ['vda']
    attach(tenant, storage, server, data)
    seen(server, ['vda', 'vdb'])
    for overrides, bus, disks in (
            (places.SCSI, 'scsi', ['sda', 'sdb']),
            ({}, 'virtio', ['vda', 'vdb'])):
        server.restart(*command.replacing(overrides))
        assert set(buses(server).values()) == {bus}
        assert server.told.disks == disks


def test_volumes_come_and_go_between_an_update_and_the_next_start(
        boot, storage, tenant):
    first, second = storage.volume(), storage.volume()
    server = boot({}, '--boot-from-volume', '1')
    attach(tenant, storage, server, first)
    server.do('stop', until='SHUTOFF')
    server.run('set', *command.overriding(OVERRIDES))
    attach(tenant, storage, server, second)
    server.do('start')
    check(server, ['sda', 'sdb', 'sdc'], machine='pc-i440fx')
    server.do('stop', until='SHUTOFF')
    server.run('set', '--no-image-prop-override')
    detach(tenant, storage, server, first)
    server.do('start')
    assert server.told.disks == ['vda', 'vdb']
    sources = [source.get('name') for source in
               server.domain.findall('devices/disk/source')]
    assert f'volumes/volume-{second}' in sources
    assert f'volumes/volume-{first}' not in sources


def test_no_volume_can_be_plugged_into_ide(boot, storage, tenant):
    data = storage.volume()
    server = boot({'hw_disk_bus': 'ide'}, '--boot-from-volume', '1')
    tenant('server', 'add', 'volume', server.id, data)
    storage.settled(data)
    action = tenant.json('server', 'event', 'list', server.id)[0]
    assert action['Action'] == 'attach_volume'
    events = tenant.json('server', 'event', 'show', server.id,
                         action['Request ID'])['events']
    assert 'Error' in {event['result'] for event in events}
    assert buses(server) == {'hda': 'ide'}
    server.do('stop', until='SHUTOFF')
    attach(tenant, storage, server, data)
    server.do('start')
    assert buses(server) == {'hda': 'ide', 'hdb': 'ide'}
    assert server.told.disks == ['sda', 'sdb']


def test_nova_puts_what_it_attaches_beside_sata_on_scsi(
        boot, storage, tenant):
    data = storage.volume()
    server = boot({'hw_disk_bus': 'sata'}, '--boot-from-volume', '1')
    attach(tenant, storage, server, data)
    assert buses(server) == {'sda': 'sata', 'sdb': 'scsi'}
    server.restart('--image-prop-override', 'hw_disk_bus=virtio')
    assert buses(server) == {'vda': 'virtio', 'vdb': 'virtio'}
    server.restart('--image-prop-override', 'hw_disk_bus=sata')
    assert buses(server) == {'sda': 'sata', 'sdb': 'sata'}
    assert server.told.disks == ['sda', 'sdb']


def test_a_volume_grows_while_it_is_attached(
        deployment, boot, storage, tenant):
    volume = storage.bootable()
    server = boot(OVERRIDES, '--volume', volume, image=None)
    tenant('--os-volume-api-version', '3.42', 'volume', 'set', '--size', '2',
           volume)
    host = deployment.hosts[server.host]
    processes.wait_for(
        lambda: f'{2 << 30}' in host.virsh('domblkinfo', server.id, 'sda'),
        'the larger disk', 60)
    assert server.api == OVERRIDES


# --- life -------------------------------------------------------------------

def test_a_snapshot_of_a_server_boots_with_what_was_in_force(
        boot, storage, operator):
    server = boot(OVERRIDES, '--volume', storage.bootable(), image=None)
    with server.snapshot(operator) as image:
        copy = boot({}, image=image)
        assert copy.api == {}
        check_guest(copy, ['sda'], OVERRIDES, 'q35')


def test_a_shelved_server_takes_others(boot, storage):
    server = boot(OVERRIDES, '--volume', storage.bootable(), image=None)
    server.offload()
    assert server.api == OVERRIDES
    others = {'os_command_line': 'console=ttyS0 quiet shelved=1', **places.SCSI}
    server.run('set', *command.overriding(others))
    server.do('unshelve')
    check(server, overrides=others)


def test_a_volume_of_another_type_keeps_its_properties(
        boot, storage, operator):
    volume = storage.bootable()
    before = storage.properties(volume)
    operator('volume', 'set', '--type', 'archive', '--retype-policy',
             'on-demand', volume)
    processes.wait_for(
        lambda: storage.settled(volume).volume_type == 'archive', 'the type')
    assert storage.properties(volume) == before
    server = boot(OVERRIDES, '--volume', volume, image=None)
    check(server)
    assert 'archive/' in server.domain.find('devices/disk/source').get('name')


def test_a_migration_and_a_rescue_keep_them(
        deployment, boot, storage, imported, operator, tenant):
    data = storage.volume()
    server = boot({}, '--volume', storage.bootable(), image=None)
    attach(tenant, storage, server, data)
    server.restart(*command.overriding(OVERRIDES))
    server.migrate(operator)
    # A server on volumes is rescued with its own disks beside it, or not at
    # all (API.rescue).
    tenant('image', 'set', '--property', 'hw_rescue_device=disk',
           '--property', 'hw_rescue_bus=scsi', imported)
    exceptions.raise_from_response(
        deployment.operator.compute.post(
            f'/servers/{server.id}/action', microversion='2.87',
            json={'rescue': {'rescue_image_ref': imported}}))
    server.settled('RESCUE')
    assert buses(server) == dict.fromkeys(('sda', 'sdb', 'sdc'), 'scsi')
    server.do('unrescue')
    check(server, ['sda', 'sdb'])
