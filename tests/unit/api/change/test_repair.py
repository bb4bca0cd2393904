"""Which differences between a server and its request spec are repaired."""

from nova.virt.libvirt import driver

from nova_image_override.api.change import repair


def test_what_nova_compute_stores_with_the_server_alone_is_known():
    """Another one would be taken for a change that was taken back."""
    assert {*driver.REGISTER_IMAGE_PROPERTY_DEFAULTS} == repair._DEFAULTS
