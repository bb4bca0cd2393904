"""What a create does before it lays overrides over the image."""

import pytest

from nova_image_override import metadata_keys
from nova_image_override.api.change import create
from nova_image_override.api.change import store
from tests.unit.strategies import overrides_of

OWN = {'hw_disk_bus': 'ide', 'os_glance_import_task': 'x', 'trait:A': 'y'}


@pytest.mark.parametrize('forged', [
    *overrides_of({'hw_disk_bus': 'ide', 'trait:A': None}).recorded(
        {'trait:A': 'required'}),
    *store.unfinished(['', 'hw_disk_bus'], 'virtio', 'ide'),
    metadata_keys.OFFLOADED])
def test_a_record_that_a_volume_claims_is_forgotten(forged):
    properties = {**OWN, forged: '=x'}
    volume = {'id': '', 'min_ram': 0, 'properties': properties}
    create.forget_forged_record(volume)
    assert volume == {'id': '', 'min_ram': 0, 'properties': OWN}
    # It may be what a cache holds.
    assert forged in properties


@pytest.mark.parametrize('image', [
    {}, {'properties': None}, {'properties': {}}, {'properties': OWN}])
def test_what_claims_nothing_is_left_as_it_is(image):
    before = dict(image)
    create.forget_forged_record(image)
    assert image == before
    assert image.get('properties') is before.get('properties')
