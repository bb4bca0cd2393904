"""Updates of stacks that Heat gives up while it changes a server."""

import threading

from nova.compute import manager
from nova.virt.libvirt import driver
import pytest

from nova_image_override import errors
from testing.site import cloud as cloud_module
from tests.functional import presets
from tests.heat.real import created
from tests.heat.real import failed
from tests.heat.real import in_force
from tests.heat.real import status
from tests.heat.real import STOP
from tests.heat.real import updated

BEFORE, AFTER = {'hw_video_model': 'vga'}, {'hw_video_model': 'virtio'}
WITH_PRESET = {errors.PRESET: 'vga', **STOP}


class Cloud(presets.Cloud, cloud_module.Cloud):
    OPTIONS = cloud_module.OPTIONS


@pytest.fixture(scope='module')
def reached(tmp_path_factory):
    """A file that is there from when a server waits to stop, or to start."""
    return tmp_path_factory.mktemp('held') / 'reached'


@pytest.fixture(scope='module')
def events(reached):
    """Let servers stop, and start, when they are told: method -> Event.

    In threads, because the harness makes calls of casts; for all tests,
    because Nova's RPC server looks a method up once.
    """
    told = {name: threading.Event()
            for name in ('stop_instance', 'start_instance')}

    def held_back(name, event):
        then = getattr(manager.ComputeManager, name)

        def wait(*args, **kwargs):
            if not event.is_set():
                reached.touch()
            event.wait(60)
            then(*args, **kwargs)

        return lambda *args, **kwargs: threading.Thread(
            target=wait, args=args, kwargs=kwargs).start()

    with pytest.MonkeyPatch.context() as patch:
        for name, event in told.items():
            patch.setattr(
                manager.ComputeManager, name, held_back(name, event))
        yield told


@pytest.fixture
def held(events, reached):
    reached.unlink(missing_ok=True)
    for event in events.values():
        event.set()
    yield events
    for event in events.values():
        event.set()


@pytest.fixture
def server(held, stack, template):
    return created(stack('create', template(BEFORE, **STOP)))


@pytest.fixture
def given_up(reached, stack):
    """Return a function for an update that times out while a server waits."""
    def update(template):
        assert 'imed out' in failed(
            stack('update', template, until=str(reached)))
    return update


def shown(cloud, server):
    return status(cloud, server), in_force(cloud, server)


@pytest.mark.parametrize('overrides', [BEFORE, AFTER])
def test_a_server_that_stops_too_late_runs_after_the_next_update(
        cloud, given_up, held, server, stack, template, overrides):
    held['stop_instance'].clear()
    given_up(template(AFTER, **STOP))
    held['stop_instance'].set()
    cloud.wait(server, 'SHUTOFF')
    assert in_force(cloud, server) == BEFORE
    updated(stack, server, template(overrides, **STOP))
    assert shown(cloud, server) == ('ACTIVE', overrides)


def test_the_next_update_waits_for_a_server_that_is_still_stopping(
        cloud, given_up, held, server, stack, template):
    held['stop_instance'].clear()
    given_up(template(AFTER, **STOP))
    threading.Timer(2, held['stop_instance'].set).start()
    updated(stack, server, template(BEFORE, **STOP))
    assert held['stop_instance'].is_set()
    assert shown(cloud, server) == ('ACTIVE', BEFORE)


def test_what_was_changed_before_is_taken_back_with_the_template(
        cloud, given_up, held, server, stack, template):
    held['start_instance'].clear()
    given_up(template(AFTER, **STOP))
    assert shown(cloud, server) == ('SHUTOFF', AFTER)
    held['start_instance'].set()
    updated(stack, server, template(BEFORE, **STOP))
    assert shown(cloud, server) == ('ACTIVE', BEFORE)


# --- refusals ---------------------------------------------------------------

def test_who_stops_the_server_after_a_refusal_finds_it_stopped(
        cloud, server, stack, template):
    answer = stack('update', template({'hw_numa_nodes': 2}, **STOP))
    assert 'needs_claim' in answer['reason']
    cloud.wait(server)
    cloud.request('POST', f'/servers/{server}/action', {'os-stop': None})
    cloud.wait(server, 'SHUTOFF')
    updated(stack, server, template(AFTER, **STOP))
    assert shown(cloud, server) == ('SHUTOFF', AFTER)


@pytest.fixture
def refused_without_its_preset(cloud, stack, template):
    """Return a function that asks for a change once the preset is retired."""
    def ask():
        cloud.rewrite('menu: {description: x, properties: {hw_pmu: true}}')
        assert 'offers you no preset vga' in failed(
            stack('update', template(AFTER, **WITH_PRESET)))

    yield ask
    cloud.rewrite(presets.PRESETS)


def test_a_server_that_was_left_stopped_runs_though_its_preset_is_retired(
        cloud, given_up, held, stack, template, refused_without_its_preset):
    server = created(stack('create', template(BEFORE, **WITH_PRESET)))
    held['stop_instance'].clear()
    given_up(template(AFTER, **WITH_PRESET))
    held['stop_instance'].set()
    cloud.wait(server, 'SHUTOFF')
    refused_without_its_preset()
    cloud.wait(server)
    assert shown(cloud, server) == ('ACTIVE', presets.VGA)


def test_one_that_its_user_has_stopped_stays_off_if_the_preset_is_retired(
        cloud, held, stack, template, refused_without_its_preset):
    server = created(stack('create', template(BEFORE, **WITH_PRESET)))
    cloud.request('POST', f'/servers/{server}/action', {'os-stop': None})
    cloud.wait(server, 'SHUTOFF')
    refused_without_its_preset()
    assert shown(cloud, server) == ('SHUTOFF', presets.VGA)


def test_a_server_that_does_not_stop_is_not_changed(
        cloud, held, monkeypatch, server, stack, template):
    def power_off(*args, **kwargs):
        raise RuntimeError('does not stop')
    monkeypatch.setattr(driver.LibvirtDriver, 'power_off', power_off)
    failed(stack('update', template(AFTER, **STOP)))
    assert shown(cloud, server)[1] == BEFORE


def test_a_server_that_does_not_start_fails_the_update(
        cloud, held, monkeypatch, server, stack, template):
    start = driver.LibvirtDriver.power_on

    def power_on(*args, **kwargs):
        raise RuntimeError('does not start')
    monkeypatch.setattr(driver.LibvirtDriver, 'power_on', power_on)
    assert 'SHUTOFF' in failed(stack('update', template(AFTER, **STOP)))
    monkeypatch.setattr(driver.LibvirtDriver, 'power_on', start)
    updated(stack, server, template(BEFORE, **STOP))
    assert in_force(cloud, server) == BEFORE
