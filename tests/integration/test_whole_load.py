"""Load on nova-api under uWSGI, beside as much on an unmodified one.

Both have four workers and belong to one cloud. Each request is sent to both,
one after the other and in turns first to the one and to the other, so that
whatever else the machine does is the same for them.
"""

import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import statistics
import time

import pytest

from testing import figures
from testing.deployment import nova
from tests.integration import whole

pytestmark = pytest.mark.skipif(not figures.FULL, reason='make proof-load')

MINUTES = float(os.environ.get('MINUTES', '60'))

#: Clients that send at the same time: one more than there are workers.
CLIENTS = 5

#: How many servers there are to list.
SERVERS = 4

#: The two services.
OURS, PLAIN = 0, 1


@pytest.fixture(scope='module')
def services(deployment):
    """The extended nova-api, and an unmodified one."""
    both = [nova.NovaAPI(deployment.state, 'nova-api-1'),
            deployment.plain_api]
    for service in both:
        service.is_under_uwsgi = True
        service.restart()
    yield both
    for service in both:
        service.kill()


def resident(service):
    """Return the memory of a service's processes, in MiB."""
    return sum(int(re.findall(r'^VmRSS:\s+(\d+)', pathlib.Path(
        f'/proc/{pid}/status').read_text(), re.MULTILINE)[0])
        for pid in service.pids) / 1024


def _compared(ours, plain):
    """Say how long one of the two took beside the other."""
    median = statistics.median(ours) / statistics.median(plain)
    slow = [statistics.quantiles(each, n=20)[-1] for each in (ours, plain)]
    return (f'{len(ours)} requests to each: median {median:.2f}, 95th '
            f'percentile {slow[0] / slow[1]:.2f} of the unmodified')


class Load:
    """Requests, and how long each of the two took to answer them.

    :ivar times: kind of request -> service -> seconds
    :ivar faults: service -> how many answers were not the right ones
    """

    def __init__(self, clients, image, flavor, servers):
        self.clients = clients
        self.image = image
        self.flavor = flavor
        self.servers = servers
        self.times = collections.defaultdict(lambda: [[], []])
        self.faults = [0, 0]
        self._turns = itertools.count()

    def _body(self, **more):
        return whole.body(self.image, self.flavor, name='test-load',
                          availability_zone='fake', **more)

    def _requests(self, which):
        """Return kind -> method, path, body and the status that is right.

        What the extension alone takes stands beside what comes closest to it.
        """
        show = f'/{self.servers[next(self._turns) % len(self.servers)]}'
        refused = 'POST', '', self._body(flavorRef='none'), 400
        alike = {'list': ('GET', '/detail', None, 200),
                 'show': ('GET', show, None, 200)}
        if which == PLAIN:
            return {**alike,
                    'filter': ('GET', '/detail?name=test-whole', None, 200),
                    'refusal': refused, 'check': refused,
                    'create': ('POST', '', self._body(), 202)}
        asked = self._body(**{whole.PARAMETER: whole.ONE})
        return {**alike,
                'filter': ('GET', '/detail?image_props_override='
                           'hw_video_model', None, 200),
                'refusal': ('POST', '', self._body(**{
                    whole.PARAMETER: {'hw_disk_bus': 'unknown'}}), 400),
                'check': ('POST', '/../image-props-override/check', asked, 200),
                'create': ('POST', '', asked, 202)}

    def run(self, until):
        """Send requests until then."""
        while time.monotonic() < until:
            order = (OURS, PLAIN)[::1 if next(self._turns) % 2 else -1]
            both = [self._requests(which) for which in (OURS, PLAIN)]
            for kind in both[OURS]:
                for which in order:
                    self._send(which, kind, *both[which][kind])

    def _send(self, which, kind, method, path, body, status):
        client = self.clients[which]
        began = time.monotonic()
        answer = client.send(method, path, body)
        taken = time.monotonic() - began
        if answer is None or answer.status_code != status:
            self.faults[which] += 1
            print(kind, which, answer and answer.text, flush=True)
            return
        self.times[kind][which].append(taken)
        if status == 202:
            server = answer.json()['server']['id']
            client.send('DELETE', f'/{server}')
            client.gone(server)


def test_the_extension_makes_no_faults_and_what_it_costs_is_known(
        deployment, services, fake_zone, whole_image, small):
    clients = [whole.Client(deployment, 'operator', service.name)
               for service in services]
    servers = [clients[OURS].boot(whole_image, small, 'fake')
               for _ in range(SERVERS)]
    load = Load(clients, whole_image, small, servers)
    before = [resident(service) for service in services]
    until = time.monotonic() + MINUTES * 60
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        for end in [pool.submit(load.run, until) for _ in range(CLIENTS)]:
            end.result()
    after = [resident(service) for service in services]
    for server in servers:
        clients[OURS].delete(server)
    assert load.faults == [0, 0]
    memory = [each[OURS] / each[PLAIN] for each in (before, after)]
    figures.record('load', {
        'minutes': f'{MINUTES:g}, with {CLIENTS} clients',
        'memory of the workers': '{:.2f} of the unmodified before, '
                                 '{:.2f} after'.format(*memory),
        **{kind: _compared(*times) for kind, times in load.times.items()}})
    # What is lost with each request would add up.
    assert memory[1] < memory[0] * 1.1
