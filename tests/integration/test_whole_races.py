"""Of two requests at once, one to each of two nova-api, one wins or both agree.

The two are separate processes on one MariaDB. Each of PAIRS pairs is sent from
two threads that a barrier lets go together; the second waits for a random few
milliseconds, so that the two meet in another place each time.
"""

import collections
import concurrent.futures
import os
import random
import threading
import time

import pytest

from testing import figures
from testing.deployment import fake_host
from testing.deployment import flavors
from testing.deployment import nova
from testing.deployment import processes
from tests.integration import whole

pytestmark = pytest.mark.skipif(not figures.FULL, reason='make proof-races')

#: How many pairs of each kind, on the host without guests; on those with
#: QEMU it is a fiftieth of that.
PAIRS = int(os.environ.get('PAIRS', '20'))
WITH_QEMU = max(2, PAIRS // 50)
ZONES = {'fake': 'without guests', 'nova': 'QEMU'}

#: How many servers have their pairs at a time; a project's quota is for ten.
SERVERS = 5

#: Seconds by which the second request is later, at most.
JITTER = 0.2

#: In two flavors, of which the other takes these sockets for no guest.
SOCKETS = {**whole.OTHER, 'hw_cpu_sockets': '2'}
FLAVORS = {
    'wide': flavors.Flavor(2, 128),
    'narrow': flavors.Flavor(2, 128, {'hw:cpu_max_sockets': '1'})}

NODES = {**whole.OTHER, 'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0',
         'hw_numa_cpus.1': '1', 'hw_numa_mem.0': '32', 'hw_numa_mem.1': '96'}


@pytest.fixture(scope='module')
def apis(deployment):
    """Two nova-api."""
    result = [nova.NovaAPI(deployment.state, f'nova-api-{number}')
              for number in (1, 2)]
    for api in result:
        api.WORKERS = 1
        api.configure()
        api.up()
    yield [whole.Client(deployment, 'nfv', api.name) for api in result]
    for api in result:
        api.kill()


@pytest.fixture(scope='module')
def counted():
    """What met -> the answers, for tests that have passed."""
    result = {}
    yield result
    figures.record('races', result)


@pytest.fixture(scope='module')
def zones(deployment):
    """Where there is QEMU, and where there is not."""
    compute = deployment.operator.compute
    host = fake_host.Host(deployment.state)
    host.up()
    processes.wait_for(
        lambda: any(each.name == host.host for each in compute.hypervisors()),
        host.host)
    aggregate = compute.create_aggregate(
        name='fake', availability_zone='fake')
    compute.add_host_to_aggregate(aggregate, host.host)
    flavors.furnish(compute, FLAVORS)
    yield {'fake': PAIRS, 'nova': WITH_QEMU}
    compute.remove_host_from_aggregate(aggregate, host.host)
    compute.delete_aggregate(aggregate)
    host.kill()
    (service,) = compute.services(binary='nova-compute', host=host.host)
    compute.delete_service(service)


class Pairs:
    """Pairs of an update and one more request, on one server.

    :ivar counted: answers of the two -> how often
    """

    NAME: str
    STATE = 'SHUTOFF'
    WANTED = whole.OTHER
    #: What each of the two may be answered, besides 404 and 409.
    ANSWERS = (200, 202, 204)
    #: The states that it then ends in, if that is known.
    ENDS: tuple[str, ...] = ()

    def __init__(self, deployment, everywhere, apis, image, zone):
        self.everywhere = everywhere
        self.apis = apis
        self.client = apis[0]
        self.image = image
        self.zone = zone
        self.flavors = {
            name: deployment.operator.compute.find_flavor(name).id
            for name in FLAVORS}
        self.counted = collections.Counter()
        self.server = None

    def second(self, api):
        raise NotImplementedError

    def prepare(self):
        """Return to a server in the right state that has the one set."""
        if self.server is None:
            self.server = self.client.boot(
                self.image, self.flavors['wide'], whole.ONE,
                availability_zone=self.zone)
        status = self.client.settled(self.server)['status']
        for action, following in self.way(status):
            self.client.act(self.server, action, 202, 204)
            self.client.settled(self.server, following)
        answer = self.client.update(self.server, whole.ONE)
        assert answer.status == 200, answer

    def end(self):
        if self.server:
            self.client.send('DELETE', f'/servers/{self.server}')
            self.client.gone(self.server)

    def way(self, status):
        """Yield the actions that lead from a status to the right state."""
        if status == 'VERIFY_RESIZE':
            yield {'revertResize': None}, 'SHUTOFF'
            status = 'SHUTOFF'
        if status != self.STATE:
            yield ({'os-stop': None} if self.STATE == 'SHUTOFF'
                   else {'shelve': None}), self.STATE

    def meet(self):
        """Send the two, and check what has become of the server."""
        self.prepare()
        barrier = threading.Barrier(2)
        order = [lambda: self.apis[0].update(self.server, self.WANTED),
                 lambda: self.second(self.apis[1])]
        late = random.randrange(2)  # noqa: S311

        def send(number):
            barrier.wait()
            if number == late:
                time.sleep(random.uniform(0, JITTER))  # noqa: S311
            return order[number]()

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(send, range(2)))
        statuses = [answer.status for answer in answers]
        for answer in answers:
            assert answer.status in (*self.ANSWERS, 404, 409), answer
        self.counted[tuple(statuses)] += 1
        self.check(*statuses)

    def check(self, update, second):
        shown = self.client.settled(self.server, *self.ENDS)
        overrides = self.everywhere.agree(shown)
        assert overrides in self.possible(update < 300, second < 300), (
            update, second, overrides)

    def possible(self, updated, is_done):
        """Return what may be in force, by what has succeeded."""
        return [self.WANTED if updated else whole.ONE]


class Updates(Pairs):
    NAME = 'update'
    THIRD = {'hw_video_model': 'virtio', 'hw_disk_bus': 'virtio'}

    def second(self, api):
        return api.update(self.server, self.THIRD)

    def possible(self, updated, is_done):
        assert updated or is_done
        return [self.WANTED] * updated + [self.THIRD] * is_done


class OffloadedUpdates(Updates):
    NAME = 'update, offloaded'
    STATE = 'SHELVED_OFFLOADED'
    WANTED = NODES


class Start(Pairs):
    NAME = 'start'

    def second(self, api):
        return api.act(self.server, {'os-start': None})

    def possible(self, updated, is_done):
        assert updated or is_done
        return Pairs.possible(self, updated, is_done)


class Rebuild(Pairs):
    NAME = 'rebuild'
    THIRD = {'hw_video_model': 'virtio', 'hw_disk_bus': 'virtio'}

    def second(self, api):
        return api.act(self.server, {'rebuild': {
            'imageRef': self.image, whole.PARAMETER: self.THIRD}})

    # Nova builds a stopped server as an active one, and then stops it.
    ENDS = ('SHUTOFF',)
    possible = Updates.possible


class KeepingRebuild(Pairs):
    NAME = 'rebuild that keeps them'
    ENDS = ('SHUTOFF',)

    def second(self, api):
        return api.act(self.server, {'rebuild': {'imageRef': self.image}})

    possible = Start.possible


class Unshelve(Pairs):
    NAME = 'unshelve'
    STATE = 'SHELVED_OFFLOADED'
    WANTED = NODES

    def second(self, api):
        return api.act(self.server, {'unshelve': None})

    possible = Start.possible


class Resize(Pairs):
    """To a flavor with which the update's overrides conflict."""

    NAME = 'resize'
    WANTED = SOCKETS
    ANSWERS = (200, 202, 204, 400)

    def second(self, api):
        return api.act(self.server, {'resize': {
            'flavorRef': self.flavors['narrow']}})

    def check(self, update, second):
        # Both only if the update came first, which is a 400.
        assert (update, second) != (200, 202)
        super().check(update, second)


class Delete(Pairs):
    NAME = 'delete'

    def second(self, api):
        return api.send('DELETE', f'/servers/{self.server}')

    def check(self, update, second):
        # A deletion wins, whatever it meets.
        assert second == 204
        self.client.gone(self.server)
        self.server = None


KINDS = [Updates, OffloadedUpdates, Start, Rebuild, KeepingRebuild, Unshelve,
         Resize, Delete]


@pytest.mark.parametrize('zone', ['fake', 'nova'])
@pytest.mark.parametrize('kind', KINDS)
def test_of_two_at_once_one_wins_or_both_agree(
        deployment, everywhere, apis, zones, whole_image, counted, kind, zone):
    left = iter(range(zones[zone]))
    each = [kind(deployment, everywhere, apis, whole_image, zone)
            for _ in range(min(SERVERS, zones[zone]))]

    def meet(pairs):
        while next(left, None) is not None:
            pairs.meet()

    try:
        with concurrent.futures.ThreadPoolExecutor(len(each)) as pool:
            for done in [pool.submit(meet, pairs) for pairs in each]:
                done.result()
    finally:
        for pairs in each:
            pairs.end()
    answers = sum((pairs.counted for pairs in each), collections.Counter())
    both = sum(count for pair, count in answers.items() if max(pair) < 300)
    counted[f'update and {kind.NAME}: {ZONES[zone]}'] = (
        f'{answers.total()} pairs: {both} both, {answers.total() - both} one')
    print(kind.NAME, zone, dict(answers), flush=True)
