"""Fixtures of the unit tests, and how hypothesis runs them.

The same examples are tried in every run unless ``HYPOTHESIS_PROFILE=fuzz`` asks
for new ones, and many more of them.
"""

import os

import hypothesis
import pytest

from nova_image_override import override
from nova_image_override.properties import catalog as catalog_module

# No deadline: the speed of the machine decides no test.
hypothesis.settings.register_profile(
    'ci', derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile(
    'fuzz', deadline=None, max_examples=5000, print_blob=True)
# To see whether each branch is taken, not whether it is right.
hypothesis.settings.register_profile(
    'few', parent=hypothesis.settings.get_profile('ci'), max_examples=10)
hypothesis.settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'ci'))


@pytest.fixture(scope='session')
def catalog() -> catalog_module.Catalog:
    """The catalogue of the running Nova."""
    return catalog_module.Catalog()


@pytest.fixture(scope='session')
def parser(catalog: catalog_module.Catalog) -> override.Parser:
    return override.Parser(catalog)
