"""Two requests at once, each to a nova-api on another node of a Galera cluster.

Where both have stored something of one server, a transaction fails when it is
committed. One request wins or both agree, and neither is a 500.
"""

import pytest

from testing.deployment import flavors
from testing.deployment import galera
from testing.deployment import nova
from tests.integration import pairs
from tests.integration import whole

#: How many of each kind, on a host without guests.
PAIRS = 15


@pytest.fixture(scope='module')
def cluster(deployment, fake_zone, whole_image):
    flavors.furnish(deployment.operator.compute, pairs.FLAVORS)
    result = galera.Cluster(deployment.state)
    before = deployment.mariadb.query(
        "SELECT database_connection FROM nova_api.cell_mappings "
        "WHERE name = 'cell1'").strip()

    def move(url):
        result.nodes[0].execute(
            f"UPDATE nova_api.cell_mappings SET database_connection = '{url}' "  # noqa: S608
            "WHERE name = 'cell1'")

    result.up()
    move(galera.TEMPLATE)
    deployment.wait_for_hosts()
    yield result
    move(before)
    result.down()
    deployment.mariadb.up()
    deployment.wait_for_hosts()


@pytest.fixture(scope='module')
def apis(deployment, cluster):
    """Two nova-api, each on a node of its own."""
    result = []
    for number, node in enumerate(cluster.nodes[:2], 1):
        api = nova.NovaAPI(deployment.state, f'nova-api-{number}')
        api.WORKERS = 1
        api.server = node.name
        api.restart()
        result.append(api)
    yield [whole.Client(deployment, service=api.name) for api in result]
    for api in result:
        api.kill()


@pytest.fixture
def close(monkeypatch):
    """Let the two be less far from each other: a commit does not take long."""
    monkeypatch.setattr(pairs, 'JITTER', 0.05)


@pytest.mark.parametrize('kind', pairs.KINDS)
def test_of_two_at_once_one_wins_or_both_agree(
        deployment, everywhere, cluster, apis, whole_image, cleared, close,
        kind):
    before = cluster.conflicts()
    answers = pairs.meet(
        deployment, everywhere, apis, whole_image, kind, 'fake', PAIRS)
    print(kind, dict(answers), cluster.conflicts() - before, flush=True)


def test_some_of_them_were_in_conflict(cluster):
    assert cluster.conflicts()
