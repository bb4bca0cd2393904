"""The source distribution that setuptools makes of a clean checkout."""

import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest

ROOT = pathlib.Path(__file__).parents[2]

#: What is of use only in a repository.
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


def built(folder, kind):
    """Build from a copy: an older egg-info would add what it lists."""
    for name in tracked():
        copy = folder / 'source' / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy)
    name = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c',
         'import sys\n'
         'from setuptools import build_meta\n'
         f'name = build_meta.build_{kind}({str(folder)!r})\n'
         'print(name, file=sys.stderr)'],
        cwd=folder / 'source', check=True, capture_output=True, text=True,
    ).stderr.split()[-1]
    return folder / name


@pytest.fixture(scope='module')
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp('sdist')
    with tarfile.open(built(folder, 'sdist')) as archive:
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
