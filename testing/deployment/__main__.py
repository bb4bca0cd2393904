"""``python -m testing.deployment up|down``: start or end the cloud."""

import argparse
import sys

from testing.deployment import cloud
from testing.deployment import machine
from testing.deployment import processes
from testing.deployment import state


def main() -> None:
    """Run one command."""
    parser = argparse.ArgumentParser(prog='cloud', description=__doc__)
    parser.add_argument('command', choices=['up', 'down'])
    command = parser.parse_args().command
    try:
        cloud.check()
        deployment = cloud.Cloud(state.State.default())
        if command == 'down':
            deployment.down()
            return
        deployment.up()
    except machine.Unable as exc:
        sys.exit(f'The cloud cannot run here: {exc}')
    except processes.NotReady as exc:
        sys.exit(f'The cloud does not start: {exc}')
    print('export OS_CLIENT_CONFIG_FILE='
          f'{deployment.state.file("clouds.yaml")} OS_CLOUD=tenant')


if __name__ == '__main__':
    main()
