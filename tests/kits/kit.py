"""What the tests of the kits share."""

import pathlib
import subprocess

import yaml

from nova_image_override.authorization import lists
from nova_image_override.properties import catalog
from tests import environments

DEPLOY = environments.ROOT / 'deploy'

SECTION = 'app:osapi_compute_app_v21'
KEY = 'paste.app_factory'


def program(name):
    """Return the path of a program in the environment of the tools."""
    return environments.find(
        'kits', 'KITS', '.venv/kits', f'bin/{name}') / 'bin' / name


def run(*command, **options):
    """Run a command that must succeed; return what it prints."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def read(path):
    """Return an example from a kit: a YAML file with one document."""
    return yaml.safe_load((DEPLOY / path).read_text())


def assert_a_list_that_nova_api_takes(text):
    """Fail unless TEXT is an option value that names known properties."""
    checked = lists.PropertyList(
        'allowed_properties', [each.strip() for each in text.split(',')],
        catalog.running())
    assert checked.entries
    assert not list(checked.unknown_names())


def readmes():
    """Return the folders' README files."""
    return sorted(pathlib.Path(DEPLOY).glob('*/README.md'))
