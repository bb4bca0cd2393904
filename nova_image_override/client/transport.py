"""What a client sends: an entry in the header, a key in the body.

This is the one place that knows them, for every tool built on keystoneauth:
openstacksdk and python-openstackclient, whose adapter is ``conn.compute``, and
python-novaclient and Heat, whose adapter is ``nova.client``. The tool still
chooses compute microversion and body; this adds to what it sends::

    adapter = transport.attach(conn.compute)
    with adapter.overriding(discovery.CREATE, {'hw_disk_bus': 'ide'}):
        conn.compute.create_server(name='guest', ...)

Names and values are sent as they are: the server checks and folds them.
"""

import collections.abc
import contextlib
import dataclasses
import threading
import typing

from keystoneauth1 import adapter as ksa_adapter
from keystoneauth1 import exceptions as ksa_exceptions
import requests

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.client import discovery
from nova_image_override.client import messages
from nova_image_override.client import refusal


@dataclasses.dataclass
class Asked:
    """What requests in a context are to carry, and what came of it.

    :ivar sent: whether a request has carried it
    :ivar response: the last answer to one that did
    """

    action: str
    overrides: discovery.Overrides
    version: versions.Version
    sent: bool = False
    response: requests.Response | None = None


class OverridingAdapter(ksa_adapter.Adapter):
    """Stands between an adapter of the compute service and its session.

    keystoneauth lets adapters nest. Every request passes through here with the
    headers and the body that its tool has made.

    :param adapter: the adapter whose session this wraps

    :ivar naming: whether every request names the extension, where the cloud
        has it, so that every answer shows overrides in force
    """

    def __init__(self, adapter: typing.Any) -> None:
        super().__init__(adapter.session)
        self.naming = False
        self._adapter = adapter
        self._known = False
        self._failed = False
        self._discovery: discovery.Discovery | None = None
        # One connection serves many threads, which ask for different things.
        self._local = threading.local()

    def __getattr__(self, name: str) -> typing.Any:
        # Whatever else a tool keeps on its session.
        if name == 'session':
            raise AttributeError(name)
        return getattr(self.session, name)

    # The two methods in which keystoneauth's adapters do not nest.

    def get_endpoint_data(
            self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """Ask the session."""
        return self.session.get_endpoint_data(*args, **kwargs)

    def get_all_version_data(
            self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """Ask the session."""
        return self.session.get_all_version_data(*args, **kwargs)

    def discover(self) -> discovery.Discovery:
        """Return what the cloud says about the extension; ask it only once.

        :raises NotAvailable: the cloud does not have the extension
        :raises VersionUnsupported: it has no version that we know
        :raises Error: the answer is another failure, or cannot be read
        """
        if not self._known:
            self._discovery = discovery.Discovery.read(messages.response_of(
                self._adapter.get(versions.PATH, raise_exc=False)))
            self._known = True
        if self._discovery is None:
            raise discovery.NotAvailable(
                'This cloud does not take image property overrides: it does '
                'not have nova-image-override.')
        return self._discovery

    @contextlib.contextmanager
    def overriding(
        self, action: str, overrides: discovery.Overrides,
    ) -> collections.abc.Iterator[Asked]:
        """Let requests that this thread makes in the context carry OVERRIDES.

        :param action: CREATE, REBUILD or UPDATE: the requests that carry
            them
        :param overrides: what to ask for; empty to ask for none
        :returns: what is asked for, with the last answer to it
        :raises TypeError: OVERRIDES is not a mapping
        :raises NotAvailable: the cloud does not have the extension
        :raises VersionUnsupported: the cloud has no version that we know
        :raises NotSent: no request in the context carried them
        """
        if not isinstance(overrides, collections.abc.Mapping):
            raise TypeError(
                f'{errors.PARAMETER} must map names to strings, not be '
                f'{overrides!r}')
        asked = Asked(action, dict(overrides), self.discover().version)
        before = getattr(self._local, 'asked', None)
        self._local.asked = asked
        try:
            yield asked
        finally:
            self._local.asked = before
        if not asked.sent:
            raise discovery.NotSent(
                'The image property overrides were NOT sent: this version of '
                'the client makes its request in another way. What it has '
                'created or rebuilt is without them.')

    @contextlib.contextmanager
    def showing(
        self,
    ) -> collections.abc.Iterator[dict[str, dict[str, str | None]]]:
        """Name the extension in requests of this thread in the context.

        :returns: what the answers show so far: server ID -> overrides
        :raises NotAvailable: the cloud does not have the extension
        """
        self._local.shown = self.discover().version
        seen: dict[str, dict[str, str | None]] = {}
        self._local.seen = seen
        try:
            yield seen
        finally:
            self._local.shown = self._local.seen = None

    def overrides_of(self, server_id: str) -> dict[str, str | None]:
        """Return a server's overrides in force, from the cloud.

        :raises NotAvailable: the cloud does not have the extension
        :raises Error: the cloud does not show them
        """
        path = f'/servers/{server_id}'
        with self.showing():
            response = messages.response_of(
                self._adapter.get(path, raise_exc=False))
        with discovery.readable(
                response, 'Cannot see the image property overrides of the '
                          f'server: GET {path}'):
            return dict(response.json()[discovery.CREATE][errors.PARAMETER])

    def replace_overrides(
        self, server_id: str, overrides: discovery.Overrides,
    ) -> None:
        """Replace the overrides of a server that is not running.

        :param overrides: what is to be in force; empty to drop all
        :raises TypeError: OVERRIDES is not a mapping
        :raises NotAvailable: the cloud does not have the extension
        :raises VersionUnsupported: the cloud has no version that we know
        :raises refusal.Refused: they are refused, in general or at the moment
        :raises Error: the answer is another failure
        """
        path = f'/servers/{server_id}'
        with self.overriding(discovery.UPDATE, overrides):
            response = messages.response_of(self._adapter.put(
                path, json={discovery.CREATE: {}}, raise_exc=False))
        refusal.raise_for(response)
        with discovery.readable(
                response, 'Cannot change the image property overrides of the '
                          f'server: PUT {path}'):
            pass

    def check(
        self, server: dict[str, typing.Any], overrides: discovery.Overrides,
        **kwargs: typing.Any,
    ) -> dict[str, typing.Any]:
        """Return what a create would get; the cloud creates nothing.

        :param server: what the create would have under ``server``; ``name``
            and ``networks`` may be left out
        :param overrides: what to ask for; empty to ask for none
        :param kwargs: what else the adapter's ``post`` takes, such as
            ``microversion``
        :returns: ``properties``, ``overridden`` and ``numa_topology``, as the
            API reference describes them
        :raises TypeError: OVERRIDES is not a mapping
        :raises NotAvailable: the cloud does not have the extension
        :raises VersionUnsupported: the cloud has no version that we know
        :raises refusal.Refused: the create would be refused
        :raises Error: the answer is another failure, or cannot be read
        """
        path = versions.CHECK_PATH
        with self.overriding(discovery.CREATE, overrides):
            response = messages.response_of(self._adapter.post(
                path, json={discovery.CREATE: server}, raise_exc=False,
                **kwargs))
        refusal.raise_for(response)
        with discovery.readable(
                response, 'Cannot check what a create would get: '
                          f'POST {path}'):
            return dict(response.json()[errors.PARAMETER])

    def request(
        self, url: str, method: str, **kwargs: typing.Any,
    ) -> requests.Response:
        """Send a request of the tool, with what it has to carry."""
        carried = self._carry(method, kwargs)
        version = carried or self._shown(url)
        if version is not None:
            kwargs['headers'] = messages.headers_naming(version, kwargs)
        response = super().request(url, method, **kwargs)
        if carried is not None:
            self._local.asked.response = response
        seen = getattr(self._local, 'seen', None)
        if seen is not None:
            seen.update(messages.overrides_in(response))
        return response

    def _carry(
        self, method: str, kwargs: dict[str, typing.Any],
    ) -> versions.Version | None:
        """Put what the thread asks for into the body, if that is to carry it.

        :returns: the version to name in that case
        """
        asked: Asked | None = getattr(self._local, 'asked', None)
        body = kwargs.get('json')
        if asked is None or not isinstance(body, dict) or method != (
                'PUT' if asked.action == discovery.UPDATE else 'POST'):
            return None
        key = (discovery.REBUILD if asked.action == discovery.REBUILD
               else discovery.CREATE)
        inner = body.get(key)
        if not isinstance(inner, dict):
            return None
        kwargs['json'] = {**body, key: {
            **inner, errors.PARAMETER: asked.overrides}}
        asked.sent = True
        return asked.version

    def _shown(self, url: str) -> versions.Version | None:
        """Return the version to name so that answers show overrides."""
        shown: versions.Version | None = getattr(self._local, 'shown', None)
        if shown is None and self.naming and url != versions.PATH:
            return self._named()
        return shown

    def _named(self) -> versions.Version | None:
        """Return the version that every request names.

        A request that asks for nothing must neither fail because of this nor
        wait for it twice: after a failure, only requests that ask for
        overrides ask the cloud again.
        """
        if self._failed and not self._known:
            return None
        try:
            return self.discover().version
        except (discovery.Error, ksa_exceptions.ClientException):
            self._failed = True
            return None


_ATTACHING = threading.Lock()


def attach(adapter: typing.Any) -> OverridingAdapter:
    """Return what carries overrides for ADAPTER; put it there only once.

    Requests of the adapter that ask for nothing stay as they are.

    :param adapter: keystoneauth adapter of the compute service, such as
        ``conn.compute`` of openstacksdk or ``nova.client`` of
        python-novaclient
    """
    with _ATTACHING:
        if not isinstance(adapter.session, OverridingAdapter):
            adapter.session = OverridingAdapter(adapter)
        return adapter.session
