"""What git tracks, and what setuptools makes of it."""

import configparser
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


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


def setup():
    """Return what setup.cfg says."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / 'setup.cfg')
    return parser


def scripts():
    """Return the names of the commands that are installed."""
    return {line.partition('=')[0].strip() for line in setup()[
        'options.entry_points']['console_scripts'].splitlines() if line}


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


def files(folder):
    return {path.relative_to(folder).as_posix()
            for path in folder.rglob('*') if path.is_file()}
