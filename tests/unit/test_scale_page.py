"""What admin/scale.rst says is true of the run whose tables it shows."""

import pathlib
import re

import pytest

from benchmarks.scale import servers

ADMIN = pathlib.Path(__file__).parents[2] / 'docs/source/admin'
FIGURES = (ADMIN / 'figures/scale.txt').read_text()
PAGE = (ADMIN / 'scale.rst').read_text()


def rows_of(text):
    """Return the rows of a list-table: column -> cell, '' -> the row's name."""
    head, *rows = [
        re.findall(r'^     - ?(.*)$', row.replace('   * -', '     -', 1), re.M)
        for row in re.split(r'^(?=   \* -)', text, flags=re.M)[1:]]
    assert rows
    return [dict(zip(head, row, strict=True)) for row in rows]


def table(name):
    """Return the rows of a recorded table."""
    (found,) = [part for part in re.split(
        r'^\.\. (?=\w+$)', FIGURES, flags=re.M) if part.startswith(f'{name}\n')]
    return rows_of(found)


def request(beginning):
    """Return the row of the first page of a list over all projects."""
    (found,) = [row for row in REQUESTS if row[''] == (
        f'{beginning}, all projects, first page')]
    return found


def number(text):
    return float(text.replace(',', ''))


def sizes(row, what):
    """Return a figure with few servers and with many."""
    few, many = [number(cell) for column, cell in row.items()
                 if re.match(f'{what}, [0-9]', column)]
    return few, many


REQUESTS = table('requests')
FILTERS = [row for row in REQUESTS if 'image_props_override' in row['']]


def test_overrides_execute_no_statement_more():
    (statements,) = {row['INSERT, UPDATE, DELETE'] for row in table('boots')}
    assert int(statements) > 0


def test_each_override_is_two_rows_at_most():
    rows = {row['']: int(row['all tables: rows']) for row in table('sizes')}
    for overrides in (3, 10):
        more = rows[f'{overrides} overrides'] - rows['0 overrides']
        assert overrides < more <= 2 * overrides


@pytest.mark.parametrize(
    'row', [row for row in REQUESTS if row not in FILTERS],
    ids=lambda row: row[''])
def test_without_the_filter_nothing_more_is_read(row):
    assert sizes(row, 'Nova') == sizes(row, 'extension')


@pytest.mark.parametrize(
    'row', [row for row in FILTERS if 'a project' in row['']],
    ids=lambda row: row[''])
def test_within_a_project_the_filter_does_not_grow_with_the_cell(row):
    few, many = sizes(row, 'extension')
    assert few == many > 0


def test_to_sort_all_projects_nova_reads_every_server():
    few, many = sizes(request('all servers'), 'Nova')
    assert 9 * few < many < 11 * few


def test_no_plan_scans_the_metadata():
    steps = [step for step in table('plans')
             if step['table'] == 'instance_system_metadata']
    assert {(step['access'], step['index']) for step in steps} == {
        ('ref', 'instance_uuid')}


def test_the_listing_grows_in_what_it_reads_and_not_in_memory():
    for row in table('listings'):
        few, many = sizes(row, 'rows read')
        assert many == few or 9 * few < many < 11 * few
        few, many = sizes(row, 'MiB')
        assert many < 1.1 * few


def carried():
    """Return the tables of the page that are made from the recorded ones."""
    _, section = PAGE.split('\nCarried to 1,000,000 servers\n')
    section, _ = section.split('\nBeside published figures\n')
    return [rows_of(part) for part in section.split('.. list-table::')[1:]]


def test_what_a_million_servers_take_is_a_million_times_what_one_takes():
    stored, _ = carried()
    kib = {int(row[''].split()[0]): row for row in table('sizes')}
    shares = [{0: 100}, servers.SHARES, {10: 100}]
    for row, column in zip(stored, (
            'KiB in the cell database', 'KiB in the API database'),
            strict=True):
        assert [float(cell) for cell in [*row.values()][1:]] == [
            round(sum(share / 100 * float(kib[kind][column])
                      for kind, share in each.items()) * 1e6 / 2**20, 1)
            for each in shares]


def test_what_many_cells_read_is_what_one_reads_for_each():
    _, read = carried()
    for row, (what, who) in zip(read, (
            ('all servers', 'Nova'),
            ('image_props_override=hw_disk_bus', 'extension'),
            ('image_props_override=hw_watchdog_action', 'extension'),
            ('image_props_override=hw_pmu', 'extension')), strict=True):
        few, many = sizes(request(what), who)
        assert [number(cell) for cell in [*row.values()][1:]] == [
            round(each / 1000) for each in (few, 100 * few, many, 10 * many)]
