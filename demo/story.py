"""What the demo shows: a cloud's answers to overrides, request by request."""
from __future__ import annotations

import http
import importlib.metadata
import typing

from demo import page as page_module
from nova_image_override import metadata_keys
from nova_image_override import versions
from testing.harness import answers
from testing.harness import base
from testing.site import cloud as cloud_module

#: What is tried when the command line names nothing.
OVERRIDES = {
    'hw_numa_nodes': '2', 'hw_disk_bus': 'scsi',
    'hw_scsi_model': 'virtio-scsi', 'hw_boot_menu': 'true'}

#: Wrong in several ways at once.
WRONG = {
    'hw_boot_menu': 'maybe',
    'hw_cpu_sockets': '0',
    'hw_disk_bus': 'floppy',
    'hw_os_command_line': 'console=ttyS0',
    'vm_mode': 'hvm',
}

_AS_IS, _OVERRIDDEN = 'as it is', 'with overrides'


def introduce(page: page_module.Page) -> None:
    """Explain what runs here, and what its rules and its image are."""
    versions_of = importlib.metadata.version
    page.line(f'nova-image-override {versions_of("nova-image-override")} '
              f'beside unmodified Nova {versions_of("nova")}: nova-api, '
              'conductor,')
    page.line('scheduler, placement and a compute with the real libvirt '
              'driver, in one process.')
    page.line('Hypervisor and image service are Nova\'s own fakes.')
    page.line()
    page.line('nova.conf       [image_override]')
    for option, value in cloud_module.OPTIONS.items():
        told = value if isinstance(value, str) else ', '.join(value)
        page.line(f'                {option} = {told}')
    page.line('the image       ' + '\n                '.join(
        f'{name} = {value}'
        for name, value in cloud_module.IMAGE.items()))


class Story:
    """Makes requests to a cloud and reports how they went.

    :param cloud: a running cloud
    :param page: where to report
    """

    def __init__(
        self, cloud: cloud_module.Cloud, page: page_module.Page,
    ) -> None:
        self._cloud = cloud
        self._page = page
        self._image = cloud.image(**cloud_module.IMAGE)
        self._flavor = cloud.flavor(vcpus=4, ram=2048)
        introduce(page)

    def _create(self, overrides: dict[str, str] | None) -> answers.Answer:
        """POST /servers; show the request and its status if it overrides."""
        body = self._cloud.server_body(
            overrides, self._image, self._flavor, name='demo')
        if overrides is not None:
            self._page.line('POST /v2.1/servers')
            self._page.line(
                f'{versions.HEADER}: compute {cloud_module.COMPUTE}, '
                f'{versions.SERVICE_TYPE} {versions.MAX}')
            self._page.json(body)
            self._page.line()
        answer = self._cloud.request('POST', '/servers', body)
        if overrides is not None:
            self._page.status(
                answer.status < 400,
                f'{answer.status} {http.HTTPStatus(answer.status).phrase}')
        return answer

    def refuse(self, overrides: dict[str, str]) -> None:
        """Send overrides that are wrong, and show the answer."""
        self._page.heading('A request that is wrong in several ways')
        self._page.json(self._create(overrides).body)

    def boot(self, overrides: dict[str, str]) -> bool:
        """Boot the image as it is and with OVERRIDES; show what differs.

        :returns: whether there is a guest with the overrides
        """
        self._page.heading('The request')
        answer = self._create(overrides)
        if answer.status != 202:
            self._page.json(answer.body)
            return False
        overridden = answer.body['server']['id']
        as_is = self._create(None).body['server']['id']
        shown = [self._cloud.settled(as_is), self._cloud.settled(overridden)]
        self._properties(shown)
        if shown[1]['status'] != 'ACTIVE':
            self._page.heading('The server could not be built')
            self._page.status(False, shown[1]['status'])
            self._page.line(shown[1]['fault']['message'])
            return False
        self._stored(overridden)
        self._page.heading('How the two guests differ (libvirt XML)')
        self._page.diff((_AS_IS, self._cloud.guest_lines(as_is)),
                        (_OVERRIDDEN, self._cloud.guest_lines(overridden)))
        return True

    def _properties(self, servers: list[dict[str, typing.Any]]) -> None:
        """Show what GET /servers/{id} says about two servers."""
        self._page.heading('Image properties in force (GET /servers/{id})')
        as_is, overridden = (server[base.PARAMETER] for server in servers)
        # Nova shows neither traits nor the memory and CPUs of NUMA nodes, and
        # before 2.98 nothing of the image.
        in_force = [{**server['image'].get('properties', cloud_module.IMAGE),
                     **server[base.PARAMETER]} for server in servers]
        self._page.table(
            ['property', _AS_IS, _OVERRIDDEN],
            [[name, *(held.get(name, '-') for held in in_force)]
             for name in sorted({*in_force[0], *in_force[1]})],
            marked=overridden)
        for label, own in ((_AS_IS, as_is), (_OVERRIDDEN, overridden)):
            self._page.line()
            self._page.line(f'{label}:')
            self._page.json({base.PARAMETER: own})

    def _stored(self, server_id: str) -> None:
        """Show how Nova's database stores overrides."""
        self._page.heading('What is stored (system metadata of the second)')
        prefix = metadata_keys.IMAGE_PREFIX
        own = prefix + metadata_keys.SET_PREFIX
        self._page.line(f'{prefix}* is in force. {own}* has the '
                        'image\'s own value,')
        self._page.line('or nothing where the image lacks the property.')
        stored = self._cloud.instance(server_id).system_metadata
        names = sorted(key.removeprefix(own) for key in stored
                       if key.startswith(own))
        self._page.table(['key', 'value'], [
            [begin + name, stored[begin + name]]
            for begin in (prefix, own) for name in names])
