"""Services that are there and do not answer: requests wait, or are refused.

Nothing is torn, and nothing takes longer than Nova's own services wait.
"""

import concurrent.futures
import time

import pytest

from testing.deployment import nova
from tests.integration import outage
from tests.integration import whole

#: For a property that the scheduler has to agree to.
WANTED = {**whole.ONE, 'hw_machine_type': 'q35'}

#: Seconds beyond what services wait for each other.
SLACK = 15

#: Seconds in which what waits for a service that does nothing is not answered.
STILL = 5


@pytest.fixture
def server(client, server):
    """One that is stopped."""
    client.do(server, 'os-stop', 'SHUTOFF')
    return server


def check(everywhere, client, server, overrides):
    assert everywhere.agree(
        client.show(server), is_built=False) == overrides


def refused(answer, began):
    assert answer.status_code == 409
    fault, = answer.json().values()
    assert {said['code'] for said in fault[whole.PARAMETER].values()} == {
        'scheduler_unavailable'}
    assert time.monotonic() - began < nova.RPC_TIMEOUT + SLACK


def test_a_change_that_no_scheduler_answers_is_refused_and_changes_nothing(
        deployment, client, everywhere, whole_image, server):
    changes = (lambda: client.update(server, WANTED),
               lambda: client.rebuild(server, whole_image, WANTED))
    for change in changes:
        began = time.monotonic()
        with outage.still(deployment.scheduler):
            answer = change()
        refused(answer, began)
        check(everywhere, client, server, whole.ONE)
    client.update(server, WANTED, expected=200)
    check(everywhere, client, server, WANTED)
    client.do(server, 'os-start', 'ACTIVE')


@pytest.mark.parametrize('name', ['glance', 'mariadb', 'placement', 'rabbitmq'])
def test_a_change_waits_for_what_it_needs_of_others_and_is_whole(
        deployment, client, everywhere, whole_image, server, name):
    for change in (
            lambda: client.update(server, WANTED),
            lambda: client.rebuild(server, whole_image, whole.OTHER)):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            with outage.still(getattr(deployment, name)):
                answer = pool.submit(change)
                concurrent.futures.wait([answer], STILL)
            assert answer.result().status_code in (200, 202)
        client.settled(server, 'SHUTOFF')
    check(everywhere, client, server, whole.OTHER)


def test_a_check_that_waits_for_glance_answers_what_a_create_would_get(
        deployment, client, whole_image, small):
    body = whole.body(whole_image, small, image_props_override={
        'hw_vif_multiqueue_enabled': 'true'})
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with outage.still(deployment.glance):
            answer = pool.submit(
                client.send, 'POST', '/../image-props-override/check', body)
            assert not concurrent.futures.wait([answer], STILL).done
        assert answer.result().status_code == 400
    assert client.send('POST', '', body).status_code == 400
