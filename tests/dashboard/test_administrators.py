"""The administrators' pages in Horizon, without a browser."""

import pytest

from tests.dashboard import pages
from tests.dashboard.pages import OVERRIDES


def test_administrators_see_their_rules(session):
    text = pages.text_of(session('admin').get('/admin/image_props_override/'))
    assert 'hw_disk_bus Disks' in text
    assert 'trait:NAME Which host' in text
    # That one is somebody else's.
    assert 'hw_numa_cpus.N' not in text


def test_administrators_find_the_servers_of_a_property(session, cloud):
    cloud.create('overriding', OVERRIDES)
    cloud.create('plain', {})
    text = pages.text_of(session('admin').get(
        '/admin/image_props_override/hw_disk_bus/'))
    assert 'Displaying 1 item' in text
    assert 'Image Property Overrides hw_disk_bus' in text
    assert 'Instances that override hw_disk_bus' in text
    assert 'hw_disk_bus=scsi, hw_scsi_model=virtio-scsi' in text


def test_administrators_see_who_overrides_what_whoever_may(session, cloud):
    cloud.create('one', OVERRIDES)
    cloud.create('two', {'hw_disk_bus': 'scsi', 'hw_rng_model': None})
    # What an administrator may not override here.
    cloud.create('three', {'hw_numa_nodes': '2'}, user='nfv')
    cloud.create('plain', {})
    text = pages.text_of(session('admin').get(
        '/admin/image_props_override/used/'))
    assert 'Displaying 4 items' in text
    assert 'Image Property Overrides Who overrides what' in text
    for use in ('hw_disk_bus scsi demo 2', 'hw_numa_nodes 2 demo 1',
                'hw_rng_model removed demo 1'):
        assert use in text
    text = pages.text_of(session('admin').post(
        '/admin/image_props_override/used/', {'used__filter__q': 'Removed'}))
    assert 'Displaying 1 item' in text
    assert 'hw_rng_model removed demo 1' in text


@pytest.mark.parametrize('page', ['', 'used/'])
def test_the_panel_is_for_administrators(session, page):
    page = session().get(f'/admin/image_props_override/{page}')
    assert page.status_code == 403
