"""What the benchmark of a large cell generates, and that it checks answers.

The databases and Nova itself take part only in the benchmark.
"""

import pytest
import webob

from benchmarks.scale import answers
from benchmarks.scale import servers
from nova_image_override import errors

INSTANCES = servers.Source('cell', 'instances', {
    'uuid': 'varchar', 'project_id': 'varchar', 'host': 'varchar',
    'user_data': 'mediumtext'})
EXTRA = servers.Source('cell', 'instance_extra', {
    'instance_uuid': 'varchar', 'flavor': 'text'})
EVENTS = servers.Source('cell', 'instance_actions_events', {
    'action_id': 'int', 'event': 'varchar'})
DEVICES = servers.Source('cell', 'block_device_mapping', {
    'instance_uuid': 'varchar', 'uuid': 'varchar'})


def listed(*kinds):
    return [servers.Server(f'server-{number}', 'project', kind)
            for number, kind in enumerate(kinds)]


def answer(shown, status=200, **more):
    return webob.Response(status=status, json_body={'servers': [
        {'id': server.uuid, errors.PARAMETER: server.overrides}
        for server in shown], **more})


def test_nova_would_accept_what_servers_override(parser):
    for number, overrides in servers.KINDS.items():
        assert len(overrides) == number
        assert parser.parse(overrides) == overrides


def test_every_server_is_of_a_kind():
    assert servers.SHARES.keys() == servers.KINDS.keys()
    assert sum(servers.SHARES.values()) == 100


def test_a_server_has_its_own_values_and_the_others_of_its_kind():
    assert INSTANCES.copy('cell') == (
        'INSERT INTO cell.instances '
        '(`uuid`, `project_id`, `host`, `user_data`) '
        'SELECT s.uuid, s.project, x.`host`, '
        'REPLACE(x.`user_data`, b.uuid, s.uuid) '
        'FROM servers s JOIN booted b ON b.kind = s.kind '
        'JOIN scale.cell_instances x ON x.kind = s.kind '
        'WHERE s.n BETWEEN :first AND :last ORDER BY s.n, x.id')


def test_rows_belong_to_a_server_by_its_uuid_and_have_one_of_their_own():
    assert 'SELECT s.uuid, UUID() FROM' in DEVICES.copy('cell')
    assert 'SELECT s.uuid, REPLACE(' in EXTRA.copy('cell')


def test_events_belong_to_the_action_of_the_same_database():
    statement = EVENTS.copy('other')
    assert 'SELECT a.id, x.`event` FROM' in statement
    assert 'JOIN other.instance_actions a ON a.instance_uuid = s.uuid' in (
        statement)
    assert 'instance_actions' not in INSTANCES.copy('other')


def test_tables_without_servers_are_left_out():
    assert INSTANCES.booted and EXTRA.booted and EVENTS.booted
    assert servers.Source('cell', 'services', {
        'uuid': 'varchar', 'host': 'varchar'}).booted is None


def test_an_answer_that_is_what_was_generated_is_taken():
    answers.check(answer(listed(0, 3, 10)), listed(0, 3, 10), overrides=True)
    answers.check(webob.Response(json_body={'server': {'id': 'server-0'}}),
                  listed(0))


@pytest.mark.parametrize('other', [
    [], listed(0, 3)[:1], listed(0, 3)[::-1], listed(0, 3, 10)])
def test_an_answer_with_other_servers_is_noticed(other):
    with pytest.raises(answers.Wrong, match='server-'):
        answers.check(answer(other), listed(0, 3))


def test_an_answer_with_other_overrides_is_noticed():
    answers.check(answer(listed(0, 10)), listed(0, 3))
    with pytest.raises(answers.Wrong, match='hw_watchdog_action'):
        answers.check(answer(listed(0, 10)), listed(0, 3), overrides=True)


def test_a_refusal_is_noticed():
    with pytest.raises(answers.Wrong, match='403'):
        answers.check(answer([], status=403), [])


def pages(*contents):
    """Return a getter of pages, all but the last with a link to the next."""
    def get(path):
        number = int(path.partition('marker=')[2] or 0)
        links = {} if number + 1 == len(contents) else {
            'servers_links': [{'rel': 'next', 'href':
                               f'http://elsewhere/?marker={number + 1}'}]}
        return answer(contents[number], **links)
    return get


def test_every_page_is_looked_at():
    every = listed(*[3] * 5)
    assert answers.check_pages(
        pages(every[:2], every[2:4], every[4:]), '/servers?', every, 2) == 3
    assert answers.check_pages(pages([]), '/servers?', [], 2) == 1


@pytest.mark.parametrize('contents', [
    # Too few in total, too few on a page, one twice, one too many.
    (range(2), range(2, 4)), (range(1), range(1, 3), range(3, 5)),
    (range(2), range(1, 3), range(3, 5)),
    (range(2), range(2, 4), range(4, 6))])
def test_other_pages_are_noticed(contents):
    every = listed(*[3] * 6)
    with pytest.raises(answers.Wrong):
        answers.check_pages(
            pages(*([every[n] for n in page] for page in contents)),
            '/servers?', every[:5], 2)
