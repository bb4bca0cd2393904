"""Servers with overrides, from one release of Nova to the next.

The first release boots them; each later one finds them as the one before it
has left them. ``make test-upgrade`` runs this once for each.
"""

import os
import pathlib

import pytest

from testing.harness import base
from tests.functional import update_case
from tests.upgrade import cloud as cloud_module

#: The properties of the image that they are booted from.
IMAGE = {'hw_video_model': 'cirrus', 'hw_boot_menu': 'true'}

GIVEN = {
    'active': {'hw_video_model': 'vga', 'hw_boot_menu': None},
    'nodes': update_case.NUMA,
    'stopped': {'hw_machine_type': 'pc-q35-2.10', 'hw_video_model': 'vga'},
    'offloaded': {'hw_video_model': 'vga'},
}


@pytest.fixture(scope='module')
def cloud():
    path = os.environ.get('UPGRADE')
    if not path:
        pytest.fail('run "make test-upgrade"', pytrace=False)
    with cloud_module.Cloud.kept_at(pathlib.Path(path)) as cloud:
        if not cloud.found:
            image = cloud.image(**IMAGE)
            cloud.kept = {'image': image, 'servers': {
                name: [make(cloud, name)(overrides, image=image), overrides]
                for name, overrides in GIVEN.items()}}
        yield cloud


def make(cloud, name):
    return {'stopped': cloud.stopped, 'offloaded': cloud.offloaded}.get(
        name, cloud.boot)


@pytest.fixture(params=GIVEN)
def server(request, cloud):
    """Each of them in turn: its ID."""
    return cloud.kept['servers'][request.param][0]


def given(cloud, server):
    return dict(cloud.kept['servers'].values())[server]


def look(cloud, server):
    """Check the guest, as it is built, against its overrides."""
    cloud.assert_changed(server, given(cloud, server))
    guest, overrides = cloud.guest(server), given(cloud, server)
    assert guest.find('devices/video/model').get('type') == overrides.get(
        'hw_video_model', IMAGE['hw_video_model'])
    assert (guest.find('os/bootmenu') is None) == (
        'hw_boot_menu' in overrides)
    assert len(guest.findall('cpu/numa/cell')) == int(
        overrides.get('hw_numa_nodes', 0))


def test_a_server_shows_its_overrides(cloud, server):
    cloud.assert_changed(server, given(cloud, server))


def test_a_list_finds_those_that_override_a_property(cloud):
    for name in ('hw_boot_menu', 'hw_numa_nodes', 'hw_video_model',
                 'hw_vif_model'):
        found = cloud.http(
            'GET', f'/servers?{base.PARAMETER}={name}').body['servers']
        assert {each['id'] for each in found} == {
            each for each, overrides in cloud.kept['servers'].values()
            if name in overrides}


@pytest.mark.parametrize('name', ['active', 'nodes'])
def test_a_guest_is_built_anew_with_its_overrides(cloud, name):
    server, _ = cloud.kept['servers'][name]
    cloud.hard_reboot(server)
    look(cloud, server)


def test_a_rebuild_keeps_them(cloud):
    server, _ = cloud.kept['servers']['active']
    answer = cloud.rebuild(server, image=cloud.kept['image'])
    assert answer.status == 202, answer.text
    look(cloud, server)


def test_a_stopped_server_takes_other_ones(cloud):
    pair = cloud.kept['servers']['stopped']
    server, overrides = pair
    pair[1] = {**overrides, 'hw_video_model': {
        'vga': 'virtio', 'virtio': 'vga'}[overrides['hw_video_model']]}
    assert cloud.update(server, pair[1]).status == 200
    cloud.do(server, 'os-start')
    look(cloud, server)
    cloud.do(server, 'os-stop', 'SHUTOFF')


def test_an_offloaded_server_comes_back_with_them(cloud):
    server, _ = cloud.kept['servers']['offloaded']
    cloud.do(server, 'unshelve')
    look(cloud, server)
    cloud.offload(server)


def test_what_is_refused_changes_nothing(cloud):
    server, overrides = cloud.kept['servers']['active']
    before = cloud.state(server)
    answer = cloud.rebuild(server, {'hw_no_such': '1'},
                           image=cloud.kept['image'])
    assert (answer.status, answer.problems) == (400, {'hw_no_such': 'unknown'})
    answer = cloud.update(server, {'hw_video_model': 'virtio'})
    assert answer.status == 409, answer.text
    assert cloud.state(server) == before
    cloud.assert_changed(server, overrides)


def test_a_new_server_gets_what_it_asks_for(cloud):
    overrides = {'hw_video_model': 'virtio'}
    server = cloud.boot(overrides, image=cloud.kept['image'])
    cloud.kept['servers'][f'new-{len(cloud.kept["servers"])}'] = [
        server, overrides]
    look(cloud, server)
