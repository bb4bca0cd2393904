"""What comes to a laptop with the package, and what does not."""

import ast
import configparser
import importlib.metadata
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
PACKAGE = ROOT / 'nova_image_override'

#: What a tool must be able to import where nothing of Nova is.
MODULES = ('wire', 'arguments', 'listing', 'osc', 'sdk', 'sdk_compute')


def imported(module):
    """Return what a fresh Python has imported after MODULE."""
    done = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c',
         f'import sys, nova_image_override.client.{module}\n'
         'print(*sys.modules)'],
        capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.split()


@pytest.mark.parametrize('module', MODULES)
def test_clients_import_nothing_of_nova_and_no_configuration(module):
    tops = {name.partition('.')[0] for name in imported(module)}
    assert not tops & {
        'nova', 'oslo_config', 'oslo_policy', 'oslo_versionedobjects',
        'jsonschema', 'os_traits', 'webob'}


@pytest.mark.parametrize('module', MODULES)
def test_clients_import_of_the_package_only_what_knows_no_property(module):
    ours = {name for name in imported(module)
            if name.startswith('nova_image_override.')
            and not name.startswith('nova_image_override.client')}
    assert ours <= {'nova_image_override.errors',
                    'nova_image_override.versions'}


def test_the_vendor_hook_needs_nothing_that_could_be_missing():
    tops = {name.partition('.')[0] for name in imported('sdk')}
    assert 'openstack' not in tops
    assert 'keystoneauth1' not in tops


def test_every_module_of_the_client_is_looked_at():
    there = {path.stem for path in (PACKAGE / 'client').glob('*.py')}
    # novaclient's needs python-novaclient, which Nova does not.
    assert there - {'__init__', 'novaclient'} == set(MODULES)


def names(requirements):
    return {re.split('[^A-Za-z0-9._-]', text, maxsplit=1)[0].lower()
            .replace('_', '-').replace('.', '-') for text in requirements}


def ours():
    setup = configparser.ConfigParser()
    setup.read(ROOT / 'setup.cfg')
    return names(setup['options']['install_requires'].split('\n')[1:])


def test_a_laptop_gets_four_packages():
    assert ours() == {
        'cliff', 'keystoneauth1', 'microversion-parse', 'requests'}


def test_all_else_is_what_nova_itself_requires():
    provided = ours() | {'nova'} | names(
        text for text in importlib.metadata.requires('nova')
        if 'extra ==' not in text)
    found = importlib.metadata.packages_distributions()
    checked = set()
    for path in PACKAGE.rglob('*.py'):
        if PACKAGE / 'client' in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            modules = (
                [each.name for each in node.names]
                if isinstance(node, ast.Import)
                else [node.module] if isinstance(node, ast.ImportFrom)
                else [])
            for module in modules:
                top = module.partition('.')[0]
                if top in sys.stdlib_module_names or top == PACKAGE.name:
                    continue
                assert names(found[top]) & provided, (path, module)
                checked.add(top)
    assert {'cliff', 'nova', 'oslo_config', 'webob'} <= checked
