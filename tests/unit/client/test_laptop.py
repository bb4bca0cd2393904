"""What the modules of the clients import on a laptop, and what they do not."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
PACKAGE = ROOT / 'nova_image_override'

#: What a tool must be able to import where there is nothing of Nova.
MODULES = ('answers', 'transport', 'arguments', 'osc', 'osc_commands', 'sdk',
           'sdk_proxy')


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
def test_clients_import_of_the_package_only_what_knows_no_nova(module):
    ours = {name for name in imported(module)
            if name.startswith('nova_image_override.')
            and not name.startswith('nova_image_override.client')}
    assert {name for name in ours
            if not name.startswith('nova_image_override.properties.book')} <= {
        'nova_image_override.errors', 'nova_image_override.versions',
        'nova_image_override.property_table',
        # These put into words what a schema says.
        'nova_image_override.properties',
        *(f'nova_image_override.properties.{name}' for name in (
            'cpu_lists', 'schema_words'))}


def test_the_vendor_hook_needs_nothing_that_could_be_missing():
    tops = {name.partition('.')[0] for name in imported('sdk')}
    assert 'openstack' not in tops
    assert 'keystoneauth1' not in tops


def test_every_module_of_the_client_is_looked_at():
    there = {path.stem for path in (PACKAGE / 'client').glob('*.py')}
    # The novaclient module needs python-novaclient, which Nova does not need.
    assert there - {'__init__', 'novaclient'} == set(MODULES)
