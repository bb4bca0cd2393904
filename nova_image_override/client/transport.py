"""Requests with overrides: an entry in the header, keys in the body.

This is the one place that knows them, for every tool built on keystoneauth:
openstacksdk and python-openstackclient, whose adapter is ``conn.compute``, and
python-novaclient and Heat, whose adapter is ``nova.client``. The tool still
chooses compute microversion and body; this adds to what it sends::

    adapter = transport.attach(conn.compute)
    with adapter.overriding(transport.CREATE, {'hw_disk_bus': 'ide'}):
        conn.compute.create_server(name='guest', ...)

Names and values are sent as they are: the server checks and folds them.
"""
from __future__ import annotations

from collections.abc import (
    Collection,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
import contextlib
import dataclasses
import re
import threading
from typing import Any, NamedTuple, Optional
from urllib import parse

from keystoneauth1 import discover
from keystoneauth1 import exceptions as ksa_exceptions
import requests

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.client import answers


class Action(NamedTuple):
    """A kind of request that carries overrides.

    :ivar key: of its body, which gets them; '' for a query
    :ivar checks: whether its body is only checked, at versions.CHECK_PATH
    :ivar hosts: whether that asks for hosts, too
    """

    method: str
    key: str
    checks: bool = False
    hosts: bool = False


CREATE = Action('POST', 'server')
REBUILD = Action('POST', 'rebuild')
UPDATE = Action('PUT', 'server')
LIST = Action('GET', '')
CHECK = CREATE._replace(checks=True)
CHECK_REBUILD = REBUILD._replace(checks=True)

_SERVER = re.compile('(?:^|/)servers/([^/?]+)')
_LISTS = ('/servers', '/servers/detail')

#: Property name -> value, or None to remove the image's property.
Overrides = Mapping[str, Optional[str]]


@dataclasses.dataclass
class Asking:
    """The overrides of a thread's requests in a context, and the answers.

    All these requests name the version, so that answers show overrides.

    :ivar action: the requests that are to carry the parameters, if any are
    :ivar parameters: those to add (errors.PARAMETERS)
    :ivar sent: whether a request has carried the parameters
    :ivar checked: the cloud's answer, if that was a check
    :ivar response: the last answer
    :ivar seen: overrides in the answers so far (answers.shown_in)
    """

    action: Action | None = None
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)
    sent: bool = False
    checked: dict[str, Any] = dataclasses.field(default_factory=dict)
    response: requests.Response | None = None
    seen: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)

    def put_into(
        self, url: str, method: str, kwargs: dict[str, Any],
    ) -> Action | None:
        """Put the parameters into a request, if it is to carry them.

        :returns: the action, if it is
        """
        if self.action is None or method != self.action.method:
            return None
        key, body = self.action.key, kwargs.get('json')
        if self.action == LIST and url.partition('?')[0].endswith(_LISTS):
            kwargs['params'] = {
                **(kwargs.get('params') or {}), **self.parameters}
        elif isinstance(body, dict) and isinstance(body.get(key), dict):
            kwargs['json'] = {**body, key: {**body[key], **self.parameters}}
        else:
            return None
        self.sent = True
        return self.action


class _Checked(Exception):
    """The tool's request has been checked, and ends here."""


class _Local(threading.local):
    """The context of each of the threads that use a connection."""

    asking: Asking | None = None


class OverridingSession:
    """Wraps the session of a compute service's adapter.

    Every request passes through here as its tool has made it.

    :ivar naming: whether every request names the extension, where the cloud
        has it, so that every answer shows overrides in force
    """

    def __init__(self, adapter: Any) -> None:
        self.naming = False
        self._adapter = adapter
        self._session = adapter.session
        #: The cloud's offer, or the failure to get it; None before the first.
        self._said: answers.Discovery | Exception | None = None
        self._local = _Local()

    def __getattr__(self, name: str) -> Any:
        # Everything but requests is the session's own.
        if name == '_session':
            raise AttributeError(name)
        return getattr(self._session, name)

    def discover(self) -> answers.Discovery:
        """Return the cloud's offer of the extension; ask for it only once.

        :raises NotAvailable: the cloud does not have the extension
        :raises Error: it has no version that we know, there is no answer, or
            it is another failure, or cannot be read
        """
        if not isinstance(
                self._said, (answers.Discovery, answers.NotAvailable)):
            trouble = ('Cannot find out whether this cloud takes image '
                       f'property overrides: GET {versions.PATH}')
            try:
                response = self._ask('GET', versions.PATH)
            except ksa_exceptions.ConnectionError as exc:
                raise answers.Error(f'{trouble} failed: {exc}') from exc
            self._said = answers.NotAvailable(
                'This cloud does not take image property overrides: it does '
                'not have nova-image-override.'
            ) if response.status_code == 404 else answers.read(
                response, trouble,
                lambda body: answers.Discovery.of(body[errors.PARAMETER]))
        if isinstance(self._said, Exception):
            raise self._said
        return self._said

    @contextlib.contextmanager
    def overriding(
        self, action: Action, overrides: Overrides | Sequence[str] | None,
        preset: str | None = None,
    ) -> Iterator[Asking]:
        """Let requests that this thread makes in the context carry OVERRIDES.

        :param action: the requests that carry them; one that is only checked
            ends the context
        :param overrides: what to ask for; empty to ask for none; None to ask
            for a preset's only, or a rebuild that keeps them; for LIST their
            names
        :param preset: name of one of the cloud's presets
        :raises TypeError: OVERRIDES is not a mapping
        :raises Refused: a check is refused
        :raises Error: the cloud does not take them, or no request in the
            context carried them
        """
        if (overrides is not None and action != LIST) or (
                preset is None and action not in (LIST, CHECK_REBUILD)):
            if not isinstance(overrides, Mapping):
                raise TypeError(
                    f'{errors.PARAMETER} must map names to strings, not be '
                    f'{overrides!r}')
            overrides = dict(overrides)
        self.discover()
        asked = Asking(action, answers.parameters(overrides, preset))
        with self._asking(asked) as asking, contextlib.suppress(_Checked):
            yield asking
        if not asking.sent:
            raise answers.NotSent(
                'The image property overrides were NOT sent: this version of '
                'the client makes its request in another way. What it has '
                'created, rebuilt or listed is without them.')

    def showing(self) -> contextlib.AbstractContextManager[Asking]:
        """Let the answers to this thread in the context show overrides.

        :raises NotAvailable: the cloud does not have the extension
        """
        self.discover()
        return self._asking(Asking())

    @contextlib.contextmanager
    def _asking(self, asking: Asking) -> Iterator[Asking]:
        outer = self._local.asking
        self._local.asking = asking
        try:
            yield asking
        finally:
            self._local.asking = outer

    def replace_overrides(
        self, server_id: str, overrides: Overrides | None,
        preset: str | None = None, *, checks: bool = False,
    ) -> dict[str, Any]:
        """Replace the overrides of a server that is not running.

        :param overrides: as for :meth:`overriding`; empty to drop all
        :param preset: the preset that they are laid over, if any
        :param checks: whether only to ask what that would get
        :returns: the cloud's answer
        :raises Refused: they are refused, in general or at the moment
        :raises Error: the cloud does not take any, or fails
        """
        path = f'/servers/{server_id}'
        with self.overriding(UPDATE._replace(checks=checks),
                             overrides, preset) as asking:
            response = self._ask('PUT', path, json={'server': {}})
        if checks:
            return asking.checked
        answers.raise_for(response)
        return answers.read(
            response, 'Cannot change the image property overrides of the '
            f'server: PUT {path}', dict)

    def check(
        self, server: dict[str, Any], overrides: Overrides | None,
        preset: str | None = None, *, hosts: bool = False,
    ) -> dict[str, Any]:
        """Check a create (dry run): the cloud creates nothing.

        :param server: what the create would have under ``server``; ``name``
            and ``networks`` may be left out
        :param overrides, preset: as for :meth:`overriding`
        :param hosts: whether to ask for hosts, too
        :returns: the answer, as the API reference describes it
        :raises Refused: the create would be refused
        :raises Error: the cloud does not take any, or fails
        """
        with self.overriding(
                CHECK._replace(hosts=hosts), overrides, preset) as asking:
            self._ask('POST', versions.CHECK_PATH, json={'server': server})
        return asking.checked

    def check_rebuild(
        self, server_id: str, image: str, overrides: Overrides | None,
        preset: str | None = None,
    ) -> dict[str, Any]:
        """Check a rebuild (dry run): the cloud rebuilds nothing.

        :param image: id of the image
        :param overrides, preset: as for :meth:`overriding`
        :returns: the answer, as the API reference describes it
        :raises Refused: the rebuild would be refused
        :raises Error: the cloud does not take any, or fails
        """
        with self.overriding(CHECK_REBUILD, overrides, preset) as asking:
            self._ask('POST', versions.CHECK_PATH, json={
                'rebuild': {'imageRef': image, 'id': server_id}})
        return asking.checked

    def _ask(self, method: str, path: str, **kwargs: Any) -> requests.Response:
        """Make a request of our own, as the tool would."""
        answer = self._adapter.request(path, method, raise_exc=False, **kwargs)
        # python-novaclient's is a LegacyJsonAdapter: (response, body).
        return answer[0] if isinstance(answer, tuple) else answer

    def request(
            self, url: str, method: str, **kwargs: Any) -> requests.Response:
        """Send a request of the tool, with the overrides that it carries."""
        asking = self._local.asking
        action = asking and asking.put_into(url, method, kwargs)
        if action and action.checks:
            if server := _SERVER.search(url):
                kwargs['json'][action.key]['id'] = server[1]
            elif action.hosts:
                kwargs['json']['hosts'] = True
            method, url = 'POST', versions.CHECK_PATH
        version = (self.discover().version if asking
                   else self._named(url, kwargs.get('params') or ()))
        if version is not None:
            kwargs['headers'] = _headers_naming(version, kwargs)
        response = self._session.request(url, method, **kwargs)
        if asking:
            asking.response = response
            asking.seen.update(answers.shown_in(response))
            if action and action.checks:
                answers.raise_for(response)
                asking.checked = answers.read(
                    response,
                    f'Cannot check what the request would get: POST {url}',
                    lambda body: dict(body[errors.PARAMETER]))
                raise _Checked
        return response

    def _named(
        self, url: str, query: Collection[str],
    ) -> versions.Version | None:
        """Return the version that every request names, if they do.

        A request that asks for nothing must neither fail because of this nor
        wait for it twice: after a failure, only requests that ask for
        overrides ask the cloud again.

        :param query: what it has beside that of the URL
        :raises Error: the request filters by overrides, and the cloud does
            not have the extension, or fails
        """
        if not self.naming or url == versions.PATH:
            return None
        if not {*errors.PARAMETERS}.isdisjoint((*query, *parse.parse_qs(
                parse.urlsplit(url).query, keep_blank_values=True))):
            # Without the version Nova would list all servers.
            return self.discover().version
        if self._said is None:
            try:
                self.discover()
            except (answers.Error, ksa_exceptions.ClientException) as exc:
                self._said = exc
        return getattr(self._said, 'version', None)


def _headers_naming(
    version: versions.Version, kwargs: dict[str, Any],
) -> MutableMapping[str, str]:
    """Return the headers of a request with our entry next to Nova's.

    keystoneauth leaves an existing header alone
    (Session._set_microversion_headers), so Nova's entry is written here.
    """
    headers = requests.structures.CaseInsensitiveDict(
        kwargs.get('headers') or {})
    compute = headers.get(versions.HEADER)
    if compute is None and kwargs.get('microversion'):
        compute = 'compute ' + discover.version_to_string(
            discover.normalize_version_number(kwargs['microversion']))
    headers[versions.HEADER] = ', '.join(filter(None, (
        compute, f'{versions.SERVICE_TYPE} {version}')))
    return headers


_ATTACHING = threading.Lock()


def attach(adapter: Any) -> OverridingSession:
    """Wrap the session of ADAPTER, only once; return the wrapper.

    Requests of the adapter that ask for nothing stay as they are.

    :param adapter: keystoneauth adapter of the compute service
    :raises answers.NotAvailable: it is a client that has none
    """
    if not hasattr(adapter, 'session'):
        # Up to 6, python-openstackclient has python-novaclient's Client there.
        raise answers.NotAvailable(
            'Image property overrides need python-openstackclient 7.1 or '
            'newer.')
    with _ATTACHING:
        if not isinstance(adapter.session, OverridingSession):
            adapter.session = OverridingSession(adapter)
        return adapter.session
