"""What a create does before it lays overrides over the image."""

import pytest

from nova_image_override import override_record as record
from nova_image_override.api.change import create

OWN = {'hw_disk_bus': 'ide', 'os_glance_import_task': 'x', 'trait:A': 'y'}


@pytest.mark.parametrize('forged', [
    *record.properties({'hw_disk_bus': 'ide', 'trait:A': None},
                       {'hw_disk_bus': None, 'trait:A': 'required'}),
    *record.unfinished({'': '', 'hw_disk_bus': 'virtio'}), record.OFFLOADED])
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
