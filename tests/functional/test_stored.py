"""What releases of this package have stored with servers is read by this one.

``tests/functional/stored`` has the rows that each release wrote, one file for
each form of them. A release that writes others adds a file, with
WRITE_SAMPLES=1, and keeps those before it: servers live longer than releases.
"""

import json
import os
import pathlib
from unittest import mock

from nova import objects
import pytest

from nova_image_override import metadata_keys
from nova_image_override.api.change import store
from nova_image_override.server_record import ServerRecord
from tests.functional import presets

FOLDER = pathlib.Path(__file__).with_name('stored')

#: The file that this release writes.
NOW = FOLDER / '1.0.json'

IMAGE = {'hw_boot_menu': 'true', 'os_distro': '=odd', 'os_admin_user': ''}
OVERRIDES = {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi',
             'hw_boot_menu': None, 'os_distro': 'debian',
             'os_admin_user': 'admin'}
OTHER = {'hw_disk_bus': 'sata', 'os_type': 'linux'}

#: Rows that no release has written yet.
UNKNOWN = {'image_os_glance_override_later': '7',
           'image_os_glance_override_later:hw_disk_bus': 'x'}

SERVERS = [
    pytest.param(path, name, id=f'{path.stem} {name}')
    for path in sorted(FOLDER.glob('*.json'))
    for name in json.loads(path.read_text())]


class Killed(BaseException):
    """nova-api is no more."""


class Cloud(presets.Cloud):
    OPTIONS = {'allowed_properties': ['*']}
    POLICY = {}

    def rows(self, server):
        """Return what is stored of its image properties, defaults left out."""
        metadata = self.instance(server).system_metadata
        return {key: value for key, value in sorted(metadata.items())
                if metadata_keys.is_property(name := key.removeprefix('image_'))
                or name in {*IMAGE, *OVERRIDES, *OTHER, *presets.VGA}}

    def give(self, server, rows, task_state=None):
        """Store ROWS with a server in place of its image properties."""
        instance = self.instance(server)
        instance.task_state = task_state
        if task_state:
            objects.InstanceAction.action_start(
                instance._context, server, store.ACTION)
        instance.system_metadata = {
            **ServerRecord.of(instance).with_properties({}), **rows}
        instance.save()


def stored(path, name):
    """Return a server's overrides, and what is stored of it."""
    server = json.loads(path.read_text())[name]
    return server.pop('overrides'), server


def test_this_release_stores_what_its_file_has(cloud):
    image = cloud.image(**IMAGE)
    created = cloud.boot(OVERRIDES, image=image)
    offloaded = cloud.offloaded(OVERRIDES, image=image)
    cloud.update(offloaded, OTHER).expect(200)
    cut_off = cloud.stopped(OVERRIDES, image=image)
    with mock.patch.object(store, 'agree', side_effect=Killed), \
            pytest.raises(Killed):
        cloud.update(cut_off, OTHER)
    preset = cloud.booted('vga', image=image)
    shelved = 'image_os_glance_override_offloaded'
    found = {
        'created with a preset': {
            'overrides': presets.VGA, 'rows': cloud.rows(preset)},
        'created': {'overrides': OVERRIDES, 'rows': cloud.rows(created)},
        'changed while offloaded': {'overrides': OTHER, 'rows': {
            **cloud.rows(offloaded), shelved: 'the shelved image'}},
        'changed by a nova-api that was killed': {
            'overrides': OTHER, 'rows': cloud.rows(cut_off),
            'task_state': cloud.instance(cut_off).task_state}}
    if os.environ.get('WRITE_SAMPLES'):
        NOW.write_text(json.dumps(found, indent=1) + '\n')
    assert json.loads(NOW.read_text()) == found


@pytest.mark.parametrize('unknown', [{}, UNKNOWN], ids=['', 'and unknown'])
@pytest.mark.parametrize(('path', 'name'), SERVERS)
def test_a_server_with_them_shows_its_overrides_and_keeps_them(
        cloud, path, name, unknown):
    overrides, found = stored(path, name)
    image = cloud.image(**IMAGE)
    server = cloud.boot({}, image=image)
    cloud.give(server, **{**found, 'rows': {**found['rows'], **unknown}})
    # Who changes a server is waited for first.
    with mock.patch.object(store, 'LEASE', -1):
        assert cloud.shown(server) == overrides
    cloud.rebuild(server, None, image=image).expect(202)
    assert cloud.shown(server) == overrides
    assert cloud.record(server) == {
        each: IMAGE.get(each) for each in overrides}
    cloud.stop(server)
    cloud.update(server, {}).expect(200)
    assert ServerRecord.of(cloud.instance(server)).counts is False


@pytest.mark.parametrize(('path', 'name'), SERVERS)
def test_without_the_record_its_values_are_the_image_s(cloud, path, name):
    _, found = stored(path, name)
    server = cloud.boot({})
    cloud.give(server, {
        key: value for key, value in found['rows'].items()
        if not metadata_keys.is_property(key.removeprefix('image_'))})
    assert cloud.shown(server) == {}
    cloud.rebuild(server, None).expect(202)
    # nova-compute's own defaults.
    assert cloud.rows(server) == {
        'image_hw_disk_bus': 'virtio', 'image_hw_video_model': 'virtio'}
