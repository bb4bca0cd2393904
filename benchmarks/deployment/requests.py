"""What the load is made of: the requests of one client, in turn."""

import collections.abc
import dataclasses
import time
import typing

import requests

from testing.deployment import nova
from testing.deployment import state as state_module

#: What a server is booted with, and what else is asked for.
OVERRIDES = {
    'hw_boot_menu': 'true', 'hw_cpu_sockets': '1', 'hw_cpu_cores': '1',
    'hw_cpu_threads': '1', 'hw_cpu_max_sockets': '4', 'hw_disk_bus': 'scsi',
    'hw_machine_type': 'q35', 'hw_scsi_model': 'virtio-scsi',
    'hw_video_model': 'virtio', 'os_command_line': 'console=ttyS0 load=1'}

_COMPUTE = 'compute 2.93'


@dataclasses.dataclass(frozen=True)
class Api:
    """One nova-api, and what makes it do the same as the other one.

    :ivar process: the service
    :ivar image: what servers boot
    :ivar create: what is added to the body of a create
    :ivar version: the OpenStack-API-Version header
    :ivar invalid: what is added to a create that is answered with 400
    :ivar refused: what is added to a create that is answered with 403
    """

    process: nova.NovaAPI
    image: str
    create: dict[str, typing.Any]
    version: str
    invalid: dict[str, typing.Any]
    refused: dict[str, typing.Any]


def extended(process: nova.NovaAPI, image: str) -> Api:
    """Return the extended API: an image, and ten overrides."""
    return Api(
        process, image, {'image_props_override': OVERRIDES},
        f'{_COMPUTE}, image-props-override 1.0',
        {'image_props_override': {**OVERRIDES, 'hw_disk_bus': 'floppy'}},
        {'image_props_override': {**OVERRIDES, 'hw_vif_model': 'e1000'}})


def plain(process: nova.NovaAPI, image: str) -> Api:
    """Return Nova's own API: an image that has the ten properties.

    Its 400 comes from Nova's schema, its 403 from Nova's policy.
    """
    return Api(
        process, image, {}, _COMPUTE, {'config_drive': 'floppy'},
        {'availability_zone': 'nova:compute1'})


class Client:
    """One of many clients: creates, shows, lists, errs, and deletes again."""

    def __init__(self, api: Api, token: str, flavor: str) -> None:
        self._api = api
        self._flavor = flavor
        self._session = requests.Session()
        self._session.headers.update({
            'X-Auth-Token': token, 'OpenStack-API-Version': api.version})
        self._url = state_module.url(api.process.NAME, '/v2.1/servers')

    def turn(self) -> collections.abc.Iterator[tuple[str, float, bool]]:
        """Do one turn; yield kind, seconds and success of each request."""
        created = yield from self._create('create', self._api.create, 202)
        server = f'{self._url}/{created.json()["server"]["id"]}'
        yield from self._send('show', 200, 'GET', server)
        yield from self._create('invalid', self._api.invalid, 400)
        yield from self._send(
            'list', 200, 'GET', f'{self._url}/detail?limit=20')
        yield from self._create('refused', self._api.refused, 403)
        yield from self._send('show', 200, 'GET', server)
        yield from self._send('delete', 204, 'DELETE', server)

    def _create(
        self, kind: str, more: dict[str, typing.Any], status: int,
    ) -> typing.Generator[tuple[str, float, bool], None, requests.Response]:
        return self._send(kind, status, 'POST', self._url, {'server': {
            'name': 'load', 'imageRef': self._api.image, 'networks': 'none',
            'flavorRef': self._flavor, **more}})

    def _send(
        self, kind: str, status: int, method: str, url: str,
        body: dict[str, typing.Any] | None = None,
    ) -> typing.Generator[tuple[str, float, bool], None, requests.Response]:
        began = time.perf_counter()
        answer = self._session.request(method, url, json=body, timeout=120)
        yield (kind, time.perf_counter() - began,
               answer.status_code == status)
        return answer
