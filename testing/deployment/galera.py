"""MariaDB as a Galera cluster of three nodes, each with a socket of its own.

The first is the cloud's own, with its data, which the others copy. They are no
part of the cloud: whoever needs them starts them.
"""
from __future__ import annotations

import collections.abc
import os
import pathlib
import subprocess

from testing.deployment import mariadb
from testing.deployment import packages
from testing.deployment import processes
from testing.deployment import state as state_module

# What is not in mariadb-server-core: the library, and what copies data.
_PACKAGES = ('galera-4', 'libpopt0', 'libxxhash0', 'mariadb-server', 'rsync')

# As a daemon it writes as nobody, who may not enter the state folder.
_RSYNC = '''#!/bin/sh
test "$1" != --daemon || set -- "$@" --dparam=uid=root --dparam=gid=root
exec {} "$@"
'''

NODES = 3

#: The database of the first cell, as each nova-api finds it on the node that
#: its own configuration names.
TEMPLATE = '{scheme}://{username}:{password}@{hostname}/nova_cell1?{query}'


def _root(state: state_module.State) -> pathlib.Path:
    return state.file('galera', 'root')


def fetch(state: state_module.State) -> None:
    """Unpack the packages, which needs a download the first time."""
    packages.unpack(_PACKAGES, _root(state))


class Node(mariadb.MariaDB):
    """One node.

    :param number: from 1
    """

    def __init__(self, state: state_module.State, number: int) -> None:
        ports = [state_module.PORTS[f'galera-{each}']
                 for each in range(1, NODES + 1)]
        port = ports[number - 1]
        name = mariadb.NAME if number == 1 else f'{mariadb.NAME}-{number}'
        self._root = _root(state)
        options = {
            'base_port': port, 'gmcast.listen_addr': f'tcp://127.0.0.1:{port}',
            'ist.recv_addr': f'127.0.0.1:{port + 1}', 'gcache.size': '32M'}
        super().__init__(state, [
            '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2',
            '--wsrep-on=ON', '--wsrep-cluster-name=cloud',
            # Reads see what any node has stored. If not, nova-compute may not
            # find the action of a delete, and gives it up.
            '--wsrep-sync-wait=1',
            f'--wsrep-provider={self._root}/usr/lib/galera/libgalera_smm.so',
            '--wsrep-cluster-address=gcomm://' + ','.join(
                f'127.0.0.1:{each}' for each in ports),
            f'--wsrep-sst-receive-address=127.0.0.1:{port + 1000}',
            f'--wsrep-node-name={name}',
            f'--wsrep-node-address=127.0.0.1:{port}',
            '--wsrep-provider-options=' + ';'.join(
                f'{key}={value}' for key, value in options.items()),
        ], name)

    def start(
        self, command: collections.abc.Sequence[str | pathlib.Path],
        environment: dict[str, str] | None = None,
    ) -> None:
        """Start it with the programs that copy data."""
        fetch(self._state)
        usr = self._root / 'usr'
        rsync = self._state.write(
            _RSYNC.format(usr / 'bin' / 'rsync'), 'galera', 'bin', 'rsync')
        rsync.chmod(0o755)
        super().start(command, {
            'PATH': f'{rsync.parent}:{usr / "bin"}:{os.environ["PATH"]}',
            'LD_LIBRARY_PATH': str(usr / 'lib' / 'x86_64-linux-gnu')})

    def status(self, name: str) -> str:
        """Return one of its ``wsrep_`` variables."""
        return self.query(f"SHOW STATUS LIKE 'wsrep_{name}'").split()[-1]


class Cluster:
    """The cluster.

    :ivar nodes: the nodes
    """

    def __init__(self, state: state_module.State) -> None:
        self.nodes = [Node(state, number) for number in range(1, NODES + 1)]

    def up(self) -> None:
        """Make a cluster of the cloud's MariaDB, which runs."""
        first, *others = self.nodes
        first.stop(seconds=60)
        for file in first.data.glob('grastate.dat'):
            file.unlink()
        first.serve('--wsrep-new-cluster')
        for node in others:
            subprocess.run(['rm', '-rf', node.data], check=True)
            node.data.mkdir()
            node.serve()
        processes.wait_for(
            lambda: all((node.status('cluster_size'), node.status(
                'local_state_comment')) == (str(NODES), 'Synced')
                for node in self.nodes), 'the cluster', 60)

    def down(self) -> None:
        """End it, and leave its data to the cloud's MariaDB."""
        for node in reversed(self.nodes):
            node.stop(seconds=60)

    def conflicts(self) -> int:
        """Return how many transactions had to give way to another node's."""
        return sum(
            int(node.status(name)) for node in self.nodes
            for name in ('local_cert_failures', 'local_bf_aborts'))
