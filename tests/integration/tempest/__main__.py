"""``python -m tests.integration.tempest``: what Tempest says of the extension.

Our plugin must pass. Then Tempest's own tests of servers run twice at once,
against an unmodified nova-api and against the extended one of the same cloud:
none may fail on the extended one that passes on the other.
"""

import argparse
import concurrent.futures
import sys

from testing.deployment import cloud
from testing.deployment import processes
from testing.deployment import state
from tests.integration.tempest import compare
from tests.integration.tempest import run

#: Tempest's tests of servers, less those of networks, of which the cloud has
#: none.
SERVERS = (
    '--regex', '^tempest[.]api[.]compute[.]servers',
    '--exclude-regex',
    'test_attach_interfaces|test_create_server_multi_nic'
    '|test_device_tagging|test_server_addresses|test_novnc')

PLUGIN = ('--regex', '^nova_image_override_tempest_plugin')


def plugin(deployment: cloud.Cloud) -> bool:
    """Run our plugin, and return whether it passes."""
    results = run.tempest(deployment, deployment.nova_api, 'plugin', PLUGIN)
    print(f'The plugin: {compare.count(results)}')
    for name in (failed := compare.failed(results)):
        print(f'FAILS: {name}')
    return not failed


def servers(deployment: cloud.Cloud) -> bool:
    """Compare the two nova-api, and return whether nothing is lost."""
    # One may be left over from a run that was interrupted.
    deployment.plain_api.restart()
    # In parallel, so that whatever else the machine does affects both.
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            plain, extended = pool.map(
                lambda api: run.tempest(deployment, api, api.NAME, SERVERS),
                (deployment.plain_api, deployment.nova_api))
    finally:
        deployment.plain_api.kill()
    lost = compare.lost(plain, extended)
    print(f'Unmodified nova-api: {compare.count(plain)}')
    print(f'Extended nova-api: {compare.count(extended)}')
    for name in compare.failed(plain):
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
    deployment = cloud.Cloud(state.State.default())
    if deployment.nova_api.pid is None:
        sys.exit('The cloud does not run: make cloud-up')
    try:
        good = [function(deployment) for name, function in parts.items()
                if part in (None, name)]
    except (processes.NotReady, run.Strange) as exc:
        sys.exit(str(exc))
    sys.exit(not all(good))


if __name__ == '__main__':
    main()
