"""The template of docs/source/user/nfv-start.rst."""

import pytest

from testing.site import cloud as cloud_module
from tests import environments
from tests import nfv_guest
from tests.heat.real import created
from tests.heat.real import failed

TEMPLATE = (environments.ROOT / 'docs/source/user/nfv-heat.yaml').read_text()

Cloud = nfv_guest.Cloud


@pytest.fixture
def parameters(cloud):
    return {'image': cloud.image(**cloud_module.IMAGE),
            'flavor': cloud.flavor(4, 2048, hw__mem_page_size='any')}


def test_the_template_makes_the_guest_of_the_page(cloud, stack, parameters):
    cloud.assert_guest(
        created(stack('create', TEMPLATE, parameters=parameters)))


def test_a_flavor_that_leaves_no_choice_of_pages_fails_it_and_says_why(
        cloud, stack, parameters):
    parameters['flavor'] = cloud.flavor(4, 2048)
    assert 'hw_mem_page_size: flavor_conflict: ' in failed(
        stack('create', TEMPLATE, parameters=parameters))
