"""The names and values that the tests try are what they are meant to be.

They are compared with the published schema of the newest release.
"""

import json
import pathlib

import jsonschema
import pytest

from nova_image_override_tempest_plugin import config
from nova_image_override_tempest_plugin.tests.api import test_servers_negative

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def takes():
    """Return whether the API accepts an override."""
    validator = jsonschema.Draft202012Validator(json.loads(
        (ROOT / 'api_schemas' / '1.0-nova-34.json').read_text()))
    return lambda name, value: validator.is_valid({name: value})


def test_the_api_takes_the_overrides_that_are_tried_by_default(takes):
    option = next(o for o in config.OPTIONS if o.name == 'overrides')
    assert option.default
    for name, value in option.default.items():
        assert takes(name, value), name
        assert takes(name, None), name


def test_the_api_takes_what_may_be_closed(takes):
    assert test_servers_negative.WELL_KNOWN
    for name, value in test_servers_negative.WELL_KNOWN.items():
        assert takes(name, value), name


def test_the_api_takes_the_values_that_may_be_limited(takes):
    assert all(test_servers_negative.LIMITED.values())
    assert test_servers_negative.LIMITED
    for name, values in test_servers_negative.LIMITED.items():
        for value in values:
            assert takes(name, value), (name, value)


def test_the_api_refuses_what_must_be_invalid(takes):
    assert not takes('hw_disk_bus', 'scssi')
    assert not takes('hw_no_such_property', 'x')
    assert not takes('hw_os_command_line', 'x')
    assert not takes('vm_mode', 'hvm')
