"""Pairs of requests at once, one to each of two nova-api.

The requests of a pair are sent by two threads that a barrier lets go together;
one of them waits for a random few milliseconds, so that the two meet in another
place each time.
"""

import collections
import concurrent.futures
import random
import threading
import time
import typing

from testing.deployment import flavors
from testing.deployment import places
from testing.deployment import processes
from tests.integration import whole

#: How many servers have their pairs at a time; a project's quota is for ten.
SERVERS = 5

#: Seconds by which one of the requests is later, at most.
JITTER = 0.4

#: The other flavor takes two sockets for no guest.
FLAVORS = {
    'wide': flavors.Flavor(2, 128),
    'narrow': flavors.Flavor(2, 128, {'hw:cpu_max_sockets': '1'})}
SOCKETS = {**whole.OTHER, 'hw_cpu_sockets': '2'}

NODES = {**whole.OTHER, 'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0',
         'hw_numa_cpus.1': '1', 'hw_numa_mem.0': '32', 'hw_numa_mem.1': '96'}
THIRD = {'hw_video_model': 'virtio', 'hw_disk_bus': 'virtio'}


class Kind(typing.NamedTuple):
    """Pairs of an update and another request.

    :ivar second: sends the other, to a server
    :ivar wanted: the overrides that the update asks for
    :ivar third: those that are in force if only the other succeeds
    :ivar state: of the server before
    :ivar ends: its state afterwards, if that is known
    """

    second: typing.Any
    wanted: typing.Any = whole.OTHER
    third: typing.Any = whole.ONE
    state: str = 'SHUTOFF'
    ends: tuple[str, ...] = ()


def update(api, server, pairs):
    return api.update(server, THIRD)


RESIZE, DELETE = 'resize', 'delete'
KINDS = {
    'update': Kind(update, third=THIRD),
    'update, offloaded': Kind(update, NODES, THIRD, places.OFFLOADED),
    'start': Kind(lambda api, server, _: api.act(server, 'os-start')),
    # Nova builds a stopped server as an active one, and then stops it.
    'rebuild': Kind(lambda api, server, pairs: api.rebuild(
        server, pairs.image, THIRD), third=THIRD, ends=('SHUTOFF',)),
    'rebuild that keeps them': Kind(lambda api, server, pairs: api.rebuild(
        server, pairs.image), ends=('SHUTOFF',)),
    'update to a preset': Kind(lambda api, server, _: api.update(
        server, whole.OF_PRESET), third=whole.OF_PRESET),
    'rebuild to a preset': Kind(lambda api, server, pairs: api.rebuild(
        server, pairs.image, whole.OF_PRESET), third=whole.OF_PRESET,
                                ends=('SHUTOFF',)),
    'unshelve': Kind(lambda api, server, _: api.act(server, 'unshelve'),
                     NODES, state=places.OFFLOADED),
    RESIZE: Kind(lambda api, server, pairs: api.act(
        server, 'resize', {'flavorRef': pairs.flavors['narrow']}), SOCKETS),
    DELETE: Kind(lambda api, server, _: api.send('DELETE', f'/{server}')),
}


class Pairs:
    """Pairs of one kind, on one server.

    :ivar answers: statuses of the two -> how often
    """

    def __init__(self, deployment, everywhere, apis, image, kind, zone):
        self.everywhere = everywhere
        self.apis = apis
        self.client = apis[0]
        self.image = image
        self.kind = KINDS[kind]
        self.allowed = {200, 202, 204, 404, 409, *([400] * (kind == RESIZE))}
        self.zone = zone
        self.flavors = {
            name: deployment.operator.compute.find_flavor(name).id
            for name in FLAVORS}
        self.answers = collections.Counter()
        self.server = None

    def prepare(self):
        """Return to a server in the right state that has the one set."""
        if self.server is None:
            self.server = self.client.boot(
                self.image, self.flavors['wide'], self.zone)
        status = self.client.settled(self.server)['status']
        if status == 'VERIFY_RESIZE':
            status = self.client.do(
                self.server, 'revertResize', 'SHUTOFF')['status']
        if status != self.kind.state:
            self.client.do(
                self.server, 'os-stop' if self.kind.state == 'SHUTOFF'
                else 'shelve', self.kind.state)
        processes.wait_for(self._has_the_one_set, self.server, 60)

    def _has_the_one_set(self):
        # A host that has just offloaded or resized it saves it once more.
        answer = self.client.update(self.server, whole.ONE)
        assert answer.status_code == 200 or 'try again' in answer.text, (
            answer.text)
        return answer.status_code == 200

    def meet(self):
        """Send the two, and check what has become of the server."""
        self.prepare()
        barrier = threading.Barrier(2)
        # An update takes longer until it holds the server than most others.
        late = random.choice((0, 1, 1))  # noqa: S311

        def send(number):
            barrier.wait()
            if number == late:
                time.sleep(random.uniform(0, JITTER))  # noqa: S311
            if number:
                return self.kind.second(self.apis[1], self.server, self)
            return self.apis[0].update(self.server, self.kind.wanted)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(send, range(2)))
        for answer in answers:
            assert answer.status_code in self.allowed, answer.text
        statuses = tuple(answer.status_code for answer in answers)
        self.answers[statuses] += 1
        self.check(*(status < 300 for status in statuses))

    def check(self, is_updated, is_other_done):
        if self.kind is KINDS[DELETE]:
            # It wins, whatever it meets.
            assert is_other_done
            self.client.gone(self.server)
            self.server = None
            return
        # Not both: a resize that comes second is a 400.
        assert is_updated + is_other_done == 1 or (
            is_updated and self.kind is not KINDS[RESIZE])
        overrides = self.everywhere.agree(
            self.client.settled(self.server, *self.kind.ends))
        possible = [self.kind.wanted] * is_updated
        if not is_updated or self.kind.third is not whole.ONE:
            possible += [self.kind.third] * is_other_done
        assert overrides in possible

    def end(self):
        if self.server:
            self.client.delete(self.server)


def meet(deployment, everywhere, apis, image, kind, zone, number):
    """Have so many pairs of a kind meet, and return their answers."""
    left = iter(range(number))
    each = [Pairs(deployment, everywhere, apis, image, kind, zone)
            for _ in range(min(SERVERS, number))]

    def work(pairs):
        while next(left, None) is not None:
            pairs.meet()

    try:
        with concurrent.futures.ThreadPoolExecutor(len(each)) as pool:
            list(pool.map(work, each))
    finally:
        for pairs in each:
            pairs.end()
    return sum((pairs.answers for pairs in each), collections.Counter())
