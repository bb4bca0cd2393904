"""The requests and answers that the documentation shows are real ones.

They are in docs/source/samples as this test received them; IDs, links and
Nova's own keys that no page mentions are left out or made readable. Run with
WRITE_SAMPLES=1 to rewrite them.
"""

import json
import logging
import pathlib
from unittest import mock
import xml.etree.ElementTree as ET

import fixtures
from nova.compute import api
import pytest

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api import router
from testing import release
from testing.harness import base
from testing.harness import nodb
from tests.functional.samples import compare

# Nova 31 shows other image properties than later releases do.
pytestmark = pytest.mark.skipif(
    release.NUMBER != 34, reason='the samples are of Nova 34')

#: The keys of a server that are kept, in this order.
SERVER_KEYS = ('id', 'name', 'status', 'image', base.PARAMETER, errors.PRESET)

IMAGE_ID = '70a599e0-31e7-49b7-b260-868f441e862b'
SERVER_ID = '2c3f9a51-6f2b-4d1e-9c57-0d2f4be1a7c8'
FLAVOR_ID = 'a1c0ffee-0e5b-4a86-a0c5-5b1f3b7a9d42'

#: The cloud's presets, as docs/source/admin/presets.rst has them.
PRESETS = '''\
linux-scsi:
  description: Disks that give back what the guest discards
  properties:
    hw_disk_bus: scsi
    hw_scsi_model: virtio-scsi
    os_type: linux
  flavors: [m1.small, m1.large]
'''

#: Disks on a controller that the kernels of cloud images have a driver for.
SCSI = {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi'}


def _shown(value):
    """Return a body without what the documentation does not mention."""
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if not isinstance(value, dict):
        return value
    if 'status' in value or 'adminPass' in value:
        return {key: _shown(value[key]) for key in SERVER_KEYS if key in value}
    return {key: _shown(item) for key, item in value.items()
            if key != 'links'}


class Cloud(base.Cloud):
    COMPUTE = '2.98'
    EXTENDED_HOSTS = ('compute1',)
    OPTIONS = {'allowed_properties': [
        'hw_boot_menu', 'hw_disk_bus=virtio|scsi', 'hw_firmware_type',
        'hw_numa_*', 'hw_pmu', 'hw_scsi_model=virtio-scsi', 'os_command_line',
        'trait:CUSTOM_*']}

    def _setup_services(self):
        path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'presets.yaml')
        path.write_text(PRESETS)
        self.OPTIONS = {**self.OPTIONS, 'presets_file': str(path)}
        super()._setup_services()

    def setUp(self):
        super().setUp()
        self._readable = {}
        self._flavor = self.flavor(vcpus=4, ram=2048)

    def flavor(self, *args, **kwargs):
        flavor = super().flavor(*args, **kwargs)
        self._readable[flavor] = FLAVOR_ID
        return flavor

    def an_image(self, **properties):
        image = self.image(**properties)
        self._readable[image] = IMAGE_ID
        return image

    def a_server(self, overrides=None, host='compute1', **kwargs):
        answer = self.http('POST', '/servers', self.server_body(
            overrides, flavor=self._flavor, name='guest',
            availability_zone=f'nova:{host}', **kwargs), admin=True)
        assert answer.status == 202, answer.text
        self._readable[answer.body['server']['id']] = SERVER_ID
        return self.created(answer)

    def exchange(self, name, method, path, body=None, **kwargs):
        """Send a request; compare it and its answer with the samples."""
        answer = self.http(
            method, path, body, **{'compute': self.COMPUTE, **kwargs})
        if answer.status == 202 and answer.body:
            self._readable[answer.body['server']['id']] = SERVER_ID
        sent = answer.response.request
        self.compare(f'{name}-request.http', self._message(
            f'{method} {sent.path_url} HTTP/1.1', sent, body))
        shown = answer.body if answer.status >= 400 else _shown(answer.body)
        self.compare(f'{name}-answer.http', self._message(
            f'HTTP/1.1 {answer.status} {answer.response.reason}',
            answer.response, shown))
        return answer

    def _message(self, line, message, body):
        lines = [line]
        if versions.HEADER in message.headers:
            lines.append(f'{versions.HEADER}: '
                         f'{message.headers[versions.HEADER]}')
        if body is not None:
            lines += ['Content-Type: application/json', '',
                      json.dumps(body, indent=2)]
        return '\n'.join(lines)

    def guest_part(self, name, server, *paths):
        """Compare parts of a guest's definition with the samples."""
        parts = []
        for path in paths:
            for element in self.guest(server).findall(path):
                ET.indent(element)
                parts.append(ET.tostring(
                    element, encoding='unicode').strip())
        self.compare(f'{name}-guest.xml', '\n'.join(parts))

    def compare(self, name, text):
        for real, readable in self._readable.items():
            text = text.replace(real, readable)
        compare(name, text)

    def new(self, name, overrides, image, **kwargs):
        """Create a server with a sample request."""
        body = {'server': {
            'name': 'guest', 'imageRef': image, 'flavorRef': self._flavor,
            'networks': 'none', base.PARAMETER: overrides}}
        return self.exchange(name, 'POST', '/servers', body, **kwargs)

    def with_preset(self, name, asked, **kwargs):
        return self.exchange(name, 'POST', '/servers', {'server': {
            'name': 'guest', 'imageRef': self.an_image(),
            'flavorRef': self._flavor, 'networks': 'none', **asked}}, **kwargs)

    def by_hint(self, name, hint=base.PARAMETER,
                value='{"hw_disk_bus":"scsi","hw_scsi_model":"virtio-scsi"}'):
        return self.exchange(name, 'POST', '/servers', {
            'server': {
                'name': 'guest', 'imageRef': self.an_image(),
                'flavorRef': self._flavor, 'networks': 'none'},
            'os:scheduler_hints': {hint: value}}, extension=None)


class TestSamples:
    def test_create_show_and_rebuild(self, cloud):
        image = cloud.an_image(hw_disk_bus='virtio', os_distro='debian')
        server = cloud.created(cloud.new(
            'create', SCSI, image))
        cloud.guest_part('create', server,
                         'devices/controller[@type="scsi"]',
                         'devices/disk/target')
        path = f'/servers/{server}'
        cloud.exchange('show', 'GET', path)
        cloud.exchange('detail', 'GET', '/servers/detail')
        cloud.exchange('filter', 'GET', '/servers/detail?'
                       'image_props_override=hw_disk_bus&limit=10')
        cloud.exchange('update', 'PUT', path, {'server': {'name': 'renamed'}})
        action = path + '/action'
        cloud.exchange('rebuild-keep', 'POST', action, {
            'rebuild': {'imageRef': image}})
        cloud.wait(server)
        cloud.exchange('rebuild', 'POST', action, {'rebuild': {
            'imageRef': image, base.PARAMETER: {'hw_boot_menu': 'false'}}})
        cloud.wait(server)
        cloud.exchange('rebuild-numa', 'POST', action, {'rebuild': {
            'imageRef': image, base.PARAMETER: {'hw_numa_nodes': '2'}}})
        cloud.exchange('rebuild-unschedulable', 'POST', action, {'rebuild': {
            'imageRef': image, base.PARAMETER: {
                'trait:CUSTOM_GPU': 'required'}}})
        cloud.exchange('rebuild-drop', 'POST', action, {'rebuild': {
            'imageRef': image, base.PARAMETER: {}}})
        cloud.wait(server)

    def test_update(self, cloud):
        server = cloud.a_server(SCSI, image=cloud.an_image())
        cloud.act(server, {'os-stop': None})
        cloud.wait(server, 'SHUTOFF')
        path = f'/servers/{server}'
        cloud.exchange('update-numa', 'PUT', path, {'server': {
            base.PARAMETER: {'hw_numa_nodes': '2'}}})
        cloud.exchange('update-overrides', 'PUT', path, {'server': {
            base.PARAMETER: {**SCSI, 'hw_boot_menu': 'true'}}})

    def test_resize_to_a_flavor_that_conflicts(self, cloud):
        server = cloud.a_server({'hw_numa_nodes': '2'}, image=cloud.an_image())
        cloud.exchange(
            'resize-flavor', 'POST', f'/servers/{server}/action',
            {'resize': {'flavorRef': cloud.flavor(
                vcpus=4, ram=8192, hw__numa_nodes='2')}})

    def test_kernel_arguments(self, cloud):
        image = cloud.an_image(kernel_id=base.IMAGE, os_command_line='quiet')
        server = cloud.created(cloud.new('kernel', {
            'os_command_line': 'console=ttyS0 inst.ks=http://192.0.2.7/a.ks'},
            image))
        cloud.guest_part('kernel', server, 'os/cmdline')

    def test_numa(self, cloud):
        server = cloud.created(cloud.new('numa', {
            'hw_numa_nodes': '2',
            'hw_numa_cpus.0': '0', 'hw_numa_mem.0': '512',
            'hw_numa_cpus.1': '1-3', 'hw_numa_mem.1': '1536'},
            cloud.an_image()))
        cloud.guest_part('numa', server, 'cpu/numa')

    def test_check(self, cloud):
        image = cloud.an_image(hw_disk_bus='virtio', os_distro='debian')
        body = {'server': {
            'imageRef': image, 'flavorRef': cloud._flavor,
            base.PARAMETER: {
                **SCSI, 'hw_numa_nodes': '2',
                'hw_numa_cpus.0': '0-2', 'hw_numa_cpus.1': '3',
                'hw_numa_mem.0': '1536', 'hw_numa_mem.1': '512'}}}
        cloud.exchange('check', 'POST', versions.CHECK_PATH, body)
        body['server'][base.PARAMETER] = {'hw_numa_nodes': '5'}
        cloud.exchange('check-refused', 'POST', versions.CHECK_PATH, body)

    def test_check_that_asks_for_hosts(self, cloud):
        cloud.exchange('check-hosts', 'POST', versions.CHECK_PATH, {
            'hosts': True, 'server': {
                'imageRef': cloud.an_image(), 'flavorRef': cloud._flavor,
                base.PARAMETER: {'hw_boot_menu': 'true',
                                 'trait:CUSTOM_GOLD': 'required'}}},
            admin=True)

    def test_check_of_a_server(self, cloud):
        image = cloud.an_image(os_distro='debian')
        server = cloud.a_server(SCSI, image=image)
        cloud.exchange('check-rebuild', 'POST', versions.CHECK_PATH, {
            'rebuild': {'id': server, 'imageRef': image,
                        base.PARAMETER: {**SCSI, 'hw_boot_menu': 'true'}}})
        cloud.exchange('check-update', 'POST', versions.CHECK_PATH, {
            'server': {'id': server,
                       base.PARAMETER: {**SCSI, 'hw_boot_menu': 'true'}}})

    def test_removal(self, cloud):
        server = cloud.created(cloud.new(
            'null', {'hw_numa_nodes': None},
            cloud.an_image(hw_numa_nodes='2')))
        cloud.exchange('null-show', 'GET', f'/servers/{server}')

    def test_a_trait(self, cloud):
        cloud._create_trait('CUSTOM_FAST_STORAGE')
        provider = cloud.compute_rp_uuids['compute1']
        cloud._set_provider_traits(provider, [
            *cloud._get_provider_traits(provider), 'CUSTOM_FAST_STORAGE'])
        cloud.created(cloud.new(
            'trait', {'trait:CUSTOM_FAST_STORAGE': 'required'},
            cloud.an_image()))

    def test_refusals(self, cloud):
        image = cloud.an_image()
        cloud.new('invalid', {
            'hw_boot_menu': 'maybe', 'hw_numa_node': '2', 'vm_mode': 'hvm'},
            image)
        cloud.new('forbidden', {
            'hw_disk_bus': 'sata', 'hw_machine_type': 'q35',
            'img_signature': 'x'}, image)
        cloud.new('version-missing', {'hw_boot_menu': 'true'}, image,
                  extension=None)
        cloud.exchange('not-acceptable', 'GET', '/servers', extension='7.0')
        cloud.new('no-effect', {'os_command_line': 'console=ttyS0'}, image)
        cloud.admin_api.post_extra_spec(
            cloud._flavor, {'extra_specs': {'hw:pmu': 'false'}})
        cloud.new('flavor', {'hw_pmu': 'true'}, image)

    def test_a_hint_where_the_option_is_off(self, cloud):
        cloud.by_hint('hint-closed')

    def test_a_preset(self, cloud):
        server = cloud.created(cloud.with_preset('preset', {
            base.PARAMETER: {'hw_boot_menu': 'true'},
            errors.PRESET: 'linux-scsi'}))
        cloud.exchange('preset-show', 'GET', f'/servers/{server}')
        cloud.exchange('preset-filter', 'GET', '/servers?'
                       f'{errors.PRESET}=linux-scsi')
        cloud.with_preset('preset-unknown', {errors.PRESET: 'scsi-linux'})


class TestDiscovery:
    OPTIONS = {'allowed_properties': [
        'hw_disk_bus=virtio|scsi', 'hw_numa_cpus', 'hw_numa_nodes',
        'os_command_line']}

    def test_discovery(self, cloud):
        cloud.exchange('discovery', 'GET', '/image-props-override',
                       compute=None, extension=None)


class TestOpenDoor:
    OPTIONS = {**Cloud.OPTIONS, 'accept_scheduler_hint': True,
               'accept_server_metadata': True}

    def test_a_hint(self, cloud):
        cloud.created(cloud.by_hint('hint'))
        cloud.created(cloud.by_hint(
            'hint-horizon', f'{base.PARAMETER}:hw_firmware_type', 'uefi'))

    def test_metadata(self, cloud):
        cloud.created(cloud.with_preset('metadata', {'metadata': {
            errors.PRESET: 'linux-scsi', f'{base.PARAMETER}:hw_boot_menu':
            'true', 'purpose': 'worker'}}, extension=None))


class TestMixedCloud:
    HOSTS = ('compute1', 'compute2')

    def test_a_host_without_the_compute_part(self, cloud):
        server = cloud.a_server(SCSI, host='compute2',
                                image=(image := cloud.an_image()))
        path = f'/servers/{server}/action'
        cloud.exchange('conflict', 'POST', path, {
            'rebuild': {'imageRef': image}})
        cloud.exchange('conflict-rescue', 'POST', path, {'rescue': {}})

    def test_a_move_to_a_host_without_the_compute_part(self, cloud):
        server = cloud.a_server({
            'hw_numa_nodes': '2',
            'hw_numa_cpus.0': '0', 'hw_numa_mem.0': '512',
            'hw_numa_cpus.1': '1-3', 'hw_numa_mem.1': '1536'},
            image=cloud.an_image())
        cloud.exchange(
            'conflict-resize', 'POST', f'/servers/{server}/action',
            {'resize': {'flavorRef': cloud.flavor(vcpus=4, ram=8192)}})


class Nova(nodb.Nova):
    def assert_logged(self, name, start, **options):
        self.override(**options)
        logged = self.useFixture(fixtures.FakeLogger(
            'nova_image_override', logging.WARNING,
            format='%(levelname)s %(name)s %(message)s'))
        start()
        compare(name, logged.output.strip())

    def fail_to_start(self):
        router._tell_why.cache_clear()
        with pytest.raises(errors.StartupError):
            router.APIRouterV21.factory({})


class TestStart:
    """What nova-api warns about at start."""

    def test_a_malformed_list(self, nova):
        nova.assert_logged('start-list.txt', nova.fail_to_start,
                           allowed_properties=['hw_disk_bus=virtio||scsi'])

    def test_another_nova(self, nova):
        def changed(self, context, instance, image):
            pass

        with mock.patch.object(api.API, '_get_image', changed):
            nova.assert_logged('start-nova.txt', nova.fail_to_start)

    def test_an_unknown_name(self, nova):
        nova.assert_logged(
            'start-warning.txt', lambda: router.APIRouterV21.factory({}),
            allowed_properties=['hw_disk_bus', 'hw_tpm_colour'])
