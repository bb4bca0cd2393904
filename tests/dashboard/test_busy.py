"""Horizon that makes a client anew whenever it needs one."""

import pytest
import requests

from tests.dashboard import pages
from tests.dashboard.pages import OVERRIDES
from tests.dashboard.test_rebuild import image_id
from tests.dashboard.test_rebuild import rebuild
from tests.dashboard.test_rebuild import result


@pytest.fixture
def session(busy_horizon_url, cloud):
    return lambda user='demo': pages.Session(busy_horizon_url, user)


def test_what_is_launched_has_its_overrides(session, cloud):
    network = requests.get(
        f'{cloud.url}/network/v2.0/networks', timeout=300).json()['networks'][0]
    server = session().ask('POST', 'servers/', {
        'name': 'guest', 'source_id': image_id(cloud, 'debian'),
        'flavor_id': 'two-cpus', 'nics': [{'net-id': network['id']}],
        'image_props_override': OVERRIDES})
    assert cloud.settled(server['id'])['image_props_override'] == OVERRIDES


def test_what_is_rebuilt_has_its_overrides(session, cloud):
    server = cloud.create('guest', {})
    rebuild(session, cloud, server, OVERRIDES)
    assert result(cloud, server) == (OVERRIDES, None)


def test_what_an_instance_overrides_is_shown(session, cloud):
    server = cloud.create('guest', OVERRIDES)
    assert session().ask('GET', f'servers/{server}/')['overrides'] == OVERRIDES
    for user, page in (('demo', f'/project/instances/{server}/'),
                       ('admin', f'/admin/instances/{server}/detail')):
        assert 'hw_disk_bus scsi virtio' in pages.text_of(
            session(user).tab(page))
    assert 'hw_disk_bus scsi demo 1' in pages.text_of(
        session('admin').get('/admin/image_props_override/used/'))


# --- refusals ---------------------------------------------------------------

def test_the_check_of_a_rebuild_rebuilds_nothing(session, cloud):
    server = cloud.create('guest', OVERRIDES)
    for asked in {}, {'image_props_override': {'hw_disk_bus': 'ide'}}:
        assert 'accepted' in session().ask(
            'POST', f'servers/{server}/rebuild/', {
                'image': image_id(cloud, 'debian'), **asked})
    assert cloud.requests('POST', f'/servers/{server}/action') == []
    assert len(cloud.requests('POST', '/image-props-override/check')) == 2


def test_the_table_does_not_say_that_nothing_is_overridden(session, cloud):
    cloud.create('guest', OVERRIDES)
    for user, table in (('demo', '/project/instances/'),
                        ('admin', '/admin/instances/')):
        assert 'not known' in pages.text_of(session(user).get(table))


def test_a_list_by_property_shows_no_server_that_may_not_override_it(
        session, cloud):
    cloud.create('plain', {})
    pages_shown = [session('admin').get(
        '/admin/image_props_override/hw_disk_bus/')]
    for user, table, name in (
            ('demo', '/project/instances/', 'instances__filter__q'),
            ('admin', '/admin/instances/',
             'instances__filter_admin_instances__q')):
        pages_shown.append(session(user).post(table, {
            name: 'hw_disk_bus', f'{name}_field': 'image_props_override'}))
    for page in map(pages.text_of, pages_shown):
        assert 'plain' not in page
        assert 'Unable to retrieve instances.' in page
