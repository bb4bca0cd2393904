"""No operation of Nova takes an update of overrides back, whatever the order.

Each operation on a server is stopped at each of its statements, and a whole
update is made there; then the other way round. Afterwards all that is stored
of the server must agree, and so must the guest that is built next.
"""
from __future__ import annotations

import collections
import collections.abc
import gc
import itertools
import os
import time
import typing

import fixtures
from nova import objects
from nova.tests.functional.libvirt import base as libvirt_base
from oslo_utils import uuidutils
import pytest

from testing import figures
from testing import paste_config
from testing.harness import applications
from testing.harness import base
from tests.functional import life
from tests.proof import interleaving

BEFORE = {'hw_video_model': 'vga', 'hw_disk_bus': 'sata', 'os_distro': 'debian'}
AFTER = {'hw_video_model': 'cirrus', 'hw_disk_bus': 'scsi'}
OTHER = {'hw_video_model': 'qxl', 'os_distro': 'fedora'}
OTHER_BUS = {**OTHER, 'hw_disk_bus': 'usb'}
NUMA = {'hw_numa_nodes': '2'}
NETWORK = {'hw_vif_model': 'e1000'}

#: Where the guest's XML says what a property asks for, and how.
DEVICES = {
    'hw_video_model': ('devices/video/model', 'type'),
    'hw_disk_bus': ("devices/disk[@device='disk']/target", 'bus'),
}


class Cloud(life.Cloud, libvirt_base.LibvirtMigrationMixin):
    def setUp(self):
        super().setUp()
        # The answer to a rebuild that has already finished has no "progress".
        self.flags(response_validation='ignore', group='api')
        # A host counts as down only where a case says so, on busy machines too.
        self.flags(service_down_time=3600)
        self.useFixture(fixtures.MonkeyPatch(
            'nova.tests.fixtures.libvirt.Domain.migrateToURI3',
            self._migrate_stub))
        self.flavors = [self.flavor(vcpus=4), self.flavor(
            vcpus=4, hw_rng__allowed='true')]
        self.images = {
            'plain': base.IMAGE, 'other': self.image(hw_boot_menu='true'),
            'snapshot': self.image(base_image_ref=base.IMAGE)}
        self.unmodified = applications.load(paste_config.NOVA_APP)
        # What stands now stays: to walk through it again and again takes a
        # tenth of the time.
        gc.freeze()

    def ask(self, server, body):
        """Send an action of an administrator, and wait until it is over."""
        answer = self.act(server, body, admin=True)
        assert answer.status < 300, answer.text
        return self.settle(server)

    def put(self, server, overrides):
        return self.http('PUT', f'/servers/{server}', {
            'server': {base.PARAMETER: overrides}})

    def settle(self, server):
        """Wait until nothing is done to a server; return its status."""
        self.commits.until(
            lambda: (self._state(server) or (None, None))[1], None)
        return (self._state(server) or (None,))[0]

    def end(self, server):
        self.flags(reclaim_instance_interval=0)
        self.http('DELETE', f'/servers/{server}', admin=True)
        self.commits.until(lambda: self._state(server), None)

    def force_down(self, host, down):
        """Count a host as down, although it is not.

        The API would want nova-compute to start before it is up again.
        """
        service = objects.Service.get_by_compute_host(
            base.nova_context.get_admin_context(), host)
        service.forced_down = down
        service.save()


# --- servers ------------------------------------------------------------------

#: Name -> the overrides and the rest of the request that creates it.
KINDS = {
    'plain': ({}, {}),
    'with overrides': (BEFORE, {}),
    'from a snapshot': (BEFORE, {'image': 'snapshot'}),
    'volume-backed': (BEFORE, {'image': None}),
}


def booted(cloud, kind):
    overrides, request = KINDS[kind]
    image = request.get('image', 'plain')
    return cloud.boot(
        overrides, flavor=cloud.flavors[0], image=image and cloud.images[image],
        server={} if image else cloud.from_volume(cloud.volume()))


def without_a_default(cloud, server):
    """Have nova-compute's default missing, as an update leaves it."""
    overrides = cloud.show(server)[base.PARAMETER]
    for each in ({**overrides, **NETWORK}, overrides):
        assert cloud.put(server, each).status == 200


def resize(cloud, server):
    other, = {*cloud.flavors} - {cloud.instance(server).flavor.flavorid}
    return {'resize': {'flavorRef': other}}


def shelved(cloud, server, delay):
    cloud.flags(shelved_offload_time=delay)
    cloud.ask(server, {'shelve': None})
    for image in cloud.glance.images.values():
        if image['properties'].get('instance_uuid') == server:
            image['status'] = 'active'


def make_folder(server):
    """Make the folder that a guest of a real libvirt has."""
    os.makedirs(os.path.join(base.CONF.instances_path, server), exist_ok=True)


def rescued(cloud, server):
    make_folder(server)
    cloud.ask(server, {'rescue': {}})


def soft_deleted(cloud, server):
    cloud.flags(reclaim_instance_interval=3600)
    cloud.http('DELETE', f'/servers/{server}')
    cloud.settle(server)


#: State -> what is done to a server that is stopped, to have it.
STATES: dict[str, collections.abc.Callable[..., object]] = {
    'stopped': lambda cloud, server: None,
    'active': lambda cloud, server: cloud.ask(server, {'os-start': None}),
    'locked': lambda cloud, server: cloud.ask(
        server, {'lock': {'locked_reason': 'why'}}),
    'shelved': lambda cloud, server: shelved(cloud, server, -1),
    'offloaded': lambda cloud, server: shelved(cloud, server, 0),
    'resized': lambda cloud, server: cloud.ask(
        server, resize(cloud, server)),
    'rescued': rescued,
    'soft-deleted': soft_deleted,
    'on a host that is down': lambda cloud, server: cloud.force_down(
        cloud.instance(server).host, True),
    'without a default': without_a_default,
}


def prepared(cloud, kind, state, server):
    """Return a server in a state, with the overrides of its kind.

    :param server: one of that kind that runs, or None
    """
    server = server or booted(cloud, kind)
    shown = cloud.show(server)
    if shown['locked']:
        cloud.ask(server, {'unlock': None})
    cloud.ask(server, {'os-stop': None})
    # Only what is offloaded can lose the NUMA nodes that it was given there.
    if state == 'offloaded':
        STATES[state](cloud, server)
    overrides, _ = KINDS[kind]
    if shown[base.PARAMETER] != overrides:
        assert cloud.put(server, overrides).status == 200
    if state != 'offloaded':
        STATES[state](cloud, server)
    return server


# --- operations ---------------------------------------------------------------

class Operation(typing.NamedTuple):
    """What Nova does with a server.

    :ivar send: sends the request, and returns its status
    :ivar states: in which it is sent
    :ivar gives: the overrides that it replaces all others with
    """

    send: collections.abc.Callable[[Cloud, str], int]
    states: tuple[str, ...] = ('stopped', 'offloaded')
    gives: dict[str, str] | None = None


def action(body, **kwargs):
    return lambda cloud, server: cloud.act(
        server, body(cloud) if callable(body) else body,
        admin=True, **kwargs).status


def request(method, path, body=None):
    return lambda cloud, server: cloud.http(
        method, f'/servers/{server}{path}', body, admin=True).status


def rebuild_by_unmodified(cloud, server):
    return applications.request(
        'POST', f'/v2.1/servers/{server}/action',
        {'rebuild': {'imageRef': base.IMAGE}},
        headers={**applications.ADMIN,
                 'X-Auth-Project-Id': cloud.api.project_id,
                 **applications.version_header(cloud.COMPUTE, False)},
    ).get_response(cloud.unmodified).status_int


def live_migration(cloud, server):
    cloud.server = {'id': server}
    host = cloud.instance(server).host
    other, = {*cloud.HOSTS} - {host}
    cloud.src, cloud.dest = cloud.computes[host], cloud.computes[other]
    return cloud.act(server, {'os-migrateLive': {
        'host': None, 'block_migration': 'auto'}}, admin=True).status


def restart(cloud, server):
    cloud.restart_compute_service(cloud.instance(server).host)
    return 200


def attach(cloud, server):
    # To Nova's fake Cinder every ID is a volume.
    return cloud.http('POST', f'/servers/{server}/os-volume_attachments', {
        'volumeAttachment': {'volumeId': uuidutils.generate_uuid()}},
        admin=True).status


ONE = ('stopped',)
UNMODIFIED = "an unmodified nova-api's rebuild"
START = "nova-compute's start"
OPERATIONS = {
    'lock': Operation(action({'lock': {'locked_reason': 'why'}})),
    'unlock': Operation(action({'unlock': None}), ('locked',)),
    'shelve': Operation(action({'shelve': None}), ONE),
    'unshelve': Operation(
        action({'unshelve': None}), ('offloaded', 'shelved')),
    'offload': Operation(action({'shelveOffload': None}), ('shelved',)),
    'start': Operation(action({'os-start': None}), ONE),
    'stop': Operation(action({'os-stop': None}), ('active',)),
    'reboot': Operation(action({'reboot': {'type': 'HARD'}}), ONE),
    'rebuild': Operation(
        action({'rebuild': {'imageRef': base.IMAGE}}), ONE),
    'rebuild with overrides': Operation(action(lambda cloud: {'rebuild': {
        'imageRef': cloud.images['other'], base.PARAMETER: OTHER}}), ONE,
        OTHER),
    UNMODIFIED: Operation(rebuild_by_unmodified, ONE, {}),
    'resize': Operation(lambda cloud, server: cloud.act(
        server, resize(cloud, server), admin=True).status, ONE),
    'confirm': Operation(action({'confirmResize': None}), ('resized',)),
    'revert': Operation(action({'revertResize': None}), ('resized',)),
    'migrate': Operation(action({'migrate': None}), ONE),
    'live migrate': Operation(live_migration, ('active',)),
    'evacuate': Operation(
        action({'evacuate': {}}), ('on a host that is down',)),
    'rescue': Operation(lambda cloud, server: (
        make_folder(server), action({'rescue': {}})(cloud, server))[1], ONE),
    'unrescue': Operation(action({'unrescue': None}), ('rescued',)),
    'snapshot': Operation(action({'createImage': {'name': 'test'}})),
    'metadata': Operation(
        request('POST', '/metadata', {'metadata': {'name': 'value'}})),
    'tags': Operation(request('PUT', '/tags', {'tags': ['test']})),
    'soft delete': Operation(lambda cloud, server: (
        cloud.flags(reclaim_instance_interval=3600),
        request('DELETE', '')(cloud, server))[1]),
    'restore': Operation(action({'restore': None}), ('soft-deleted',)),
    'delete': Operation(lambda cloud, server: (
        cloud.flags(reclaim_instance_interval=0),
        request('DELETE', '')(cloud, server))[1]),
    'attach': Operation(attach, ONE),
    START: Operation(restart, ('without a default',)),
    'update': Operation(
        lambda cloud, server: cloud.put(server, OTHER).status, gives=OTHER),
}

#: Those after which a server may be on another host.
MOVES = {'shelve', 'unshelve', 'offload', 'resize', 'confirm', 'revert',
         'migrate', 'live migrate', 'evacuate'}

#: What cannot be done to a server from a volume: Nova rescues none (400) whose
#: image asks for no stable device rescue (nova/compute/api.py API.rescue), and
#: its fake Cinder makes no snapshots, and sends no event when it has written an
#: image to a volume, for which a rebuild waits
#: (ComputeManager._rebuild_volume_backed_instance).
NOT_FROM_A_VOLUME = {'rescue', 'unrescue', 'snapshot', 'rebuild',
                     'rebuild with overrides', UNMODIFIED}

CASES = [(operation, state, kind, outer)
         for operation, each in OPERATIONS.items() for state in each.states
         for kind in KINDS for outer in ('operation', 'update')
         if kind != 'volume-backed' or operation not in NOT_FROM_A_VOLUME]

#: What stores system metadata, and what builds a guest.
SHORT = [('lock', 'stopped', 'plain', 'operation'),
         ('start', 'stopped', 'with overrides', 'operation')]


# --- the proof ----------------------------------------------------------------

#: Status -> what brings a server closer to a new guest.
WAYS: dict[str, typing.Any] = {
    'SHUTOFF': {'os-start': None}, 'ACTIVE': {'reboot': {'type': 'HARD'}},
    'SHELVED': {'unshelve': None}, 'SHELVED_OFFLOADED': {'unshelve': None},
    'RESCUE': {'unrescue': None}, 'VERIFY_RESIZE': {'confirmResize': None},
    'SOFT_DELETED': {'restore': None},
}
BUILDS = {'os-start', 'reboot', 'unshelve'}


def assert_agrees(cloud, server, possible):
    """Assert that a server has one of some sets, now and once it is built."""
    def stored():
        shown = cloud.assert_changed(server, *possible)
        cloud.assert_disks_agree(server)
        cloud.assert_numa_agrees(server)
        return shown

    shown = stored()
    status = cloud.settle(server)
    done = None
    while done not in BUILDS:
        done = next(iter(WAYS[status]))
        status = cloud.ask(server, WAYS[status])
    assert status == 'ACTIVE'
    assert stored() == shown
    guest = cloud.guest(server)
    for name, (path, attribute) in DEVICES.items():
        if name in shown:
            assert guest.find(path).get(attribute) == shown[name]
    assert bool(guest.findall('cpu/numa/cell')) == ('hw_numa_nodes' in shown)


def meet(cloud, case, number, server=None):
    """Let an update and an operation meet, and assert what has become of them.

    :param number: where the outer one stops
    :param server: one that may be used
    :returns: the statuses of both, None if the outer one ends before; and the
        server, None if it is gone
    """
    name, state, kind, outer = case
    operation = OPERATIONS[name]
    server = prepared(cloud, kind, state, server)
    before, _ = KINDS[kind]
    after = {**AFTER, **(NUMA if state == 'offloaded' else {})}
    requests = {
        'update': lambda: cloud.put(server, after).status,
        'operation': lambda: operation.send(cloud, server)}
    inner, = {*requests} - {outer}
    stop = interleaving.Stop(number, requests[inner])
    with stop.listening():
        answers = {outer: requests[outer]()}
        with stop.quiet():
            cloud.settle(server)
            stop.end()
            status = cloud.settle(server)
    if name == 'evacuate':
        for host in cloud.HOSTS:
            cloud.force_down(host, False)
    if not stop.made:
        cloud.end(server)
        return None, None
    answers[inner] = stop.result
    updated = answers['update'] == 200
    accepted = answers['operation'] < 300
    assert updated or answers['update'] in (404, 409), answers
    assert accepted or answers['operation'] in (404, 409), answers
    if status is not None:
        possible = [after if updated else before]
        if accepted and operation.gives is not None:
            possible = [operation.gives, *possible[:updated]]
        if name == START and updated and (
                cloud.show(server)[base.PARAMETER] == before):
            answers['update'] = 'taken back'
            # Request spec and disks have it until a guest is built, or, of a
            # server without other overrides, until it is sent again.
            if before:
                cloud.ask(server, {'os-start': None})
                possible = [before]
            else:
                assert cloud.put(server, after).status == 200
        if accepted and name == UNMODIFIED:
            # Request spec and disks stay until overrides are given again.
            assert cloud.show(server)[base.PARAMETER] in possible
            cloud.ask(server, {'rebuild': {
                'imageRef': base.IMAGE, base.PARAMETER: OTHER_BUS}})
            possible = [OTHER_BUS]
        assert_agrees(cloud, server, possible)
        if name in MOVES or state == 'offloaded':
            # Only this frees everything that a server has left behind.
            cloud._run_periodics()
        if name in {'evacuate', 'attach'}:
            # Its former host still has a guest, and could not take it back;
            # a server does not have place for many volumes.
            cloud.end(server)
            status = None
    return (answers['operation'], answers['update']), status and server


@pytest.mark.parametrize(
    'case', CASES if figures.FULL else SHORT, ids=', '.join)
def test_an_update_is_whole_wherever_an_operation_meets_it(cloud, case):
    began = time.monotonic()
    name, _, kind, outer = case
    seen = collections.Counter()
    server = None
    for stops in itertools.count():
        answers, server = meet(cloud, case, stops, server)
        if not answers:
            break
        seen[answers] += 1
    assert stops
    if figures.FULL:
        figures.add('interleavings', {
            'stops': stops, 'seconds': round(time.monotonic() - began),
            f'servers, {kind}': 1, **{
                f'{name}, stopped for an update: {operation}, {update}'
                if outer == 'operation' else
                f'{name} while an update is stopped: {operation}, {update}':
                times for (operation, update), times in sorted(
                    seen.items(), key=str)}})
