"""The source distribution that setuptools makes of a clean checkout."""

import email
import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest

ROOT = pathlib.Path(__file__).parents[2]

#: What is of use in a repository only.
REPOSITORY_ONLY = {'.ci/run', '.gitignore'}


def tracked():
    """Return the files of the repository."""
    if not (ROOT / '.git').exists():
        pytest.skip('not a git checkout')
    listed = subprocess.run(
        ['git', 'ls-files', '-z'], cwd=ROOT, capture_output=True, text=True,
        check=True).stdout
    # What a commit will delete is still listed.
    return {name for name in listed.split('\0')
            if name and (ROOT / name).exists()}


@pytest.fixture(scope='module')
def sdist(tmp_path_factory):
    """Make it of a copy: an older egg-info would add what it lists."""
    folder = tmp_path_factory.mktemp('sdist')
    for name in tracked():
        copy = folder / 'source' / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy)
    subprocess.run(
        [sys.executable, '-W', 'ignore', '-c',
         'from setuptools import build_meta\n'
         f'build_meta.build_sdist({str(folder)!r})'],
        cwd=folder / 'source', check=True, capture_output=True)
    (made,) = folder.glob('*.tar.gz')
    with tarfile.open(made) as archive:
        archive.extractall(folder / 'unpacked', filter='data')
    (unpacked,) = (folder / 'unpacked').iterdir()
    return unpacked


def files(folder):
    return {path.relative_to(folder).as_posix()
            for path in folder.rglob('*') if path.is_file()}


def test_it_holds_every_file_of_the_repository(sdist):
    assert tracked() - files(sdist) == REPOSITORY_ONLY


def test_it_holds_nothing_else_but_what_setuptools_writes(sdist):
    written = files(sdist) - tracked()
    assert {name for name in written if '.egg-info/' not in name} == {
        'PKG-INFO'}


def test_its_metadata_keep_it_off_a_python_that_no_test_runs_on(sdist):
    metadata = email.message_from_string((sdist / 'PKG-INFO').read_text())
    assert metadata['Requires-Python'] == '>=3.11'
