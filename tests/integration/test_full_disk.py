"""The database's disk is full: what cannot be stored leaves all as it was."""

import pytest

from testing.deployment import full_disk
from testing.deployment import processes

#: Tables into which a change puts rows, and columns of text. (A request spec is
#: changed in its place, for which there is room.)
TABLES = {'instance_system_metadata': '`key`, value',
          'instance_actions': 'action, message'}

#: What is put into a table, for any server: an index, too, has a page that is
#: full for one and not for the other.
JUNK = ("INSERT INTO nova_cell1.TABLE (instance_uuid, COLUMNS, deleted) "
        "SELECT uuid, 'junk', REPEAT('x', SIZE), 1 "
        "FROM nova_cell1.instances ORDER BY RAND() LIMIT 1")


@pytest.fixture
def database(deployment, fake_zone, whole_image):
    """The cloud's database, on a disk that can be filled."""
    deployment.mariadb.stop()
    small = full_disk.MariaDB(deployment.state)
    small.up()
    deployment.wait_for_hosts()
    yield small
    small.kill()
    deployment.mariadb.up()
    deployment.wait_for_hosts()

    def has_reported():
        (service,) = deployment.operator.compute.services(
            binary='nova-compute', host=fake_zone.host)
        return deployment.mariadb.has_reported(service.updated_at)

    # It could not for nearly a minute, after which Nova takes it for dead.
    processes.wait_for(has_reported, fake_zone.host)


@pytest.mark.parametrize('table', TABLES)
def test_what_cannot_be_stored_changes_nothing(database, requests, table):
    # What is undone for ours leaves room for the unmodified nova-api's.
    requests.send(database.full(
        JUNK.replace('TABLE', table).replace('COLUMNS', TABLES[table])),
        at_once=1)
    assert any(status >= 500 for status, _ in requests.answers.values())
    requests.check()
