"""The whole cloud: what starts when, and how it ends."""

import collections.abc
import concurrent.futures
import functools
import signal
import time

import openstack

from testing.deployment import barbican
from testing.deployment import ceph
from testing.deployment import chroot
from testing.deployment import cinder
from testing.deployment import galera
from testing.deployment import glance
from testing.deployment import guest
from testing.deployment import host
from testing.deployment import hugepages
from testing.deployment import installation
from testing.deployment import keystone
from testing.deployment import libvirt
from testing.deployment import machine
from testing.deployment import mariadb
from testing.deployment import neutron
from testing.deployment import nova
from testing.deployment import openvswitch
from testing.deployment import placement
from testing.deployment import processes
from testing.deployment import rabbitmq
from testing.deployment import state as state_module
from testing.deployment import tenants
from testing.deployment import topology

#: The compute hosts: name -> ports of their guests' displays, and how many CPUs
#: share a core: on one host they have siblings, on the other they have none.
HOSTS = {'compute1': (range(18900, 18950), 2),
         'compute2': (range(18950, 19000), 1)}


class Cloud:
    """Every service, by name.

    :ivar state: its state folder
    """

    def __init__(self, state: state_module.State) -> None:
        self.state = state
        self.mariadb = mariadb.MariaDB(state)
        self.rabbitmq = rabbitmq.RabbitMQ(state)
        self.keystone = keystone.Keystone(state)
        self.glance = glance.Glance(state)
        self.placement = placement.Placement(state)
        self.neutron = neutron.Neutron(state)
        self.nova_api = self._nova_api()
        # Not started with the rest.
        self.plain_api = nova.PlainNovaAPI(state)
        self.barbican = barbican.Barbican(state)
        self.ceph = ceph.Ceph(state)
        self.cinder = cinder.Cinder(state)
        self.conductor = nova.Daemon(
            state, 'nova-conductor', self.nova_api.folder)
        self.scheduler = nova.Daemon(
            state, 'nova-scheduler', self.nova_api.folder)
        self.switch = openvswitch.Switch(state)
        self.huge_pages = hugepages.HugePages(state)
        self.hosts = {name: host.Host(state, name, *given)
                      for name, given in HOSTS.items()}

    def _nova_api(self) -> nova.NovaAPI:
        return nova.NovaAPI(self.state)

    @functools.cached_property
    def operator(self) -> openstack.connection.Connection:
        """The SDK's connection of the operator."""
        return tenants.connect(self.state, 'operator')

    def fetch(self) -> None:
        """Download what is not installed, unless that was done."""
        guest.Guest(self.state).make()
        libvirt.Libvirt(self.state).make()
        galera.fetch(self.state)

    def up(self) -> None:
        """Start the cloud, whatever state it is in.

        :raises machine.Unable: the machine is not fit for it
        :raises processes.NotReady: a service does not start
        """
        self.down()
        state_module.check_ports()
        began = time.monotonic()

        def say(text: str) -> None:
            print(f'{time.monotonic() - began:5.0f} s  {text}', flush=True)

        pages = len(self.hosts) * topology.NODES * hugepages.PER_NODE
        say(f'{pages} huge pages are there' if self.huge_pages.take(pages) else
            hugepages.NONE)
        installation.OWN.link_bindings()
        chroot.make(self.state)
        applications = (self.keystone, self.glance, self.placement,
                        self.neutron, self.nova_api)
        for application in applications:
            application.configure()
        # Two at a time: there may be no more CPUs.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            def do(*calls: collections.abc.Callable[[], object]) -> None:
                """Wait for all, and raise what the first of them raised."""
                for call in [*map(pool.submit, calls)]:
                    call.result()

            do(self.mariadb.up, self.switch.up, self.rabbitmq.up,
               guest.Guest(self.state).make, libvirt.Libvirt(self.state).make)
            say('database, broker, guest and libvirt are there')
            do(*(functools.partial(each.setup, self.mariadb)
                 for each in applications))
            say('databases are filled')
            self.keystone.up()
            tenants.register(self.state)
            say('keystone knows everybody')
            do(*(each.up for each in (
                self.glance, self.placement, self.neutron, self.nova_api,
                self.conductor, self.scheduler, *self.hosts.values())))
            say('every service runs')
            tenants.furnish(self.state)
        self.wait_for_hosts()
        say(f'{", ".join(self.hosts)} are ready')

    def wait_for_hosts(self) -> None:
        """Wait until Nova may give servers to every compute host."""
        def ready() -> bool:
            # A hypervisor is listed once its host is mapped to a cell.
            mapped = {each.service_details['host'] for each in
                      self.operator.compute.hypervisors(details=True)}
            plugged = {each.host for each in
                       self.operator.network.agents() if each.is_alive}
            # Others are what a run that was cut off has left.
            return mapped & plugged >= set(self.hosts) and all(
                self.hosts[each.host].takes_servers(each.updated_at)
                for each in self.operator.compute.services(
                    binary='nova-compute') if each.host in self.hosts)

        processes.wait_for(ready, 'compute hosts', 120)

    def down(self) -> None:
        """End every process of the cloud, in whatever state it is.

        Whatever keeps data is asked to end, the rest need not be. A host's
        guests end with its namespaces.
        """
        for process in processes.recorded(self.state):
            keeps = process.name.startswith((mariadb.NAME, 'rabbitmq'))
            process.stop(signal.SIGTERM if keeps else signal.SIGKILL)
        self.huge_pages.give_back()


def check() -> None:
    """Check that the machine has everything.

    :raises machine.Unable: it does not
    """
    machine.check()
    if wanted := machine.missing(machine.PACKAGES):
        raise machine.Unable(
            f'needs the packages {", ".join(wanted)}: python3 -m '
            'testing.deployment.machine installs them')
