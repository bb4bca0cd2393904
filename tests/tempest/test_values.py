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
        assert takes(name, value) and takes(name, None), name


def test_the_api_takes_what_may_be_closed_or_limited(takes):
    limited = test_servers_negative.LIMITED.items()
    tried = [*test_servers_negative.WELL_KNOWN.items(), *(
        (name, value) for name, values in limited for value in values)]
    assert len(tried) > len(limited) > 0
    assert [each for each in tried if not takes(*each)] == []


def test_the_api_refuses_what_must_be_invalid(takes):
    assert [each for overrides in test_servers_negative.INVALID.values()
            for each in overrides.items() if takes(*each)] == []
