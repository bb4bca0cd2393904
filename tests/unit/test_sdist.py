"""The source distribution that setuptools makes of a clean checkout."""

import tarfile

import pytest

from tests.unit.checkout import built
from tests.unit.checkout import files
from tests.unit.checkout import tracked

#: What is of use only in a repository.
REPOSITORY_ONLY = {'.ci/run', '.gitignore'}


@pytest.fixture(scope='module')
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp('sdist')
    with tarfile.open(built(folder, 'sdist')) as archive:
        archive.extractall(folder / 'unpacked', filter='data')
    (unpacked,) = (folder / 'unpacked').iterdir()
    return unpacked


def test_the_sdist_holds_every_file_of_the_repository(sdist):
    assert tracked() - files(sdist) == REPOSITORY_ONLY


def test_the_sdist_holds_nothing_else_but_what_setuptools_writes(sdist):
    written = files(sdist) - tracked()
    assert {name for name in written if '.egg-info/' not in name} == {
        'PKG-INFO'}
