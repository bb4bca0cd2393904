"""What Nova's functions read of a guest's image."""

from nova_image_override.api.guest import check
from nova_image_override.api.guest.guest import boot_metadata
from tests.unit.api.guest import guests
from tests.unit.strategies import overrides_of


def test_a_blank_volume_can_be_booted_and_has_no_name():
    image = boot_metadata({})
    assert image == {'status': 'active', 'name': '', 'properties': {}}


def test_an_image_keeps_its_own_name_and_status():
    image = {'name': 'image', 'status': 'queued', 'properties': {'a': 'b'}}
    assert boot_metadata(image) == image


def test_a_blank_volume_is_refused_as_an_image_is():
    overrides = overrides_of({'hw_mem_encryption': 'false'})
    assert check.problems(
        guests.flavor(hw__mem_encryption='true'),
        boot_metadata({}, overrides.merge({})), {}, overrides,
    ).keys() == {'hw_mem_encryption'}
