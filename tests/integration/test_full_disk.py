"""The database's disk is full: what cannot be stored leaves all as it was."""

import pytest

from testing.deployment import full_disk

#: What is put into a table into which a change puts rows. (A request spec is
#: changed in its place, for which there is room.)
TABLES = {
    'instance_system_metadata':
        "INSERT INTO nova_cell1.instance_system_metadata "
        "(instance_uuid, `key`, value, deleted) SELECT "
        "(SELECT MAX(uuid) FROM nova_cell1.instances), 'junk', "
        "REPEAT('x', SIZE), 1",
    'instance_actions':
        "INSERT INTO nova_cell1.instance_actions "
        "(instance_uuid, action, message, deleted) SELECT "
        "(SELECT MAX(uuid) FROM nova_cell1.instances), 'junk', "
        "REPEAT('x', SIZE), 1",
}


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


@pytest.mark.parametrize('table', TABLES)
def test_what_cannot_be_stored_changes_nothing(database, requests, table):
    requests.send(database.full(TABLES[table]))
    assert any(status >= 500 for status, _ in requests.answers.values())
    requests.check()
