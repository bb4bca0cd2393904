"""An unmodified nova-api beside ours, and one with other lists.

What each of the two makes of the parameter and of servers that have overrides.
"""

import pytest

from testing.deployment import nova
from testing.deployment import places
from tests.integration import whole


@pytest.fixture(scope='module')
def other(deployment):
    """A user of one that permits a single property."""
    api = nova.NovaAPI(deployment.state, 'nova-api-1')
    api.rules['allowed_properties'] = 'hw_video_model'
    api.restart()
    yield whole.Client(deployment, service=api.name)
    api.kill()


@pytest.fixture
def asked(whole_image, small):
    """A request with overrides."""
    return whole.body(whole_image, small, image_props_override=whole.ONE)


def test_an_unmodified_one_refuses_the_parameter(plain, asked):
    answer = plain.send('POST', '', asked, expected=400)
    assert whole.PARAMETER in answer.json()['badRequest']['message']
    assert plain.send(
        'GET', '/../image-props-override').status_code == 404


def test_an_unmodified_one_drops_the_parameter_on_v2(
        client, plain, asked):
    # It knows no servers without ports, and the project has one network.
    del asked['server']['networks']
    server = plain.send('POST', '/../../v2/servers', asked,
                        expected=202).json()['server']['id']
    assert client.settled(server, 'ACTIVE')[whole.PARAMETER] == {}
    client.delete(server)
    # Ours does not.
    answer = client.send('POST', '/../../v2/servers', asked, expected=400,
                         **{'OpenStack-API-Version': ''})
    assert whole.PARAMETER in answer.json()['badRequest']['message']


def test_an_unmodified_one_shows_and_uses_servers_that_have_them(
        client, plain, everywhere, server):
    assert whole.PARAMETER not in plain.show(server)
    plain.do(server, 'os-stop', 'SHUTOFF')
    plain.do(server, 'os-start', 'ACTIVE')
    plain.do(server, 'shelve', places.OFFLOADED)
    plain.do(server, 'unshelve', 'ACTIVE')
    assert everywhere.agree(client.show(server)) == whole.ONE


def test_an_unmodified_rebuild_loses_overrides_and_others_can_be_given(
        client, plain, everywhere, whole_image, server):
    plain.rebuild(server, whole_image)
    shown = client.settled(server, 'ACTIVE')
    assert shown[whole.PARAMETER] == {}
    # Nova leaves the bus of disks alone, and the request spec if the image is
    # the same.
    everywhere.built(shown, {'hw_video_model': 'virtio', 'hw_disk_bus': 'sata'})
    assert everywhere.spec(server).image.properties.hw_video_model == 'vga'
    client.do(server, 'os-stop', 'SHUTOFF')
    client.update(server, whole.OTHER, expected=200)
    shown = client.do(server, 'os-start', 'ACTIVE')
    assert shown[whole.PARAMETER] == whole.OTHER
    everywhere.built(shown, whole.OTHER)
    client.rebuild(server, whole_image)
    assert everywhere.agree(
        client.settled(server, 'ACTIVE')) == whole.OTHER


def test_an_unmodified_nova_api_unshelves_a_server_with_its_update(
        client, plain, everywhere, server):
    client.do(server, 'shelve', places.OFFLOADED)
    client.update(server, whole.OTHER, expected=200)
    plain.do(server, 'unshelve', 'ACTIVE')
    assert everywhere.agree(client.show(server)) == whole.OTHER


def test_each_goes_by_its_own_list(
        client, other, everywhere, whole_image, asked, server):
    answer = other.send('POST', '', asked, expected=403)
    assert {*answer.json()['forbidden'][whole.PARAMETER]} == {
        'hw_disk_bus', 'hw_boot_menu'}
    assert other.show(server)[whole.PARAMETER] == whole.ONE
    # What it keeps needs no permission, what it changes does.
    other.rebuild(server, whole_image, {
        **whole.ONE, 'hw_video_model': 'virtio'})
    other.settled(server, 'ACTIVE')
    other.do(server, 'os-stop', 'SHUTOFF')
    other.update(server, whole.ONE, expected=200)
    other.update(server, whole.OTHER, expected=403)
    other.update(server, {}, expected=200)
    assert everywhere.agree(client.show(server)) == {}
    other.update(server, whole.ONE, expected=403)
    client.update(server, whole.ONE, expected=200)
    client.do(server, 'os-start', 'ACTIVE')
    assert everywhere.agree(client.show(server)) == whole.ONE
