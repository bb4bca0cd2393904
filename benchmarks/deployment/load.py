"""nova-api under load: the extended one next to an unmodified one.

nova-conductor is stopped meanwhile: what is measured is what a request costs
nova-api, and no guests compete with it for the processors. Until they are
deleted, servers remain build requests, which is what nova-api itself makes of
a create.
"""

import collections
import collections.abc
import concurrent.futures
import contextlib
import itertools
import pathlib
import statistics
import threading
import time

import kombu

from benchmarks.deployment import requests
from testing.deployment import cloud
from testing.deployment import settings
from testing.deployment import tenants

#: How many clients there are at once, step by step.
CLIENTS = (1, 2, 4, 8, 16)

#: How long each step lasts for each API, in seconds.
STEP = 20

#: How many requests each API has served when its memory is measured.
LOOKS = (500, 2500, 5000, 7500, 10000)

#: How many clients there are at once while memory is measured.
STEADY = 4

Row = list[str]


class Taken:
    """How long requests took, by kind, in seconds."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = collections.defaultdict(list)
        self.errors = 0
        self.seconds = 0.0

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(map(len, self.times.values()))

    def row(self) -> Row:
        """Return throughput, quantiles of all and of creates, and errors."""
        every = [*itertools.chain.from_iterable(self.times.values())]
        return [f'{self.count / self.seconds:.1f}', *_quantiles(every),
                *_quantiles(self.times['create']), str(self.errors)]


def _quantiles(times: list[float]) -> Row:
    """Return p50 and p99, in milliseconds."""
    cuts = statistics.quantiles(times, n=100, method='inclusive')
    return [f'{cuts[place] * 1e3:.0f}' for place in (49, 98)]


class Load:
    """The two APIs, and clients for them.

    :ivar apis: the extended one and the unmodified one, by name
    """

    def __init__(
        self, deployment: cloud.Cloud, image: str, shaped: str,
    ) -> None:
        self.apis = {'extended': requests.extended(deployment.nova_api, image),
                     'unmodified': requests.plain(deployment.plain_api, shaped)}
        tenant = tenants.connect(deployment.state, 'tenant')
        self._token = tenant.auth_token
        self._flavor = tenant.compute.find_flavor(
            'small', ignore_missing=False).id

    def run(
        self, api: requests.Api, clients: int,
        more: collections.abc.Callable[[Taken], bool],
    ) -> Taken:
        """Run clients in parallel, turn after turn, while MORE says so."""
        taken, lock, began = Taken(), threading.Lock(), time.monotonic()

        def work() -> None:
            client = requests.Client(api, self._token, self._flavor)
            while more(taken):
                for kind, seconds, well in client.turn():
                    with lock:
                        taken.times[kind].append(seconds)
                        taken.errors += not well

        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            for future in [pool.submit(work) for _ in range(clients)]:
                future.result()
        taken.seconds = time.monotonic() - began
        return taken

    def memory(self) -> collections.abc.Iterator[Row]:
        """Yield the memory of each API, in MiB, as requests add up."""
        for name, api in self.apis.items():
            row, had = [name], 0
            for look in LOOKS:
                had += self.run(api, STEADY, lambda taken, left=look - had: (
                    taken.count < left)).count
                row.append(str(_memory(api.process.pids)))
            yield row

    def steps(self) -> collections.abc.Iterator[Row]:
        """Yield how each API performs with more and more clients.

        The APIs alternate, and each step begins with the other one.
        """
        for turn, clients in enumerate(CLIENTS):
            rows = {}
            for name in [*self.apis][::-1 if turn % 2 else 1]:
                until = time.monotonic() + STEP
                rows[name] = self.run(
                    self.apis[name], clients,
                    lambda _, until=until: time.monotonic() < until).row()
            for name in self.apis:
                yield [str(clients), name, *rows[name]]


def _memory(pids: collections.abc.Iterable[int]) -> int:
    """Return the memory of processes, in MiB; shared memory is divided."""
    kilobytes = 0
    for pid in pids:
        lines = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text()
        kilobytes += int(lines.partition('\nPss:')[2].split()[0])
    return kilobytes >> 10


@contextlib.contextmanager
def loading(deployment: cloud.Cloud) -> collections.abc.Iterator[Load]:
    """Prepare the cloud for load, and restore it afterwards."""
    connection = deployment.operator
    project = connection.identity.find_project('demo', ignore_missing=False)
    guest = connection.image.find_image('guest', ignore_missing=False)
    with contextlib.ExitStack() as stack:
        shaped = connection.image.create_image(
            'load', data=bytes(1 << 20), disk_format='raw',
            container_format='bare', visibility='public', wait=True,
            allow_duplicates=True, kernel_id=guest.kernel_id,
            ramdisk_id=guest.ramdisk_id, **requests.OVERRIDES)
        stack.callback(connection.image.delete_image, shaped)
        connection.compute.update_quota_set(
            project, instances=-1, cores=-1, ram=-1)
        stack.callback(connection.compute.revert_quota_set, project)
        deployment.plain_api.up()
        stack.callback(deployment.plain_api.kill)
        deployment.conductor.kill()
        stack.callback(deployment.conductor.up)
        stack.callback(_forget, deployment)
        yield Load(deployment, guest.id, shaped.id)


def _forget(deployment: cloud.Cloud) -> None:
    """Drop what nova-conductor was asked to build meanwhile: it is deleted."""
    # oslo.messaging has its own name for the protocol.
    address = settings.broker(deployment.state).replace('rabbit:', 'amqp:', 1)
    with kombu.Connection(address) as connection:
        connection.channel().queue_purge('conductor')


def tables(
    deployment: cloud.Cloud,
) -> collections.abc.Iterator[tuple[str, Row, collections.abc.Iterable[Row]]]:
    """Measure; yield title, head and rows of each table."""
    with loading(deployment) as load:
        yield (f'Memory of nova-api, two workers, in MiB after so many '
               f'requests of {STEADY} clients',
               ['nova-api', *map(str, LOOKS)], load.memory())
        yield (f'Requests of clients at once, {STEP} s each',
               ['clients', 'nova-api', 'per s', 'p50 ms', 'p99 ms',
                'create p50 ms', 'create p99 ms', 'errors'], load.steps())
