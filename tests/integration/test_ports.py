"""Servers with ports: their cards are what the overrides say, early and late.
"""

import functools
import json

import pytest
import requests

from testing.deployment import nova
from testing.deployment import places
from testing.deployment import processes

#: hw_vif_model -> the guest's driver
DRIVERS = {
    'virtio': 'virtio_net', 'e1000': 'e1000', 'e1000e': 'e1000e',
    'rtl8139': '8139cp', 'pcnet': 'pcnet32', 'ne2k_pci': 'ne2k-pci',
    'vmxnet3': 'vmxnet3'}


@pytest.fixture
def connect(boot):
    """Boot a server with a port."""
    def connected(overrides, **how):
        return boot(overrides, network='net', **how)

    return connected


def models(domain):
    """Return the model of each card, in the order of the guest."""
    return [model.get('type') for model in
            domain.findall('devices/interface/model')]


@pytest.mark.parametrize('model', DRIVERS)
def test_the_card_is_of_the_model_that_is_asked_for(connect, model):
    server = connect({'hw_vif_model': model})
    assert models(server.domain) == [model]
    assert [*server.told.cards.values()] == [DRIVERS[model]]


def test_rings_are_packed(connect):
    plain, packed = connect({}), connect({'hw_virtio_packed_ring': 'true'})
    for server, is_packed in ((plain, '0'), (packed, '1')):
        card, = server.told.features(places.CARD)
        assert card[places.PACKED] == is_packed


def test_a_stopped_server_is_given_another_card_and_later_ones_are_like_it(
        connect, tenant):
    server = connect({})
    (address, driver), = server.told.cards.items()
    assert driver == 'virtio_net'
    server.restart('--image-prop-override', 'hw_vif_model=e1000')
    assert models(server.domain) == ['e1000']
    assert server.told.cards == {address: 'e1000'}
    tenant('server', 'add', 'network', server.id, 'net')
    processes.wait_for(lambda: len(models(server.domain)) == 2, 'the card')
    assert models(server.domain) == ['e1000', 'e1000']
    server.do('reboot', '--hard')
    first, *others = tenant.json('port', 'list', '--server', server.id)
    assert server.told.cards == {
        port['MAC Address']: 'e1000' for port in (first, *others)}
    tenant('server', 'remove', 'port', server.id, first['ID'])
    processes.wait_for(
        lambda: len(models(server.domain)) == 1, 'the card\'s end')
    remaining, = server.domain.findall('devices/interface/mac')
    assert remaining.get('address') == others[0]['MAC Address']


@pytest.mark.parametrize(('bus', 'device'), [
    ('ide', '/dev/sr0'), ('sata', '/dev/sr0'), ('scsi', '/dev/sr0'),
    # QEMU's usb-storage shows guests what libvirt gives it as a disk.
    ('usb', '/dev/sda')])
def test_the_config_drive_is_a_cd_on_the_bus_that_is_asked_for(
        boot, bus, device):
    server = boot({'img_config_drive': 'mandatory', 'hw_cdrom_bus': bus})
    target = server.domain.find("devices/disk[@device='cdrom']/target")
    assert target.get('bus') == bus
    drive, *files = server.told.configuration
    assert drive == device
    assert 'meta_data.json' in files


@pytest.fixture
def metadata(deployment):
    """Nova's metadata service."""
    service = nova.Metadata(deployment.state)
    service.restart()
    yield service
    service.kill()


def test_the_metadata_service_knows_the_server_and_says_nothing_of_the_record(
        connect, metadata, deployment):
    servers = [connect(overrides, wait=False) for overrides in (
        {}, {'hw_vif_model': 'e1000', 'os_command_line': 'console=ttyS0 mine'})]
    said = []
    for server in servers:
        server.settled('ACTIVE')
        shown = deployment.operator.compute.get_server(server.id)
        ask = functools.partial(
            metadata.ask, server=server.id, project=shown.project_id)
        everything = json.loads(ask('/openstack/latest/meta_data.json'))
        assert everything['uuid'] == server.id
        said.append(sorted(everything))
        assert ask('/latest/meta-data/instance-type') == 'small'
        texts = str(everything) + ask('/openstack/latest/network_data.json')
        assert 'image_' not in texts
        assert 'e1000' not in texts
    plain, overridden = said
    assert plain == overridden


def test_the_metadata_service_tells_another_project_nothing(
        connect, metadata):
    server = connect({'hw_vif_model': 'e1000'})
    with pytest.raises(requests.HTTPError) as caught:
        metadata.ask('/openstack', server.id, 'another')
    assert caught.value.response.status_code == 404
