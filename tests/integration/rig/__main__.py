"""``python -m tests.integration.rig up|down``: start or end the cloud."""

import argparse
import sys

from tests.integration.rig import cloud
from tests.integration.rig import machine
from tests.integration.rig import processes
from tests.integration.rig import state


def main() -> None:
    """Run one command."""
    parser = argparse.ArgumentParser(prog='cloud', description=__doc__)
    parser.add_argument('command', choices=['up', 'down'])
    command = parser.parse_args().command
    try:
        cloud.check()
        rig = cloud.Cloud(state.State.default())
        if command == 'down':
            rig.down()
            return
        rig.up()
    except machine.Unable as exc:
        sys.exit(f'The cloud cannot run here: {exc}')
    except processes.NotReady as exc:
        sys.exit(f'The cloud does not start: {exc}')
    print('export OS_CLIENT_CONFIG_FILE='
          f'{rig.state.file("clouds.yaml")} OS_CLOUD=tenant')


if __name__ == '__main__':
    main()
