"""Nova's functional harness with the extension in nova-api.

Real WSGI application, conductor, scheduler, placement and a compute with the
real LibvirtDriver over Nova's fake libvirt connection, in one process on
SQLite. Requests go over HTTP (wsgi-intercept), and bypass no part of Nova.
"""
from __future__ import annotations

import json
import pathlib
import typing
from unittest import mock
import uuid
import xml.etree.ElementTree as ET

import fixtures
import futurist._thread
from nova import context as nova_context
from nova import objects
from nova import service as nova_service
from nova.compute import task_states
import nova.conf
import nova.policy
from nova.tests.fixtures import libvirt as fakelibvirt
from nova.tests.functional.libvirt import base
from nova.volume import cinder
import requests

from nova_image_override import conf as override_conf
from nova_image_override import versions
from nova_image_override.cmd import run_nova_compute as compute_command
from testing import paste_config
from testing import release
from testing.harness import answers
from testing.harness import by_hand
from testing.harness import databases
from testing.harness import seen
from testing.harness import waiting

CONF = nova.conf.CONF

#: An image of Nova's GlanceFixture; tests add properties to a copy of it.
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'

PARAMETER = 'image_props_override'

#: What starts the build of servers that nova-api has accepted.
BUILDS = 'nova.conductor.api.ComputeTaskAPI.schedule_and_build_instances'

#: The newest version of the extension.
LATEST = str(versions.MAX)


def _snapshot(driver, context, instance, image_id, update_task_state):
    update_task_state(task_state=task_states.IMAGE_PENDING_UPLOAD)
    update_task_state(task_state=task_states.IMAGE_UPLOADING,
                      expected_state=task_states.IMAGE_PENDING_UPLOAD)


class Cloud(
        by_hand.ByHand, waiting.Waits, seen.Seen, base.ServersTestBase):
    """One compute host; requests come from a project member."""

    ADDITIONAL_FILTERS = ['NUMATopologyFilter']

    #: What api-paste.ini names; NOVA_APP is unmodified Nova.
    APP = paste_config.APP
    #: Options of ``[image_override]``.
    OPTIONS: dict[str, typing.Any] = {'allowed_properties': ['*']}
    #: policy.yaml.
    POLICY: dict[str, str] = {}
    #: Whether accepted servers are built. A test that ends while one is being
    #: built waits a minute for Nova's graceful shutdown.
    BUILD = True
    #: Computes to start.
    HOSTS: tuple[str, ...] = ('compute1',)
    #: Those of them that run nova-compute-image-override.
    EXTENDED_HOSTS: tuple[str, ...] = ()
    #: Cells of the hosts that are not in the first cell.
    CELLS: dict[str, str] = {}
    #: Compute microversion of requests; names nothing that a test is about.
    COMPUTE = '2.93'
    #: False where each test changes services, or what ``setUp`` patches.
    SHARED = True
    #: Whether nova-api waits until a cast has been carried out. Nova's harness
    #: itself can be asked from 29 on.
    CAST_AS_CALL = True

    def setUp(self) -> None:
        self.discarded = False
        if not self.CAST_AS_CALL:
            self.useFixture(fixtures.MonkeyPatch(
                'nova.tests.fixtures.CastAsCallFixture',
                lambda test: fixtures.Fixture()))
        self.useFixture(databases.KeptConnections())
        super().setUp()
        # nova.test.TestCase has idle threads check a hundred times a second
        # whether they may end. In a cloud that lasts, they take time away from
        # those that work.
        workers = futurist._thread.ThreadWorker
        workers.MAX_IDLE_FOR = max(workers.MAX_IDLE_FOR, 0.1)
        self.commits = self.useFixture(waiting.Commits())
        self.useFixture(waiting.PromptMessages())
        #: Server id -> the last domain XML that a driver gave libvirt. The
        #: fake libvirt itself remembers only part of it.
        self.built: dict[str, str] = {}
        for method in ('createXML', 'defineXML'):
            self._keep_what_is_built(method)
        self._describe_what_was_built()
        self._give_volumes_metadata()
        if release.NUMBER >= 34:
            # With Nova's 0, services would shut down in the background, and
            # could end the executors of the process for good, once their
            # fixture no longer prevents that (nova/tests/fixtures/nova.py
            # ServiceFixture). With 20 seconds they still wait for no task
            # (ComputeManager.graceful_shutdown); Nova 33 would sleep.
            self.flags(manager_shutdown_timeout=20)
        # It reads and uploads the disk, and there is none.
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.libvirt.driver.LibvirtDriver.snapshot', _snapshot))
        for host in self.HOSTS:
            self.start_host(host)
        self.images: dict[str, dict[str, typing.Any]] = {}

    def start_host(self, host: str) -> None:
        managers = {'nova-compute': compute_command.MANAGER} \
            if host in self.EXTENDED_HOSTS else {}
        with mock.patch.dict(nova_service.SERVICE_MANAGERS, managers):
            self.start_nova_compute(host)

    def start_nova_compute(self, host: str) -> None:
        self.start_compute(
            hostname=host, cell_name=self.CELLS.get(host),
            **self.hardware(host))

    def stop_services(self) -> None:
        """Stop everything except nova-api."""
        for service in (self.scheduler, self.conductor,
                        *self.computes.values()):
            service.stop()

    def discard(self) -> None:
        """Lend this cloud to no other test: what changed is not put back."""
        self.discarded = True

    def _keep_what_is_built(self, method: str) -> None:
        original = getattr(fakelibvirt.Connection, method)

        def keep(connection, xml, *args, **kwargs):
            self.built[ET.fromstring(xml).findtext('uuid')] = xml
            return original(connection, xml, *args, **kwargs)

        self.useFixture(fixtures.MonkeyPatch(
            f'nova.tests.fixtures.libvirt.Connection.{method}', keep))

    def _describe_what_was_built(self) -> None:
        """Let libvirt give back whole definitions, as the real one does."""
        original = fakelibvirt.Domain.XMLDesc

        def describe(domain, flags):
            return self.built.get(domain.UUIDString()) or original(
                domain, flags)

        self.useFixture(fixtures.MonkeyPatch(
            'nova.tests.fixtures.libvirt.Domain.XMLDesc', describe))

    def _give_volumes_metadata(self) -> None:
        """Let Nova's fake Cinder have metadata of the images of volumes."""
        #: Volume -> the metadata of its image.
        self.cinder.of_images = {}
        look = cinder.API().get

        def get(context, wanted, microversion=None):
            volume = look(context, wanted, microversion)
            if metadata := self.cinder.of_images.get(wanted):
                volume['volume_image_metadata'] = dict(metadata)
            return volume

        self.useFixture(fixtures.MockPatch(
            'nova.volume.cinder.API.get', side_effect=get, autospec=False))
        if not hasattr(self.cinder, 'fake_vol_create'):
            # Nova 26 and 27: a volume is there as soon as it is looked for.
            self.useFixture(fixtures.MockPatch(
                'nova.volume.cinder.API.create', autospec=False,
                side_effect=lambda context, *_, **__: look(
                    context, str(uuid.uuid4()))))

    def hardware(self, host: str) -> dict[str, typing.Any]:
        """Return what a host is made of according to Nova's fake libvirt."""
        return {'host_info': fakelibvirt.HostInfo(
            cpu_nodes=2, cpu_sockets=1, cpu_cores=2, cpu_threads=2)}

    def _setup_services(self) -> None:
        # Called by the harness after its policy fixture, before the services.
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        override_conf.register_opts(CONF)
        for option, value in self.OPTIONS.items():
            self.flags(group='image_override', **{option: value})
        # The default of Nova; its harness runs with the deprecated rules.
        self.flags(group='oslo_policy', enforce_new_defaults=True)
        self.flags(group='quota', instances=-1, cores=-1, ram=-1)
        if not self.BUILD:
            self.useFixture(fixtures.MockPatch(BUILDS))
        self.flags(group='wsgi', api_paste_config=paste_config.write(
            folder, self.APP))
        if self.POLICY:
            path = folder / 'policy.yaml'
            path.write_text(json.dumps(self.POLICY))
            CONF.set_override('policy_file', str(path), group='oslo_policy')
            nova.policy.reset()
            nova.policy.init(suppress_deprecation_warnings=True)
        super()._setup_services()

    # --- requests -----------------------------------------------------------

    def http(
        self, method: str, path: str, body: typing.Any = None, *,
        compute: str | None = COMPUTE, extension: str | None = LATEST,
        admin: bool = False, roles: str = 'member,reader',
        api: str = 'v2.1', headers: dict[str, str] | None = None,
    ) -> answers.Answer:
        """Send a request through nova-api.

        :param body: what to send as JSON; bytes are sent as they are
        :param compute: Nova's microversion, or None
        :param extension: the extension's version, or None
        """
        entries = [f'compute {compute}'] if compute else []
        if extension:
            entries.append(f'{versions.SERVICE_TYPE} {extension}')
        sent = {
            'Content-Type': 'application/json',
            'X-Auth-User': 'admin' if admin else 'fake',
            'X-User-Id': 'admin' if admin else 'fake',
            'X-Auth-Project-Id': self.api.project_id,
            'X-Roles': 'admin,' + roles if admin else roles,
        }
        if entries:
            sent[versions.HEADER] = ', '.join(entries)
        sent.update(headers or {})
        url = self.api.base_url.rsplit('/', 1)[0] + f'/{api}{path}'
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return answers.Answer(requests.request(
            method, url, data=body, headers=sent, timeout=120))

    def server_body(
        self, overrides: typing.Any = None, image: str | None = IMAGE,
        flavor: str | None = None, **server: typing.Any,
    ) -> dict[str, typing.Any]:
        """Return the body of a create request; kwargs go into ``server``."""
        server = {'name': 'test', 'networks': 'none',
                  'flavorRef': flavor or self.flavor(), **server}
        if image:
            server['imageRef'] = image
        if overrides is not None:
            server[PARAMETER] = overrides
        return {'server': server}

    def create(
        self, overrides: typing.Any = None, *, image: str | None = IMAGE,
        flavor: str | None = None, server: dict[str, typing.Any] | None = None,
        path: str = '/servers', **kwargs: typing.Any,
    ) -> answers.Answer:
        """POST /servers."""
        return self.http('POST', path, self.server_body(
            overrides, image, flavor, **(server or {})), **kwargs)

    def check(self, *args: typing.Any, **kwargs: typing.Any) -> answers.Answer:
        """Check what :meth:`create` would get."""
        return self.create(*args, path=versions.CHECK_PATH, **kwargs)

    def discover(self, **kwargs: typing.Any) -> dict[str, typing.Any]:
        """Return what GET /image-props-override says."""
        return self.http('GET', versions.PATH, **kwargs).expect(
            200).body[PARAMETER]

    def uploaded(self, image_id: str) -> dict[str, typing.Any]:
        """Return a snapshot's image, once Glance has its data."""
        image: dict[str, typing.Any] = self.glance.images[image_id]
        # Nova's fake Glance keeps the text that Nova 26 and 27 send.
        image.update(status='active', min_disk=int(image['min_disk']))
        return image

    def boot(self, *args: typing.Any, **kwargs: typing.Any) -> str:
        """Create a server and return its id once it is ACTIVE."""
        return self.created(self.create(*args, **kwargs))

    def unbuilt(self, *args: typing.Any, **kwargs: typing.Any) -> str:
        """Create a server that nothing builds, and return its id."""
        with mock.patch(BUILDS):
            answer = self.create(*args, **kwargs).expect(202)
        server_id: str = answer.body['server']['id']
        return server_id

    def created(self, answer: answers.Answer, status: str = 'ACTIVE') -> str:
        """Return the ID of the server that ANSWER creates, in its STATUS."""
        server_id: str = answer.expect(202).body['server']['id']
        self.wait(server_id, status)
        return server_id

    def rebuild(
        self, server_id: str, overrides: object = None, image: str = IMAGE,
        **kwargs: typing.Any,
    ) -> answers.Answer:
        """Rebuild a server, and wait for it if that is accepted.

        :param overrides: None to leave the parameter out
        """
        body: dict[str, object] = {'imageRef': image}
        if overrides is not None:
            body[PARAMETER] = overrides
        answer = self.act(server_id, {'rebuild': body}, **kwargs)
        if answer.status == 202:
            self.wait(server_id)
        return answer

    def act(self, server_id: str, action: dict[str, typing.Any],
            **kwargs: typing.Any) -> answers.Answer:
        """POST /servers/{id}/action."""
        return self.http(
            'POST', f'/servers/{server_id}/action', action, **kwargs)

    def do(
        self, server_id: str, action: str | dict[str, typing.Any],
        status: str = 'ACTIVE', admin: bool = False, expected: int = 202,
    ) -> None:
        """Act on a server, and wait until it has STATUS.

        :param action: the body, or its only key
        """
        if isinstance(action, str):
            action = {action: None}
        self.act(server_id, action, admin=admin).expect(expected)
        self.wait(server_id, status)

    def show(
        self, server_id: str, **kwargs: typing.Any,
    ) -> dict[str, typing.Any]:
        """Return a server, as GET /servers/{id} shows it."""
        return self.http(
            'GET', f'/servers/{server_id}', **kwargs).body['server']

    def shown(
        self, server_id: str, **kwargs: typing.Any,
    ) -> dict[str, str | None]:
        """Return the overrides of a server, as GET /servers/{id} shows them."""
        return self.show(server_id, **kwargs)[PARAMETER]

    def delete(self, server_id: str) -> None:
        """Delete a server, and return when it is gone."""
        self.http('DELETE', f'/servers/{server_id}').expect(204)
        self._wait_until_deleted({'id': server_id})

    def hard_reboot(self, server_id: str) -> None:
        self.do(server_id, {'reboot': {'type': 'HARD'}})

    def assert_refused(
        self, answer: answers.Answer, status: int, problems: dict[str, str],
    ) -> None:
        """Assert a refusal that names exactly PROBLEMS, and makes no server."""
        answer.expect(status, problems)
        for code in problems.values():
            assert f'{code}: ' in answer.message
        self.assert_nothing_created()

    def assert_nothing_created(self) -> None:
        context = nova_context.get_admin_context()
        assert not list(objects.BuildRequestList.get_all(context))
        assert not self.http(
            'GET', '/servers', extension=None).body['servers']

    # --- what there is ------------------------------------------------------

    def flavor(
        self, vcpus: int = 2, ram: int = 1024, *, name: str | None = None,
        **specs: str,
    ) -> str:
        """Make a flavor; extra specs have '__' for ':'.

        :returns: its id, which is its name
        """
        name = name or str(uuid.uuid4())
        self.admin_api.post_flavor({'flavor': {
            'id': name, 'name': name, 'vcpus': vcpus, 'ram': ram, 'disk': 10}})
        if specs:
            self.admin_api.post_extra_spec(name, {'extra_specs': {
                key.replace('__', ':'): value
                for key, value in specs.items()}})
        return name

    def isolate(self, host: str, **metadata: str) -> None:
        """Put a host into an aggregate with METADATA, '__' for ':'."""
        aggregate = self.admin_api.post_aggregate(
            {'aggregate': {'name': str(uuid.uuid4())}})['id']
        self.admin_api.add_host_to_aggregate(aggregate, host)
        self.admin_api.post_aggregate_action(
            aggregate, {'set_metadata': {'metadata': {
                key.replace('__', ':'): value
                for key, value in metadata.items()}}})

    def give_trait(self, host: str, trait: str) -> None:
        """Make a custom trait, and give it to a host."""
        self._create_trait(trait)
        provider = self.compute_rp_uuids[host]
        self._set_provider_traits(
            provider, [*self._get_provider_traits(provider), trait])

    def take_down(self, host: str) -> None:
        """Stop a host's nova-compute, so that servers may be evacuated."""
        self.discard()
        self.computes[host].stop()
        self.admin_api.microversion = '2.11'
        self.admin_api.force_down_service(host, 'nova-compute', True)

    def image(self, name: str = 'test', /, **properties: typing.Any) -> str:
        """Make an image with PROPERTIES; '__' stands for '.'."""
        return self.glance.create(None, {
            'name': name, 'status': 'active', 'container_format': 'bare',
            'disk_format': 'qcow2', 'size': 1, 'min_ram': 0, 'min_disk': 0,
            'visibility': 'public',
            # Nova 31's fixture sets none, as Glance always does.
            'updated_at': self.glance.images[IMAGE]['updated_at'],
            'properties': {key.replace('__', '.'): value
                           for key, value in properties.items()}})['id']

    def volume(self, **properties: typing.Any) -> str:
        """Return a bootable volume whose image metadata is PROPERTIES."""
        volume_id: str = self.cinder.IMAGE_BACKED_VOL
        self.cinder.of_images[volume_id] = {
            'image_id': IMAGE, 'image_name': 'test', 'min_ram': '0',
            **{key.replace('__', '.'): value
               for key, value in properties.items()}}
        return volume_id

    @staticmethod
    def from_volume(volume_id: str) -> dict[str, typing.Any]:
        """Return what ``server`` needs to boot from a volume."""
        return {'block_device_mapping_v2': [{
            'boot_index': 0, 'source_type': 'volume', 'uuid': volume_id,
            'destination_type': 'volume'}]}
