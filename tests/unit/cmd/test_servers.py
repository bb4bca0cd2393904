"""``servers`` without a database; with one:
tests/functional/test_servers_command.py.
"""

import json

from nova import objects
import pytest
import yaml

from nova_image_override import errors
from nova_image_override import policies
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd import list_servers
from tests.unit.cmd.deployed import server

BUS, PMU, MEM = 'hw_disk_bus', 'hw_pmu', 'hw_numa_mem.1'


@pytest.fixture
def listed(run, monkeypatch):
    """Run the command; return the status and columns of what it prints."""
    objects.register_all()
    found = [
        ('cell1', server('a', hw_disk_bus='scsi', hw_pmu='true')),
        ('cell1', server('b', hw_disk_bus='ide', own={BUS: 'virtio'})),
        ('cell2', server('c', 'p2', **{MEM: '1', 'hw_boot_menu': None})),
        ('cell2', server('d', 'p2', hw_from_an_older_nova='x'))]
    asked = []

    def read(*arguments):
        asked.append(arguments)
        yield from found

    monkeypatch.setattr(list_servers, 'overridden', read)

    def listed(*arguments, columns=('Server', 'Property', 'Value')):
        status, rows = run.rows('servers', *arguments)
        return status, [tuple(row[each] for each in columns) for row in rows]

    listed.asked = asked
    listed.deployment = run
    listed.found = found
    return listed


def test_every_override_has_a_row(listed):
    assert listed() == (0, [
        ('a', BUS, 'scsi'), ('a', PMU, 'true'), ('b', BUS, 'ide'),
        ('c', 'hw_boot_menu', None), ('c', MEM, '1'),
        ('d', 'hw_from_an_older_nova', 'x')])
    assert listed(columns=('Cell', 'Project'))[1][-1] == ('cell2', 'p2')
    assert listed.asked[0] == (None, None, None, None, None, [])


def test_project_and_server_are_asked_of_the_databases(listed):
    listed('--server-project', 'p2', '--server', 'b', '--preset', 'x',
           '--marker', 'a', '--cell', 'cell1')
    assert listed.asked == [('p2', 'b', 'x', 'a', 'cell1', [])]


def test_the_image_s_own_value_is_beside_the_one_in_force(listed):
    _, found = listed(columns=('Property', 'Image value', 'Value'))
    assert [row[1:] for row in found if row[0] == BUS] == [
        (None, 'scsi'), ('virtio', 'ide')]


REFUSED = [
    ('b', BUS, errors.VALUE_NOT_ALLOWED), ('c', MEM, errors.DENIED),
    ('d', 'hw_from_an_older_nova', errors.UNKNOWN)]


def refused(listed, *arguments):
    return listed('--no-longer-allowed', *arguments,
                  columns=('Server', 'Property', 'Code'))


def test_what_is_no_longer_allowed_is_listed_and_told_by_the_status(listed):
    assert refused(listed) == (1, [('a', PMU, errors.POLICY), *REFUSED])


def test_the_roles_and_the_project_are_those_of_who_would_be_refused(listed):
    assert refused(listed, '--role', 'admin', '--role', 'member') == (
        1, REFUSED)
    listed.deployment.write('policy.yaml', (
        f'"{policies.PROPERTY_RULE.format(PMU)}": '
        '"project_id:p1 and user_id:u1"'))
    assert refused(listed) == (1, REFUSED)


def test_the_reason_is_that_of_the_refusal(listed):
    _, found = listed(
        '--no-longer-allowed', columns=('Server', 'Reason'))
    assert ('b', 'this cloud allows only virtio, scsi') in found


def test_glance_is_asked_by_what_the_image_has(listed):
    # Its image has no hw_disk_bus: a member may create it, but not update it.
    listed.found[:] = [
        ('cell1', server('lacks', hw_disk_bus='scsi')),
        ('cell1', server('has', hw_disk_bus='scsi', own={BUS: 'virtio'}))]
    assert refused(listed) == (1, [('has', BUS, errors.PROTECTED)])


def test_the_status_is_0_when_nothing_is_refused(listed):
    listed.found[:] = [('cell1', server('a', hw_disk_bus='scsi'))]
    assert refused(listed) == (0, [])


@pytest.mark.parametrize(('written', 'null'), [
    ('table', '| null '), ('value', 'null'), ('csv', '"null"'),
    ('json', '"Value": null'), ('yaml', 'Value: null')])
def test_a_removed_property_reads_null(listed, written, null):
    status, out, _ = listed.deployment.run(
        'servers', '-c', 'Value', '-f', written)
    assert status == 0
    assert null in out


@pytest.mark.parametrize('value', [
    '\x1b[2J', 'a\nforged', 'a\r', '\x9b', '\u202e', '\u2028', '\x7f'])
def test_a_value_of_a_tenant_s_cannot_steer_the_terminal(listed, value):
    listed.found[:] = [('cell1', server('a', **{BUS: 'x'}, own={BUS: value}))]
    for written in ('table', 'value', 'csv'):
        _, out, _ = listed.deployment.run(
            'servers', '-c', 'Image value', '-f', written)
        assert value not in out
        # cliff doubles backslashes in CSV.
        assert json.dumps(value)[1:-1] in out.replace(2 * '\\', '\\')
    assert listed(columns=('Image value',)) == (0, [(value,)])


@pytest.mark.parametrize('count', [0, 1, 3])
def test_json_is_one_list(listed, count):
    listed.found[:] = [('cell1', server(str(number), hw_disk_bus='scsi'))
                       for number in range(count)]
    assert [row[0] for row in listed()[1]] == [*map(str, range(count))]


@pytest.mark.parametrize(('rows', 'heads'), [(1, 1), (2, 1), (3, 2), (5, 3)])
def test_a_table_is_cut_into_pages(listed, monkeypatch, rows, heads):
    monkeypatch.setattr(deployment_files, 'PAGE', 2)
    listed.found[:] = [('cell1', server(f's{number}', hw_disk_bus='scsi'))
                       for number in range(rows)]
    _, out, _ = listed.deployment.run('servers')
    assert out.count('| Server ') == heads
    _, out, _ = listed.deployment.run('servers', '-f', 'yaml')
    assert [row['Server'] for row in yaml.safe_load(out)] == [
        f's{number}' for number in range(rows)]
    _, out, _ = listed.deployment.run(
        'servers', '--sort-column', 'Server', '--sort-descending')
    assert out.count('| Server ') == 1


@pytest.mark.parametrize('written', ['json', 'table', 'yaml', 'csv', 'value'])
def test_rows_do_not_wait_for_the_last(listed, monkeypatch, written):
    monkeypatch.setattr(deployment_files, 'PAGE', 2)

    def failing(*arguments):
        yield from listed.found[:2]
        raise errors.StartupError('the database is gone')

    monkeypatch.setattr(list_servers, 'overridden', failing)
    status, out, err = listed.deployment.run('servers', '-f', written)
    assert status == 1
    assert 'hw_pmu' in out
    assert 'the database is gone' in err


def test_what_cannot_be_read_is_named_at_the_end(listed, monkeypatch):
    def partly(*arguments):
        arguments[-1].append('cell2 is gone')
        yield listed.found[0]

    monkeypatch.setattr(list_servers, 'overridden', partly)
    status, out, err = listed.deployment.run('servers', '-f', 'json')
    assert status == 2
    assert len(json.loads(out)) == 2
    assert err == 'cell2 is gone\n'
