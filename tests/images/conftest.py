"""Fixtures of the tests of images."""

import os
import pathlib
import shutil

import pytest

from testing import wsgi_server
from tests import environments
from tests.images import image
from tests.kits import web_servers


@pytest.fixture(scope='session', autouse=True)
def debian():
    if os.geteuid() != 0:
        pytest.fail('needs root: debootstrap and buildah do', pytrace=False)
    # "make test-images" installs the first two; Debian has no pyenv.
    for program in 'buildah', 'debootstrap', 'pyenv':
        if shutil.which(program) is None:
            pytest.fail(f'needs {program}: there is none on PATH',
                        pytrace=False)
    image.debian()


@pytest.fixture(scope='session')
def wheel():
    """The package, as "make test-images" builds it."""
    return environments.find('images', 'WHEEL', '.venv/wheel')


@pytest.fixture
def identity():
    with wsgi_server.serving(web_servers.identity) as url:
        yield url


@pytest.fixture
def log(tmp_path) -> pathlib.Path:
    return tmp_path / 'nova-api.log'
