"""Whatever happens to a server, four places keep saying the same about it.

The API, the instance's system metadata, the request spec and the XML that its
guest is built from, after every step of sequences that hypothesis generates:
created, changed, rebuilt, resized, migrated, shelved, rescued, locked, deleted
and restored, in any order, sometimes by two clients at once.
"""
from __future__ import annotations

import collections
import os
import typing

import hypothesis
from hypothesis import stateful
from hypothesis import strategies as st
from nova import objects
from nova.compute import api
import pytest

from nova_image_override import errors
from testing import figures
from testing.harness import base
from tests.functional import at_once
from tests.functional import life
from tests.functional import presets

SEQUENCES = int(os.environ.get('SEQUENCES', '1000'))
STEPS = 10

#: Where the guest's XML says what a property asks for, and how.
DEVICES: dict[str, tuple[str, str]] = {
    'hw_video_model': ('devices/video/model', 'type'),
    'hw_machine_type': ('os/type', 'machine'),
    'hw_disk_bus': ("devices/disk[@device='disk']/target", 'bus'),
}

#: What the overrides of a server that is on a host can be.
IN_PLACE = st.fixed_dictionaries({}, optional={
    'hw_video_model': st.sampled_from(['vga', 'qxl', 'cirrus']),
    'hw_machine_type': st.sampled_from(['pc-q35-2.10', 'pc-i440fx-2.11']),
    'hw_disk_bus': st.sampled_from(['scsi', 'sata', 'virtio']),
    'hw_vif_model': st.none(),
    'os_distro': st.sampled_from(['debian', 'fedora']),
})

NUMA = st.sampled_from([
    {}, {'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
         'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768'},
    {'hw_numa_nodes': '2'}])

PRESETS: dict[str | None, dict[str, str | None]] = {
    'screen': {'hw_video_model': 'cirrus', 'os_distro': 'debian'},
    'bus': {'hw_disk_bus': 'sata', 'hw_vif_model': None}}
PRESET = st.none() | st.sampled_from(sorted(PRESETS))

#: What is refused, whatever state the server is in.
WRONG = st.sampled_from([
    {'hw_nothing': 'x'}, {'hw_disk_bus': 'y'},
    {'hw_tpm_model': 'tpm-tis'}])


class Asked(typing.NamedTuple):
    """What a request asks for: a preset, and properties of its own."""

    preset: str | None
    own: dict[str, str | None]

    @property
    def body(self) -> dict[str, typing.Any]:
        return {base.PARAMETER: self.own, **(
            {errors.PRESET: self.preset} if self.preset else {})}

    @property
    def overrides(self) -> dict[str, str | None]:
        return {**PRESETS.get(self.preset, {}), **self.own}


ACTIVE, STOPPED, OFFLOADED = 'ACTIVE', 'SHUTOFF', 'SHELVED_OFFLOADED'

#: Actions after which a guest is as it was before.
UNBUILDING = {'lock', 'unlock', 'shelve'}


def numa_of(overrides: dict[str, str | None]) -> dict[str, str | None]:
    return {name: value for name, value in overrides.items()
            if name.startswith('hw_numa_')}


class Server(stateful.RuleBasedStateMachine):
    """One server, and what is known about it.

    :ivar overrides: those in force
    :ivar preset: the one that they came with
    :ivar state: its status, one of three
    :ivar is_unbuilt: whether its guest is one of before an update
    """

    case: typing.ClassVar[typing.Any]
    counted: typing.ClassVar[collections.Counter[str]]

    @stateful.initialize(
        preset=PRESET, overrides=IN_PLACE, numa=NUMA,
        from_volume=st.booleans())
    def create(self, preset: typing.Any, overrides: typing.Any,
               numa: typing.Any, from_volume: bool) -> None:
        asked = Asked(preset, {**overrides, **numa})
        volume = self.case.from_volume(self.case.volume(
            hw_vif_model='e1000')) if from_volume else {}
        self.from_volume = from_volume
        self.server = self.case.a_server(
            image=None if from_volume else self.case.image_ids[0],
            server={**volume, **asked.body})
        self.has(asked)
        self.state, self.is_unbuilt = ACTIVE, False

    def has(self, asked: Asked) -> None:
        self.overrides, self.preset = asked.overrides, asked.preset

    def update(self, asked: Asked) -> typing.Any:
        return self.case.http('PUT', f'/servers/{self.server}', {
            'server': asked.body})

    def does(self, action: typing.Any, status: str, **kwargs: typing.Any,
             ) -> None:
        self.case.do(self.server, action, status, **kwargs)
        name = action if isinstance(action, str) else next(iter(action))
        self.counted[name] += 1
        self.is_unbuilt &= name in UNBUILDING

    def is_refused(self, action: typing.Any, **kwargs: typing.Any) -> None:
        """Ask for what needs the guest as it is stored."""
        answer = self.case.act(self.server, action, **kwargs)
        assert answer.status == 409, answer.text
        self.counted['refused until it is started'] += 1

    def is_at(self, *states: str) -> bool:
        return getattr(self, 'state', None) in states

    # --- what changes overrides ---------------------------------------------

    @stateful.precondition(lambda self: self.is_at(STOPPED, OFFLOADED))
    @stateful.rule(preset=PRESET, overrides=IN_PLACE, numa=NUMA)
    def change(self, preset: typing.Any, overrides: typing.Any,
               numa: typing.Any) -> None:
        asked = Asked(preset, {**overrides, **numa})
        answer = self.update(asked)
        if self.state == STOPPED and numa != numa_of(self.overrides):
            assert answer.status == 409, answer.text
            self.counted['change refused'] += 1
            return
        assert answer.status == 200, answer.text
        self.has(asked)
        self.is_unbuilt = True
        self.counted['change to a preset' if preset else 'change'] += 1

    @stateful.precondition(
        lambda self: self.is_at(ACTIVE, STOPPED) and not self.from_volume)
    @stateful.rule(
        preset=PRESET, overrides=st.none() | IN_PLACE, numa=NUMA,
        image=st.integers(0, 1))
    def rebuild(self, preset: typing.Any, overrides: typing.Any,
                numa: typing.Any, image: int) -> None:
        asked = None if overrides is None else Asked(
            preset, {**overrides, **numa})
        answer = self.case.act(self.server, {'rebuild': {
            'imageRef': self.case.image_ids[image],
            **(asked.body if asked else {})}})
        if asked and numa_of(asked.overrides) != numa_of(self.overrides):
            assert answer.status == 400, answer.text
            self.counted['rebuild refused'] += 1
            return
        assert answer.status == 202, answer.text
        self.case.wait(self.server, self.state)
        self.is_unbuilt = False
        if asked:
            self.has(asked)
        self.counted['rebuild'] += 1

    @stateful.rule(wrong=WRONG, preset=PRESET, overrides=IN_PLACE)
    def ask_for_what_is_wrong(
            self, wrong: typing.Any, preset: typing.Any,
            overrides: typing.Any) -> None:
        asked = Asked(preset, {**overrides, **wrong})
        answer = self.update(asked) \
            if self.state != ACTIVE else self.case.act(
                self.server, {'rebuild': {
                    'imageRef': self.case.image_ids[0], **asked.body}})
        assert answer.status in (400, 409), answer.text
        self.counted['refused'] += 1

    @stateful.precondition(lambda self: self.is_at(STOPPED, OFFLOADED))
    @stateful.rule(
        first=st.none() | IN_PLACE, preset=PRESET, second=IN_PLACE)
    def two_change_it_at_once(
            self, first: typing.Any, preset: typing.Any, second: typing.Any,
    ) -> None:
        """An update comes when a rebuild (none) or an update has been checked.
        """
        if first is None and (self.state == OFFLOADED or self.from_volume):
            first = {}
        numa = numa_of(self.overrides)
        wanted = Asked(None, {**(first or {}), **numa})
        late = Asked(preset, {**second, **numa})
        seen = []
        if first is None:
            # Where it takes its task state soon after.
            with at_once.meanwhile(
                    api.API, '_checks_for_create_and_rebuild',
                    lambda: seen.append(self.update(late).status)):
                answer = self.case.act(self.server, {'rebuild': {
                    'imageRef': self.case.image_ids[0]}})
            self.case.wait(self.server, self.state)
        else:
            with at_once.meanwhile(
                    api.API, '_record_action_start',
                    lambda: seen.append(self.update(late).status)):
                answer = self.update(wanted)
        assert seen == [200]
        self.is_unbuilt = first is not None or answer.status == 409
        if answer.status == 409:
            self.has(late)
        else:
            # The other has changed nothing.
            assert answer.status in (200, 202), answer.text
            assert (late.overrides, late.preset) == (
                self.overrides, self.preset)
            if first is not None:
                self.has(wanted)
        self.counted[f'two at once: {answer.status}'] += 1

    # --- what does not ------------------------------------------------------

    @stateful.rule(overrides=IN_PLACE)
    def lock_and_unlock(self, overrides: typing.Any) -> None:
        for action, expected in (
                ({'lock': {'locked_reason': 'why'}}, 202),
                ({'rebuild': {'imageRef': self.case.image_ids[0],
                              base.PARAMETER: overrides}}, 409)):
            answer = self.case.act(self.server, action)
            assert answer.status == expected, answer.text
        answer = self.case.http('PUT', f'/servers/{self.server}', {
            'server': {base.PARAMETER: overrides}})
        assert answer.status == 409, answer.text
        self.does({'unlock': None}, self.state)

    @stateful.precondition(lambda self: self.is_at(ACTIVE, STOPPED))
    @stateful.rule()
    def delete_and_restore(self) -> None:
        self.case.flags(reclaim_instance_interval=3600)
        answer = self.case.http('DELETE', f'/servers/{self.server}')
        assert answer.status == 204, answer.text
        self.case.wait(self.server, 'SOFT_DELETED')
        self.does({'restore': None}, ACTIVE)
        self.case.flags(reclaim_instance_interval=0)
        self.state = ACTIVE

    @stateful.precondition(lambda self: self.is_at(ACTIVE))
    @stateful.rule()
    def stop(self) -> None:
        self.does({'os-stop': None}, STOPPED)
        self.state = STOPPED

    @stateful.precondition(lambda self: self.is_at(STOPPED))
    @stateful.rule()
    def start(self) -> None:
        self.does({'os-start': None}, ACTIVE)
        self.state = ACTIVE

    @stateful.precondition(lambda self: self.is_at(ACTIVE, STOPPED))
    @stateful.rule()
    def shelve(self) -> None:
        self.does({'shelve': None}, OFFLOADED)
        for image in self.case.glance.images.values():
            if image['properties'].get('instance_uuid') == self.server:
                image['status'] = 'active'
        self.state = OFFLOADED

    @stateful.precondition(lambda self: self.is_at(OFFLOADED))
    @stateful.rule()
    def unshelve(self) -> None:
        self.does({'unshelve': None}, ACTIVE)
        self.state = ACTIVE

    @stateful.precondition(lambda self: self.is_at(ACTIVE))
    @stateful.rule()
    def reboot(self) -> None:
        self.does({'reboot': {'type': 'HARD'}}, ACTIVE)

    @stateful.precondition(
        lambda self: self.is_at(ACTIVE, STOPPED) and not self.from_volume)
    @stateful.rule()
    def rescue(self) -> None:
        if self.is_unbuilt and self.overrides:
            self.is_refused({'rescue': {}})
            return
        folder = os.path.join(base.CONF.instances_path, self.server)
        os.makedirs(folder, exist_ok=True)
        self.does({'rescue': {}}, 'RESCUE', expected=200)
        self.does({'unrescue': None}, ACTIVE)
        self.state = ACTIVE

    @stateful.precondition(lambda self: self.is_at(ACTIVE, STOPPED))
    @stateful.rule(confirmed=st.booleans(), to=st.integers(0, 1))
    def resize(self, confirmed: bool, to: int) -> None:
        flavor = self.case.flavors[to]
        if self.case.instance(self.server).flavor.flavorid == flavor:
            flavor = self.case.flavors[1 - to]
        self.moves(confirmed, {'resize': {'flavorRef': flavor}})

    @stateful.precondition(lambda self: self.is_at(ACTIVE, STOPPED))
    @stateful.rule(confirmed=st.booleans())
    def migrate(self, confirmed: bool) -> None:
        self.moves(confirmed, {'migrate': None}, admin=True)

    def moves(self, confirmed: bool, action: typing.Any, **kwargs: typing.Any,
              ) -> None:
        if self.is_unbuilt and self.overrides and self.from_volume:
            self.is_refused(action, **kwargs)
            return
        self.does(action, 'VERIFY_RESIZE', **kwargs)
        self.does(*(({'confirmResize': None}, self.state) if confirmed
                    else ({'revertResize': None}, self.state)),
                  expected=204 if confirmed else 202)

    # --- what they say ------------------------------------------------------

    @stateful.invariant()
    def four_places_agree(self) -> None:
        if not hasattr(self, 'server'):
            return
        case, overrides = self.case, self.overrides
        shown = case.http('GET', f'/servers/{self.server}').body['server']
        assert shown[base.PARAMETER] == overrides
        preset = shown[errors.PRESET]
        assert (preset and preset['name']) == self.preset
        assert shown['status'] == self.state
        stored = case.system_metadata(self.server)
        assert {name: stored[name] for name in overrides
                if overrides[name] is not None} == {
                    name: value for name, value in overrides.items()
                    if value is not None}
        # While it is offloaded, a row says that overrides were dropped.
        assert {*case.record(self.server)} - {''} == {*overrides}
        self.agrees(case.request_spec(self.server), objects.ImageMetaProps
                    .from_dict(dict(stored)))
        if self.state == ACTIVE:
            self.guest_agrees()

    def agrees(self, spec: dict[str, typing.Any], expected: typing.Any,
               ) -> None:
        """Compare the request spec; nova-compute's defaults are not in it."""
        for name in {*expected.fields}:
            if name in self.overrides and self.overrides[name] is None:
                assert name not in spec
            elif name in spec or name in self.overrides:
                assert expected.obj_attr_is_set(name), name
                assert spec.get(name) == getattr(expected, name), name
        assert 'hw_numa_nodes' in spec or not (
            expected.obj_attr_is_set('hw_numa_nodes'))

    def guest_agrees(self) -> None:
        guest = self.case.guest(self.server)
        for name, (path, attribute) in DEVICES.items():
            if self.overrides.get(name) is not None:
                assert guest.find(path).get(attribute) == self.overrides[name]
        cells = guest.findall('cpu/numa/cell')
        assert len(cells) == int(self.overrides.get('hw_numa_nodes') or 0)
        topology = self.case.instance(self.server).numa_topology
        assert len(topology.cells if topology else []) == len(cells)

    def teardown(self) -> None:
        if hasattr(self, 'server'):
            self.case.end(self.server)


class Cloud(life.Cloud):
    PRESETS = presets.written(PRESETS)

    def setUp(self):
        super().setUp()
        self.flags(shelved_offload_time=0)
        # The answer to a rebuild that has already finished has no "progress".
        self.flags(response_validation='warn', group='api')
        self.image_ids = [
            self.image(hw_vif_model='e1000', hw_video_model='vmvga')
            for _ in range(2)]
        self.flavors = [self.flavor(vcpus=4), self.flavor(
            vcpus=4, hw_rng__allowed='true')]

    def a_server(self, overrides=None, **kwargs):
        return self.boot(overrides, flavor=self.flavors[0], **kwargs)

    def end(self, server):
        self.delete(server)
        # Only this frees everything of a server that was moved or shelved, and
        # the next one is scheduled by it (ResourceTracker.update_usage).
        self._run_periodics()


@pytest.mark.skipif(not figures.FULL, reason='make proof-sequences')
class TestSequences:
    def test_four_places_agree_after_every_step(self, cloud):
        counted = collections.Counter()

        class Machine(Server):
            pass

        Machine.case, Machine.counted = cloud, counted
        stateful.run_state_machine_as_test(
            Machine, settings=hypothesis.settings(
                max_examples=SEQUENCES, stateful_step_count=STEPS,
                deadline=None, database=None, print_blob=True,
                phases=[hypothesis.Phase.generate],
                suppress_health_check=list(hypothesis.HealthCheck)))
        figures.add('sequences', {
            'sequences': SEQUENCES, **dict(sorted(counted.items()))})
