"""What two runs of Tempest must have done before they are compared.

Needs no cloud: what a run leaves behind stands in for it.
"""

import pytest

from testing.deployment import cloud
from testing.deployment import state as state_module
from tests.integration.tempest import __main__ as tempest
from tests.integration.tempest import run

PASSED = {'boots': 'success', 'stops': 'success'}


@pytest.fixture
def deployment(tmp_path, monkeypatch):
    """A cloud that is not running; its plain nova-api need not be started."""
    result = cloud.Cloud(state_module.State(tmp_path / 'state'))
    result.ended = []
    monkeypatch.setattr(result.plain_api, 'restart', lambda: None)
    monkeypatch.setattr(
        result.plain_api, 'kill', lambda: result.ended.append('plain'))
    return result


@pytest.fixture
def results(monkeypatch):
    """Set the results of Tempest's runs: the plain nova-api's, the other's."""
    def set_to(plain, extended):
        monkeypatch.setattr(
            run, 'tempest', lambda deployment, api, name, tests: (
            plain if api is deployment.plain_api else extended))

    return set_to


@pytest.fixture
def log(deployment):
    """Write Tempest's log of a run that called these services."""
    def write(*services):
        return deployment.state.write(''.join(
            f'Request (Test:test): 200 GET {state_module.url(service)}/v2.1\n'
            for service in ('keystone', *services)), 'tempest.log')

    return write


def test_a_run_that_asked_its_own_nova_api_is_taken(deployment, log):
    run.check_asked(log('nova-api'), deployment.nova_api)
    run.check_asked(log('nova-api-plain'), deployment.plain_api)


@pytest.mark.parametrize('asked', [
    [], ['nova-api'], ['nova-api', 'nova-api-plain']])
def test_a_run_that_asked_another_nova_api_or_none_is_not(
        deployment, log, asked):
    with pytest.raises(run.Strange, match='not nova-api-plain'):
        run.check_asked(log(*asked), deployment.plain_api)


def test_nothing_is_lost_where_both_do_the_same(deployment, results, capsys):
    results({**PASSED, 'has a port': 'failure'},
            {**PASSED, 'has a port': 'failure'})
    assert tempest.servers(deployment)
    said = capsys.readouterr().out
    assert '0 tests pass on the unmodified nova-api only' in said
    assert 'fails on the unmodified one too: has a port' in said


def test_what_is_lost_is_named(deployment, results, capsys):
    results(PASSED, {'boots': 'success', 'stops': 'failure'})
    assert not tempest.servers(deployment)
    assert 'UNMODIFIED ONE ONLY: stops\n' in capsys.readouterr().out


def test_the_plain_nova_api_ends_whatever_happens(deployment, monkeypatch):
    def strange(*_):
        raise run.Strange('no test ran')

    monkeypatch.setattr(run, 'tempest', strange)
    with pytest.raises(run.Strange):
        tempest.servers(deployment)
    assert deployment.ended == ['plain']


def test_a_failing_test_of_the_plugin_is_named(deployment, results, capsys):
    results({}, {'boots': 'success', 'stops': 'failure'})
    assert not tempest.plugin(deployment)
    assert 'FAILS: stops\n' in capsys.readouterr().out
    results({}, {'boots': 'success', 'stops': 'skip'})
    assert tempest.plugin(deployment)
