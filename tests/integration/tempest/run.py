"""One run of Tempest against one nova-api of the running cloud."""

import collections.abc
import os
import pathlib
import shutil
import subprocess

from testing.deployment import nova
from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment.cloud import Cloud
from tests.integration.tempest import compare

#: Tempest's environment.
BIN = state_module.ROOT / '.venv' / 'tempest' / 'bin'

# A test spends most of its time waiting for Nova.
_AT_ONCE = 4


class Strange(Exception):
    """A run does not show what it should; the message says why."""


def _options(
    deployment: Cloud, folder: pathlib.Path, region: str,
) -> settings.Settings:
    """Return what tempest.conf says about this cloud.

    :param region: that of the nova-api to test
    """
    compute = deployment.operator.compute
    image = deployment.operator.image.find_image('guest').id
    no, yes = 'false', 'true'
    return {
        'DEFAULT': {'log_dir': str(folder), 'log_file': 'tempest.log',
                    'use_stderr': no},
        'oslo_concurrency': {'lock_path': str(folder / 'locks')},
        'auth': {
            'use_dynamic_credentials': yes, 'create_isolated_networks': no,
            'admin_username': 'admin', 'admin_project_name': 'admin',
            'admin_password': deployment.state.secret('operator'),
            'admin_domain_name': 'Default'},
        'identity': {'uri_v3': state_module.url('keystone', '/v3'),
                     'auth_version': 'v3', 'region': 'RegionOne'},
        # Without Neutron, Tempest skips most tests of servers.
        'service_available': {
            'nova': yes, 'glance': yes, 'neutron': yes, 'cinder': no,
            'swift': no, 'horizon': no},
        'compute': {
            'region': region, 'image_ref': image, 'image_ref_alt': image,
            'flavor_ref': compute.find_flavor('small').id,
            'flavor_ref_alt': compute.find_flavor('four').id,
            'min_compute_nodes': '2', 'max_microversion': 'latest'},
        # No disk image tool, no display, no ports.
        'compute-feature-enabled': {
            'config_drive': no, 'vnc_console': no, 'personality': no,
            'interface_attach': no, 'live_migration': no,
            # Between the two hosts.
            'resize': yes},
        'validation': {'run_validation': no},
        'image_props_override': {
            'guest_overrides':
            'hw_disk_bus:scsi,hw_scsi_model:virtio-scsi'},
    }


def tempest(
    deployment: Cloud, api: nova.NovaAPI, name: str,
    selection: collections.abc.Sequence[str],
) -> compare.Results:
    """Run tests against one nova-api, and return what became of each.

    :param name: name of the folder, below ``tempest`` in the state folder
    :param selection: arguments of ``tempest run`` that choose tests
    :raises Strange: no test ran, or some asked another nova-api
    """
    folder = deployment.state.subfolder('tempest') / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    settings.write(
        folder / 'tempest.conf', _options(deployment, folder, api.REGION))
    print(f'{folder / "output"} tells how the tests do', flush=True)
    # The exit statuses say whether a test has failed: so do the results.
    with (folder / 'output').open('w') as output:
        subprocess.run(
            [BIN / 'tempest', 'run', '--config-file', 'tempest.conf',
             '--concurrency', str(_AT_ONCE), *selection], cwd=folder,
            # stestr's workers run in the Python that this names, and make
            # sets it for its own use.
            env={**os.environ, 'PYTHON': str(BIN / 'python')},
            stdout=output, stderr=output)
    stream = subprocess.run(
        [BIN / 'stestr', 'last', '--subunit'], cwd=folder,
        capture_output=True).stdout
    results = compare.read(subprocess.run(
        [BIN / 'subunit2csv', '--no-passthrough'], input=stream,
        capture_output=True).stdout.decode())
    if not results:
        raise Strange(f'{name}: no test ran')
    check_asked(folder / 'tempest.log', api)
    return results


def check_asked(log: pathlib.Path, api: nova.NovaAPI) -> None:
    """Check that the requests of a run went to API.

    Tempest takes any region if it does not find the configured one.

    :raises Strange: they went to another nova-api, or to none
    """
    text = log.read_text(errors='replace')
    asked = {name for name in ('nova-api', 'nova-api-plain')
             if state_module.url(name) in text}
    if asked != {api.NAME}:
        raise Strange(f'{log}: the tests asked {asked}, not {api.NAME}')
