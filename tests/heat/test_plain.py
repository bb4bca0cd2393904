"""A Heat with the plugin, and a cloud without the extension."""

import pytest

from testing import paste_config
from testing.site import cloud as cloud_module
from tests.heat.real import created
from tests.heat.real import refused


class Cloud(cloud_module.Cloud):
    APP = paste_config.NOVA_APP


@pytest.mark.parametrize('asked', [
    {'image_props_override': {'hw_disk_bus': 'scsi'}},
    {'image_props_override_preset': 'windows'}])
def test_overrides_are_refused_before_any_request(
        sent, stack, template, asked):
    error = refused(stack('create', template(**asked)))
    assert 'does not have nova-image-override' in error
    assert not sent()


def test_a_server_without_overrides_is_created(stack, template):
    created(stack('create', template()))
