"""The switch that guests are plugged into: Open vSwitch.

It switches in user space (``datapath_type = netdev``), so the kernel needs tap
devices and no more. There is one for all hosts, because they share one network:
each has a bridge of its own, and Neutron's agent for it.
"""

import os
import pathlib
import subprocess

from testing.deployment import installation
from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import state as state_module

#: Where programs look for it, libvirt among them: hosts mount :func:`folder`
#: there.
PLACE = '/run/openvswitch'

#: How Nova and Neutron reach its database, on a host.
CONNECTION = f'unix:{PLACE}/db.sock'

# The contexts in which the agent runs as root (neutron.privileged).
_PRIVILEGED = ('privsep', 'privsep_link', 'privsep_namespace',
               'privsep_ovs_vsctl')


def folder(state: state_module.State) -> pathlib.Path:
    """Return the folder of the sockets."""
    return state.subfolder('openvswitch')


class Switch:
    """The one switch. All that it makes ends with it."""

    def __init__(self, state: state_module.State) -> None:
        self._folder = folder(state)
        self._database = processes.Process(state, 'openvswitch-database')
        self._switch = processes.Process(state, 'openvswitch')

    def up(self) -> None:
        """Start it, empty."""
        # What is left over belongs to guests that are gone.
        subprocess.run(['rm', '-rf', *self._folder.iterdir()], check=True)
        database = self._folder / 'conf.db'
        socket = self._folder / 'db.sock'
        where = {'OVS_RUNDIR': str(self._folder)}
        subprocess.run(
            ['ovsdb-tool', 'create', database,
             '/usr/share/openvswitch/vswitch.ovsschema'], check=True)
        self._database.start(
            ['/usr/sbin/ovsdb-server', database, f'--remote=punix:{socket}'],
            where)
        self._database.wait_until(socket.exists)
        subprocess.run(
            ['ovs-vsctl', f'--db=unix:{socket}', '--no-wait', 'init'],
            check=True, env={**os.environ, **where})
        self._switch.start(
            ['/usr/sbin/ovs-vswitchd', f'unix:{socket}'], where)


class Agent(processes.Process):
    """Neutron's agent on a host.

    :param host: the name of the host
    """

    def __init__(self, state: state_module.State, host: str) -> None:
        super().__init__(state, f'{host}-neutron-agent')
        self._state = state
        self._host = host

    def command(self) -> list[str]:
        """Write its configuration, and return what starts it on the host."""
        where = installation.OWN
        own = self._state.subfolder('hosts', self._host)
        config = own / 'neutron.conf'
        helper = f'{where.bin}/privsep-helper --config-file {config}'
        settings.write(
            config, settings.common(self._state, 'neutron'), {
                'DEFAULT': {
                    'host': self._host, 'state_path': str(own),
                    'transport_url': settings.broker(self._state)},
                'ovs': {
                    'integration_bridge': f'br-{self._host}',
                    'datapath_type': 'netdev', 'ovsdb_connection': CONNECTION,
                    'of_listen_port': str(
                        state_module.PORTS[f'openflow-{self._host}'])},
                'securitygroup': {'firewall_driver': 'noop',
                                  'enable_security_group': 'false'},
                **{context: {'helper_command': helper}
                   for context in _PRIVILEGED}})
        return [str(where.python), '-W', 'ignore',
                str(where.bin / 'neutron-openvswitch-agent'), '--config-file',
                str(config)]
