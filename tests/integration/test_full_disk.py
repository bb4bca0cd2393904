"""The database's disk is full: what cannot be stored leaves all as it was."""

import pytest

from testing.deployment import full_disk

#: What is put into a table into which a change puts rows, for any server: an
#: index, too, has a page that is full for one and not for the other. (A request
#: spec is changed in its place, for which there is room.)
TABLES = {
    table: f"INSERT INTO nova_cell1.{table} (instance_uuid, {columns}, "
           "deleted) SELECT uuid, 'junk', REPEAT('x', SIZE), 1 "
           "FROM nova_cell1.instances ORDER BY RAND() LIMIT 1"
    for table, columns in (
        ('instance_system_metadata', '`key`, value'),
        ('instance_actions', 'action, message'))}


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
