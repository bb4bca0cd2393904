"""RabbitMQ as a node of its own, with a port mapper of its own."""

import os
import subprocess

from testing.deployment import processes
from testing.deployment import state as state_module

# Not the wrapper in /usr/sbin, which switches to the user rabbitmq.
_BIN = '/usr/lib/rabbitmq/bin'


class RabbitMQ:
    """The message broker."""

    def __init__(self, state: state_module.State) -> None:
        self._state = state
        # Erlang would start one that outlives it.
        self._epmd = processes.Process(state, 'epmd')
        self._node = processes.Process(state, 'rabbitmq')

    def up(self) -> None:
        """Start the port mapper and the node."""
        ports = state_module.PORTS
        self._epmd.start(['epmd', '-address', '127.0.0.1', '-port',
                          str(ports['epmd'])])
        self._epmd.wait_until(lambda: state_module.listening('epmd'))
        self.start()

    def start(self) -> None:
        """Start the node, with the queues that it has."""
        state, ports = self._state, state_module.PORTS
        config = state.write(
            f'listeners.tcp.local = 127.0.0.1:{ports["rabbitmq"]}\n'
            'default_user = cloud\n'
            f'default_pass = {state.secret("rabbitmq")}\n'
            'log.console = true\n', 'rabbitmq', 'rabbitmq.conf')
        self._node.start([f'{_BIN}/rabbitmq-server'], {
            **self._common(),
            'RABBITMQ_DIST_PORT': str(ports['rabbitmq-dist']),
            'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS':
                '-kernel inet_dist_use_interface {127,0,0,1}',
            'RABBITMQ_CONFIG_FILE': str(config),
            'RABBITMQ_ENABLED_PLUGINS_FILE': str(
                state.write('[].\n', 'rabbitmq', 'enabled_plugins')),
            'RABBITMQ_MNESIA_BASE': str(state.subfolder('rabbitmq', 'data')),
            'RABBITMQ_LOG_BASE': str(state.subfolder('rabbitmq', 'log')),
            'RABBITMQ_PID_FILE': str(state.file('rabbitmq', 'pid'))})
        self._node.wait_until(lambda: state_module.listening('rabbitmq'))

    def _common(self) -> dict[str, str]:
        """Return the variables by which its programs find the node."""
        return {
            'HOME': str(self._state.subfolder('rabbitmq', 'home')),
            'ERL_EPMD_ADDRESS': '127.0.0.1',
            'ERL_EPMD_PORT': str(state_module.PORTS['epmd']),
            'RABBITMQ_NODENAME': 'image-override@localhost',
            'RABBITMQ_CONF_ENV_FILE': '/dev/null'}

    def add_virtual_host(self, name: str) -> None:
        """Make one, unless it is there, which the cloud's user may use."""
        for words in (['add_vhost', name], [
                'set_permissions', '-p', name, 'cloud', '.*', '.*', '.*']):
            subprocess.run(
                [f'{_BIN}/rabbitmqctl', *words], check=True,
                env={**os.environ, **self._common()}, capture_output=True)

    @property
    def pids(self) -> list[int]:
        """The ids of the node's processes."""
        return self._node.pids

    def kill(self) -> None:
        """End the node as a crash would."""
        self._node.kill()

    def restart(self) -> None:
        """End the node as a crash would, and start it again."""
        self.kill()
        self.start()
