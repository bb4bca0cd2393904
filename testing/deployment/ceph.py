"""Ceph on this machine: a monitor, a manager and one OSD, all in user space.

It is not a part of the cloud: whoever needs it starts it. The OSD keeps its
objects in memory, so each time it begins empty.
"""
from __future__ import annotations

import pathlib
import shutil
import subprocess
import uuid

from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import state as state_module

#: Where its clients look for ceph.conf; on the compute hosts it is there.
PLACE = '/etc/ceph'

#: What volumes are in: the same cluster, as two back ends.
POOLS = ('volumes', 'archive')

#: Ports of the OSD and the manager, which choose among them.
_PORTS = range(18810, 18870)

#: Parts of the manager. It keeps count without any of them, and loading them
#: takes a minute.
_MODULES = pathlib.Path('/usr/share/ceph/mgr')


def folder(state: state_module.State) -> pathlib.Path:
    """Return the folder that the hosts see at :data:`PLACE`."""
    return state.subfolder('ceph', 'etc')


class Ceph:
    """The cluster."""

    def __init__(self, state: state_module.State) -> None:
        self._state = state
        self._mon, self._mgr, self._osd = self._daemons = [
            processes.Process(state, f'ceph-{kind}')
            for kind in ('mon', 'mgr', 'osd')]
        self.config = folder(state) / 'ceph.conf'

    def _data(self, kind: str) -> str:
        return str(self._state.subfolder('ceph', 'data', kind))

    def _configure(self, identity: str) -> None:
        """Write ceph.conf."""
        modules = ','.join(path.parent.name
                           for path in _MODULES.glob('*/__init__.py'))
        settings.write(self.config, {'global': {
            'fsid': identity,
            # Under v1, librados may not know the cluster's id when it has
            # connected, and Glance notes zeros as an image's place.
            'mon_host': f'v2:127.0.0.1:{state_module.PORTS["ceph"]}',
            'public_addr': '127.0.0.1',
            'ms_bind_port_min': str(_PORTS[0]),
            'ms_bind_port_max': str(_PORTS[-1]),
            **{f'auth_{who}_required': 'none'
               for who in ('cluster', 'service', 'client')},
            **{f'{kind}_data': self._data(kind)
               for kind in ('mon', 'mgr', 'osd')},
            'run_dir': self._data('run'),
            'log_to_file': 'false', 'log_to_stderr': 'true',
            'mon_cluster_log_to_file': 'false', 'debug_rocksdb': '0',
            'mgr_disabled_modules': modules,
            # A server that a run which was cut off has left finds no monitor
            # when its host starts, and would wait five minutes for one.
            'client_mount_timeout': '10',
            'osd_objectstore': 'memstore', 'memstore_device_bytes': '8G',
            'mon_allow_pool_size_one': 'true', 'osd_pool_default_size': '1',
            'osd_pool_default_pg_autoscale_mode': 'off'}})

    def ceph(self, *words: str) -> str:
        """Run ``ceph WORDS``, and return what it prints.

        :raises subprocess.CalledProcessError: it fails
        """
        return _run(
            'ceph', '--conf', self.config, '--connect-timeout', '30', *words)

    def rbd(self, *words: str) -> str:
        """Run ``rbd WORDS``, and return what it prints."""
        return _run('rbd', '--conf', self.config, *words)

    def up(self) -> None:
        """Make an empty cluster and start it."""
        self.stop()
        shutil.rmtree(self._state.file('ceph', 'data'), ignore_errors=True)
        identity, disk = str(uuid.uuid4()), str(uuid.uuid4())
        self._configure(identity)
        given = '--conf', str(self.config), '--id'
        monitors = self._state.file('ceph', 'data', 'monmap')
        _run('monmaptool', '--create', '--fsid', identity, '--addv', 'a',
             f'[v2:127.0.0.1:{state_module.PORTS["ceph"]}]', monitors)
        _run('ceph-mon', *given, 'a', '--mkfs', '--monmap', monitors)
        self._mon.start(['ceph-mon', *given, 'a', '--foreground'])
        self._mon.wait_until(lambda: state_module.listening('ceph'))
        self._mgr.start(['ceph-mgr', *given, 'a', '--foreground'])
        number = self.ceph('osd', 'new', disk).strip()
        _run('ceph-osd', *given, number, '--mkfs', '--osd-uuid', disk)
        self._osd.start(['ceph-osd', *given, number, '--foreground'])
        self._osd.wait_until(lambda: '1 up' in self.ceph('osd', 'stat'))
        for pool in POOLS:
            self.ceph('osd', 'pool', 'create', pool, '8')
        # Cinder asks how much room there is.
        self._osd.wait_until(
            lambda: all(pool in self.ceph('df') for pool in POOLS))

    def stop(self) -> None:
        """End it."""
        for daemon in reversed(self._daemons):
            daemon.kill()


def _run(*command: str | pathlib.Path) -> str:
    """Run one of Ceph's commands, and return what it prints."""
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True).stdout
