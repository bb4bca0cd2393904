"""Images and disks in Ceph: servers are clones, and snapshots are made there.

Nova hands Glance the snapshot's place, where it otherwise uploads one
(LibvirtDriver.snapshot).
"""

import pytest

from testing.deployment import ceph
from testing.deployment import command
from tests.integration import life
from tests.integration import whole

_CONFIG = f'{ceph.PLACE}/ceph.conf'


@pytest.fixture(scope='module', autouse=True)
def in_ceph(deployment):
    """Let Glance and the hosts keep everything there."""
    cluster, glance = deployment.ceph, deployment.glance
    cluster.up()
    glance.more = {
        'DEFAULT': {'enabled_backends': 'main:file,ceph:rbd',
                    'show_image_direct_url': 'true',
                    'show_multiple_locations': 'true'},
        'glance_store': {'default_backend': 'ceph'},
        'ceph': {'rbd_store_pool': ceph.POOLS[0],
                 'rbd_store_ceph_conf': str(cluster.config)}}
    disks = {'libvirt': {
        'images_type': 'rbd', 'images_rbd_pool': ceph.POOLS[1],
        'images_rbd_ceph_conf': _CONFIG}}
    _restart(deployment, disks)
    yield
    glance.more = {}
    _restart(deployment, {})
    cluster.stop()


def _restart(deployment, settings):
    deployment.glance.restart()
    for host in deployment.hosts.values():
        host.more = settings
        host.restart_compute()
    deployment.wait_for_hosts()


@pytest.fixture(scope='module')
def image(deployment):
    """The guest's image, in Ceph."""
    identity = deployment.ceph.ceph('fsid').strip()
    with whole.image_with(deployment, {'hw_video_model': 'vga'}) as image:
        assert f'rbd://{identity}/' in (
            deployment.operator.image.get_image(image).direct_url)
        yield image


def check(deployment, server, overrides=life.OVERRIDES):
    """Check all three places, and that the disk is in Ceph."""
    life.check(server, overrides)
    source = server.domain.find('devices/disk/source')
    assert source.get('protocol') == 'rbd'
    assert source.get('name') == f'{ceph.POOLS[1]}/{server.id}_disk'


def test_overrides_are_over_a_clone_and_in_its_snapshot(
        deployment, boot, image, operator):
    server = boot(life.OVERRIDES, image=image)
    check(deployment, server)
    assert 'parent: volumes/' in deployment.ceph.rbd(
        'info', f'{ceph.POOLS[1]}/{server.id}_disk')
    with server.snapshot(operator) as snapshot:
        found = deployment.operator.image.get_image(snapshot)
        assert found.direct_url.startswith('rbd://')
        assert found.hw_disk_bus == 'scsi'
        copy = boot({}, image=snapshot)
        assert copy.api == {}
        assert copy.told.cmdline == life.OVERRIDES['os_command_line']
        assert copy.told.disks == ['sda']
        # The image cannot go while it has a clone.
        copy.run('delete', '--wait')


def test_a_shelved_server_takes_others(deployment, boot, image):
    server = boot(life.OVERRIDES, image=image)
    server.offload()
    others = {**life.OVERRIDES,
              'os_command_line': 'console=ttyS0 shelved=1'}
    server.run('set', *command.overriding(others))
    server.do('unshelve')
    check(deployment, server, others)


def test_a_rebuild_and_a_migration_keep_them(
        deployment, boot, image, operator):
    server = boot(life.OVERRIDES, image=image)
    server.do('rebuild', '--image', image)
    check(deployment, server)
    server.migrate(operator)
    check(deployment, server)
