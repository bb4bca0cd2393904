"""Requests that are sent while something is gone, and what is left of them.

Each is sent to our nova-api, and what is most like it to an unmodified one.
"""

import concurrent.futures
import contextlib
import os
import signal
import time

from nova_image_override.api.change import store
from testing.deployment import nova
from testing.deployment import places
from testing.deployment import processes
from tests.integration import whole

#: A set of which the scheduler has to agree to a property, and one of which is
#: long.
WANTED = {**whole.ONE, 'hw_machine_type': 'q35',
          'os_command_line': 'console=ttyS0 ' + 'x' * 200}

#: Seconds in which services find again what was gone, and what they do then.
SLACK = nova.RPC_TIMEOUT + 30


@contextlib.contextmanager
def still(process):
    """Let a service do nothing at all."""
    pids = process.pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def unshelve(api, server, _):
    return api.act(server, 'unshelve')


def update(api, server, _):
    return api.update(server, WANTED)


#: name -> status of the server, what is sent to ours, what is sent to the
#: other, and what the server has if ours accepts it.
REQUESTS = {
    'unshelve': (places.OFFLOADED, unshelve, unshelve, whole.ONE),
    'update, offloaded': (places.OFFLOADED, update, None, WANTED),
    'rebuild': (
        'SHUTOFF', lambda api, server, image: api.rebuild(
            server, image, WANTED), lambda api, server, image: api.rebuild(
                server, image), WANTED),
    'update': (
        'SHUTOFF', update, lambda api, server, image: api.send(
            'PUT', f'/{server}', {'server': {'name': 'test-renamed'}}), WANTED),
}


class Outage:
    """The servers, and what is sent for them.

    :param plain: whoever uses the unmodified nova-api
    :param image: what ours are built from
    :param long: what is rebuilt by the other: it has what ours are to have
    :ivar answers: name and whether it is ours -> status and seconds
    """

    def __init__(
            self, deployment, client, plain, everywhere, image, long):
        self._operator = whole.Client(deployment, 'operator')
        self._client = client
        self._apis = {False: plain, True: client}
        self._everywhere = everywhere
        # Of the server's rebuild, by whether it is ours.
        self._images = {True: image, False: long}
        flavor = deployment.operator.compute.find_flavor('small').id
        # A rebuild from another image stores more.
        other = deployment.operator.image.find_image('guest').id
        self._body = whole.body(image, flavor, image_props_override=WANTED)
        self.answers = {}
        self._answered = 0.0
        self._servers = {}
        # Ours are the latest, at the end of each table.
        for is_ours in (False, True):
            for name, (status, ours, novas, _) in REQUESTS.items():
                request = ours if is_ours else novas
                if request is None:
                    continue
                server = client.boot(
                    image if is_ours else other, flavor, 'fake')
                client.do(server, 'os-stop' if status == 'SHUTOFF' else
                          'shelve', status)
                self._servers[name, is_ours] = server, request

    def send(self, fault, seconds=0, at_once=None):
        """Send all while FAULT is there, for at least so many SECONDS.

        :param at_once: how many at a time, the unmodified nova-api's first;
            otherwise all
        """
        def one(key):
            server, request = self._servers[key]
            answer = request(self._apis[key[1]], server, self._images[key[1]])
            return answer.status_code, time.monotonic() - began

        with concurrent.futures.ThreadPoolExecutor(
                at_once or len(self._servers)) as pool:
            with fault:
                began = time.monotonic()
                # It stores nothing, and sends nothing.
                self._client.send(
                    'POST', '/../image-props-override/check', self._body, 200)
                sent = {key: pool.submit(one, key) for key in self._servers}
                concurrent.futures.wait(sent.values(), seconds or None)
                time.sleep(max(0, began + seconds - time.monotonic()))
            self.answers = {
                key: answer.result(SLACK) for key, answer in sent.items()}
        self._answered = time.monotonic()
        for (name, is_ours), (status, took) in self.answers.items():
            print(name, 'ours' if is_ours else 'plain', status, f'{took:.0f} s',
                  flush=True)

    def check(self):
        """Check that ours are whole, and have what they were answered."""
        # A 5xx only where an unmodified nova-api has one.
        allowed = {200, 202, 409, *(
            status for (_, is_ours), (status, _) in self.answers.items()
            if not is_ours)}
        for (name, is_ours), (status, _) in self.answers.items():
            server, _ = self._servers[name, is_ours]
            state = self._state(name, server)
            print(name, 'ours' if is_ours else 'plain', state, flush=True)
            if not is_ours:
                continue
            assert status in allowed
            if state is not None:
                # Nova's own, which it leaves when it cannot go on.
                assert state in ('rebuilding', 'unshelving')
                self._operator.act(
                    server, 'os-resetState', {'state': 'active'}, 202)
            overrides = self._everywhere.agree(
                self._client.show(server), is_built=False)
            wanted = REQUESTS[name][-1]
            # A change that took too long is finished all the same.
            assert overrides == wanted if status < 300 else (
                overrides == whole.ONE or (status == 409
                                           and overrides == wanted))

    def _state(self, name, server):
        """Return the task state in which a server stays, if it does."""
        def is_free():
            return self._client.show(server)['OS-EXT-STS:task_state'] is None

        seconds = store.LEASE + 30 if 'update' in name else SLACK
        try:
            processes.wait_for(
                is_free, name, self._answered + seconds - time.monotonic())
        except processes.NotReady:
            return self._client.show(server)['OS-EXT-STS:task_state']
        return None
