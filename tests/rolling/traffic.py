"""What tenants keep doing, and what became of each request."""
from __future__ import annotations

import dataclasses
import itertools
import threading
import time
import typing

from keystoneauth1 import exceptions
from openstack.compute.v2 import _proxy

from nova_image_override import errors
from nova_image_override import versions

#: Seconds after which a server that is not as it should be never will be.
PATIENCE = 240



class Failed(Exception):
    """A request was not answered as it should be."""


@dataclasses.dataclass
class Asked:
    """What was asked of nova-api, in numbers.

    :ivar requests: how many
    :ivar lives: how many servers came and went
    :ivar failures: what was not answered as it should be
    """

    requests: int = 0
    lives: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)


class Tenant(threading.Thread):
    """Boots servers, uses and deletes them, one after the other.

    Nothing is tried a second time: a request that fails has failed.

    :param compute: the SDK's proxy, for a user of their own
    :param name: what the servers are called
    :param overrides: the image properties that each boot overrides, if any
    """

    def __init__(
        self, compute: _proxy.Proxy, name: str,
        overrides: dict[str, str] | None = None,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.asked = Asked()
        self._compute = compute
        self._overrides = overrides
        self._image = compute.find_image('guest').id
        self._flavor = compute.find_flavor('small').id
        self._over = threading.Event()

    def run(self) -> None:
        """Work until :meth:`finish`."""
        for number in itertools.count():
            try:
                self._live(f'{self.name}-{number}')
                self.asked.lives += 1
            except (Failed, exceptions.ClientException) as exc:
                self.asked.failures.append(f'{time.strftime("%X")} {exc}')
            if self._over.wait(1):
                return

    def finish(self) -> Asked:
        """End once the server that is in use is gone; return the figures."""
        self._over.set()
        self.join()
        return self.asked

    def _live(self, name: str) -> None:
        body: dict[str, typing.Any] = {
            'name': name, 'imageRef': self._image, 'flavorRef': self._flavor,
            'networks': 'none'}
        if self._overrides is not None:
            body[errors.PARAMETER] = self._overrides
        server = self._ask('POST', '/servers', 202, {'server': body}
                           )['server']['id']
        try:
            self._settled(server, 'ACTIVE')
            self._ask('GET', '/servers/detail?limit=5', 200)
            self._act(server, {'os-stop': None}, 'SHUTOFF')
            self._act(server, {'os-start': None}, 'ACTIVE')
            self._act(server, {'rebuild': {'imageRef': self._image}}, 'ACTIVE')
        finally:
            self._ask('DELETE', f'/servers/{server}', 204)
        self._until(lambda: self._status(server) is None, f'{server} is there')

    def _act(
        self, server: str, action: dict[str, typing.Any], status: str,
    ) -> None:
        self._ask('POST', f'/servers/{server}/action', 202, action)
        self._settled(server, status)

    def _settled(self, server: str, status: str) -> None:
        def reached() -> bool:
            shown = self._ask('GET', f'/servers/{server}', 200)['server']
            if (self._overrides is not None
                    and shown[errors.PARAMETER] != self._overrides):
                raise Failed(f'{server} has {shown[errors.PARAMETER]}')
            if shown['status'] == 'ERROR':
                raise Failed(f'{server} is in ERROR: {shown.get("fault")}')
            return (shown['status'] == status
                    and shown['OS-EXT-STS:task_state'] is None)

        self._until(reached, f'{server} is not {status}')

    def _status(self, server: str) -> str | None:
        """Return the status of a server, None when it is gone."""
        answer = self._send('GET', f'/servers/{server}')
        if answer.status_code == 404:
            return None
        self._check(answer, 200)
        return answer.json()['server']['status']

    def _until(
        self, condition: typing.Callable[[], bool], otherwise: str,
    ) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise Failed(f'after {PATIENCE} s, {otherwise}')
            time.sleep(0.5)

    def _ask(
        self, method: str, path: str, status: int,
        body: dict[str, typing.Any] | None = None,
    ) -> typing.Any:
        """Send a request; return the body of the answer.

        :raises Failed: the answer has another status
        """
        answer = self._send(method, path, body)
        self._check(answer, status)
        return answer.json() if answer.content else None

    def _check(self, answer: typing.Any, status: int) -> None:
        if answer.status_code != status:
            raise Failed(f'{answer.request.method} {answer.request.path_url} '
                         f'{answer.status_code} {answer.text[:500]}')

    def _send(
        self, method: str, path: str,
        body: dict[str, typing.Any] | None = None,
    ) -> typing.Any:
        self.asked.requests += 1
        entries = 'compute 2.90'
        if self._overrides is not None:
            entries += f', {versions.SERVICE_TYPE} {versions.MAX}'
        return self._compute.request(
            path, method, json=body, raise_exc=False, connect_retries=0,
            status_code_retries=0, headers={versions.HEADER: entries})
