"""A cloud that is taken from one Nova to the next while it is in use."""

import pathlib

from testing.deployment import balancer
from testing.deployment import cloud
from testing.deployment import host as host_module
from testing.deployment import installation
from testing.deployment import nova
from testing.deployment import processes
from testing.deployment import state as state_module


class Cloud(cloud.Cloud):
    """Two nova-api behind a balancer; it starts without the extension.

    :param older: the environment that it starts with
    """

    nova_api: balancer.Balanced

    def __init__(
        self, state: state_module.State, older: pathlib.Path,
    ) -> None:
        super().__init__(state)
        self.older = installation.Installation(older)
        self.older.link_bindings()
        for each in (*self.nova_api.members, *self.hosts.values()):
            each.extended = False
            each.installation = self.older
        for daemon in (self.conductor, self.scheduler):
            daemon.installation = self.older

    def _nova_api(self) -> nova.NovaAPI:
        return balancer.Balanced(self.state)

    def restart_api(self, member: nova.NovaAPI) -> None:
        """Restart one nova-api, as it is to be now, while the other answers."""
        with self.nova_api.without(member):
            member.restart()

    def restart_compute(self, host: host_module.Host) -> None:
        """Restart nova-compute, as it is to be now, the way operators do.

        The host gets no new servers meanwhile, and those that somebody is
        working with are waited for.
        """
        compute = self.operator.compute
        (service,) = compute.services(binary='nova-compute', host=host.name)
        compute.disable_service(service)
        processes.wait_for(
            lambda: not self._in_use(host), f'the last task of {host.name}',
            300)
        host.restart_compute()
        processes.wait_for(
            lambda: host.takes_servers(next(compute.services(
                binary='nova-compute', host=host.name)).updated_at),
            host.name)
        compute.enable_service(service)

    def _in_use(self, host: host_module.Host) -> bool:
        """Return whether somebody is working with a server of the host.

        Or may be soon: one that has no host yet may have been scheduled to this
        one before it was disabled. Those called ``test-`` stay.
        """
        return any(
            server.compute_host in (host.name, None)
            and not server.name.startswith('test-')
            for server in self.operator.compute.servers(all_projects=True))

    def replace(self, old: nova.Daemon, new: nova.Daemon) -> None:
        """Start the new daemon, and end the old one once the new one is up.

        The old one ends when it has finished what it had begun.
        """
        new.up()
        new.wait_until(lambda: any(
            service.state == 'up' for service in
            self.operator.compute.services(host=new.name)))
        old.stop(seconds=60)
