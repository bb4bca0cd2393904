"""RabbitMQ is gone, killed or still, for longer than services wait.

Whoever sends something to it waits until it is back, as Nova does, and what was
sent may be lost, as it is with Nova. Nothing is torn.
"""

import contextlib

import pytest

from nova_image_override.api.change import store
from testing.deployment import nova
from tests.integration import outage

#: Seconds for which it is gone: longer than an update may take, too.
GONE = max(nova.RPC_TIMEOUT, store.LEASE / 2) + 10


@contextlib.contextmanager
def killed(broker):
    broker.kill()
    try:
        yield
    finally:
        broker.start()


@pytest.mark.parametrize('fault', [killed, outage.still])
def test_nothing_is_torn_and_nothing_waits_longer_than_it_is_gone(
        deployment, requests, fault):
    requests.send(fault(deployment.rabbitmq), GONE)
    deployment.wait_for_hosts()
    requests.check()
