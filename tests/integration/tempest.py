"""``python -m tests.integration.tempest``: what Tempest says of the extension.

Our plugin must pass. Then Tempest's own tests of servers run twice at once,
against an unmodified nova-api and against the extended one of the same cloud:
none may fail on the extended one that passes on the other.
"""

import argparse
import collections
import collections.abc
import concurrent.futures
import csv
import os
import pathlib
import shutil
import subprocess
import sys

from testing.deployment import cloud
from testing.deployment import nova
from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import state as state_module

#: Tempest's environment.
BIN = state_module.ROOT / '.venv' / 'tempest' / 'bin'

# A test spends most of its time waiting for Nova.
_AT_ONCE = 4

#: Tempest's tests of servers, less those of networks, of which the cloud has
#: none.
SERVERS = (
    '--regex', '^tempest[.]api[.]compute[.]servers',
    '--exclude-regex',
    'test_attach_interfaces|test_create_server_multi_nic'
    '|test_device_tagging|test_server_addresses|test_novnc')

PLUGIN = ('--regex', '^nova_image_override_tempest_plugin')

#: What subunit2csv calls a test that has passed.
PASSED = 'success'

#: Name of a test -> what became of it. For a class that could not be set up
#: there is one entry, and none for its tests.
Results = dict[str, str]


class Strange(Exception):
    """A run does not show what it should; the message says why."""


def _options(
    deployment: cloud.Cloud, folder: pathlib.Path, region: str,
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
    deployment: cloud.Cloud, api: nova.NovaAPI, name: str,
    selection: collections.abc.Sequence[str],
) -> Results:
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
    rows = subprocess.run(
        [BIN / 'subunit2csv', '--no-passthrough'], input=stream,
        capture_output=True).stdout.decode().splitlines()
    results = {row['test']: row['status'] for row in csv.DictReader(rows)}
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


def count(results: Results) -> str:
    """Return how many tests ended in which way, for people."""
    return ', '.join(
        f'{number} {status}' for status, number in sorted(
            collections.Counter(results.values()).items()))


def failed(results: Results) -> list[str]:
    """Return the tests that neither passed nor were skipped."""
    return sorted(name for name, status in results.items()
                  if status not in (PASSED, 'skip'))


def plugin(deployment: cloud.Cloud) -> bool:
    """Run our plugin, and return whether it passes."""
    results = tempest(deployment, deployment.nova_api, 'plugin', PLUGIN)
    print(f'The plugin: {count(results)}')
    for name in failed(results):
        print(f'FAILS: {name}')
    return not failed(results)


def servers(deployment: cloud.Cloud) -> bool:
    """Compare the two nova-api, and return whether nothing is lost."""
    # One may be left over from a run that was interrupted.
    deployment.plain_api.restart()
    # In parallel, so that whatever else the machine does affects both.
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            plain, extended = pool.map(
                lambda api: tempest(deployment, api, api.NAME, SERVERS),
                (deployment.plain_api, deployment.nova_api))
    finally:
        deployment.plain_api.kill()
    # What did not run has not passed.
    lost = sorted(name for name, status in plain.items()
                  if status == PASSED != extended.get(name))
    print(f'Unmodified nova-api: {count(plain)}')
    print(f'Extended nova-api: {count(extended)}')
    for name in failed(plain):
        print(f'fails on the unmodified one too: {name}')
    for name in lost:
        print(f'PASSES ON THE UNMODIFIED ONE ONLY: {name}')
    print(f'{len(lost)} tests pass on the unmodified nova-api only')
    return not lost


def main() -> None:
    """Run one part, or both."""
    parts = {'plugin': plugin, 'servers': servers}
    parser = argparse.ArgumentParser(
        prog='tempest', description=__doc__)
    parser.add_argument('part', nargs='?', choices=parts)
    part = parser.parse_args().part
    deployment = cloud.Cloud(state_module.State.default())
    if deployment.nova_api.pid is None:
        sys.exit('The cloud does not run: make cloud-up')
    try:
        good = [function(deployment) for name, function in parts.items()
                if part in (None, name)]
    except (processes.NotReady, Strange) as exc:
        sys.exit(str(exc))
    sys.exit(not all(good))


if __name__ == '__main__':
    main()
