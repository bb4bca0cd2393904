"""Lists of servers that override a property."""

import itertools
from unittest import mock
import urllib.parse

import pytest

from nova_image_override import errors
from testing.harness import base

SCSI = {'hw_disk_bus': 'scsi'}
BOTH = {'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true'}

#: Each has a different query schema, or a different way to load servers.
COMPUTES = ('2.1', '2.26', '2.72', '2.73', '2.74', '2.75', '2.98')


class Case(base.TestCase):
    NUMBER_OF_CELLS = 2
    HOSTS = ('compute1', 'compute2')
    EXTENDED_HOSTS = HOSTS
    CELLS = {'compute1': 'cell1', 'compute2': 'cell2'}

    def answer(self, *names, path='/servers', query='', **kwargs):
        sent = urllib.parse.urlencode([(base.PARAMETER, n) for n in names])
        return self.http('GET', f'{path}?{sent}{query}', **kwargs)

    def found(self, *names, **kwargs):
        """Return the names of the servers that are found, in order."""
        answer = self.answer(*names, **kwargs)
        self.assertEqual(200, answer.status, answer.text)
        return [server['name'] for server in answer.body['servers']]

    def pages(self, *names, query, path='/servers'):
        """Return the pages that the links of answers lead to."""
        pages = []
        answer = self.answer(*names, query=query, path=path)
        while True:
            self.assertEqual(200, answer.status, answer.text)
            if not answer.body['servers']:
                return pages
            pages.append([s['name'] for s in answer.body['servers']])
            (link,) = answer.body.get('servers_links') or [None]
            if link is None:
                return pages
            url = urllib.parse.urlsplit(link['href'])
            answer = self.http('GET', f'{path}?{url.query}')

    def server(self, name, overrides=None, cell=1, **kwargs):
        return self.boot(overrides, admin=True, server={
            'name': name, 'availability_zone': f'nova:compute{cell}',
            **kwargs})

    def waiting(self, name, overrides=None, **kwargs):
        with mock.patch(base.BUILDS):
            answer = self.create(
                overrides, server={'name': name, **kwargs})
        self.assertEqual(202, answer.status, answer.text)
        return answer.body['server']['id']


class Found(Case):
    @pytest.mark.smoke
    def test_those_that_have_all_the_overrides_in_every_cell(self):
        self.server('none')
        self.server('scsi', SCSI)
        self.server('both', BOTH, cell=2)
        self.boot({'hw_pmu': None}, image=self.image(hw_pmu='false'),
                  server={'name': 'removed'})
        for names, expected in (
                (['hw_disk_bus'], {'scsi', 'both'}),
                (['hw_disk_bus', 'hw_boot_menu'], {'both'}),
                (['hw_boot_menu', 'hw_boot_menu'], {'both'}),
                (['hw_pmu'], {'removed'}),
                (['hw_pmu', 'hw_disk_bus'], set()),
                # Nobody overrides it.
                (['hw_vif_model'], set())):
            for path in ('/servers', '/servers/detail'):
                for compute in COMPUTES:
                    with self.subTest((names, path, compute)):
                        found = self.found(*names, path=path, compute=compute)
                        self.assertEqual(expected, set(found))
                        self.assertEqual(len(expected), len(found))

    def test_parts_of_families(self):
        trait = {'trait:CUSTOM_A': 'required'}
        self.waiting('trait', trait)
        self.server('numa', {
            'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0',
            'hw_numa_cpus.1': '1', 'hw_numa_mem.0': '512',
            'hw_numa_mem.1': '512'})
        self.assertEqual(['numa'], self.found('hw_numa_cpus.1'))
        self.assertEqual(['trait'], self.found('trait:CUSTOM_A'))
        self.assertEqual([], self.found('hw_numa_cpus.2'))
        self.assertEqual([], self.found('trait:CUSTOM_B'))

    def test_a_server_without_a_host_is_found_in_cell0(self):
        server = self.create(
            SCSI, flavor=self.flavor(vcpus=64),
            server={'name': 'failed'}).body['server']['id']
        self.wait(server, 'ERROR')
        self.assertEqual(['failed'], self.found('hw_disk_bus'))

    def test_beside_other_filters(self):
        for name in ('a', 'b'):
            self.server(name, SCSI)
        self.server('b', cell=2)
        self.assertEqual(['b'], self.found('hw_disk_bus', query='&name=b'))
        self.assertEqual(
            [], self.found('hw_disk_bus', query='&status=SHUTOFF'))
        self.assertEqual([], self.found(
            'hw_disk_bus', query='&ip=192.0.2.1', admin=True))

    def test_what_is_in_force_now_counts(self):
        server = self.server('test', SCSI)
        self.assertEqual(202, self.rebuild(
            server, {'hw_boot_menu': 'true'}).status)
        self.assertEqual([], self.found('hw_disk_bus'))
        self.assertEqual(['test'], self.found('hw_boot_menu'))
        self.assertEqual(202, self.rebuild(server, {}).status)
        self.assertEqual([], self.found('hw_boot_menu'))

    def test_deleted_servers_are_found_as_nova_lists_them(self):
        for name, overrides in (('deleted', SCSI), ('deleted-plain', None)):
            server = self.server(name, overrides)
            self.http('DELETE', f'/servers/{server}')
            self._wait_until_deleted({'id': server})
        self.assertEqual([], self.found('hw_disk_bus'))
        self.assertEqual(['deleted'], self.found(
            'hw_disk_bus', query='&deleted=true&name=deleted', admin=True))

    def test_answers_with_details_show_the_overrides(self):
        self.server('scsi', SCSI)
        (server,) = self.answer(
            'hw_disk_bus', path='/servers/detail').body['servers']
        self.assertEqual(SCSI, server[base.PARAMETER])


class Projects(Case):
    OTHER = {'X-Auth-Project-Id': 'f' * 32}

    def test_each_sees_its_own_and_an_administrator_all(self):
        self.server('ours', SCSI)
        self.http('POST', '/servers', self.server_body(
            SCSI, name='waiting'), headers=self.OTHER)
        theirs = self.create(SCSI, server={'name': 'theirs'},
                             headers=self.OTHER).body['server']['id']
        self.wait(theirs)
        self.assertEqual(['ours'], self.found('hw_disk_bus'))
        self.assertEqual(['ours'], self.found('hw_disk_bus', admin=True))
        self.assertEqual({'theirs', 'waiting'}, set(self.found(
            'hw_disk_bus', headers=self.OTHER)))
        self.assertEqual({'ours', 'theirs', 'waiting'}, set(self.found(
            'hw_disk_bus', query='&all_tenants=1', admin=True)))

    def test_all_projects_are_for_those_whom_nova_lets_see_them(self):
        self.assertEqual(403, self.answer(
            'hw_disk_bus', query='&all_tenants=1').status)


class Paging(Case):
    def test_pages_are_those_of_the_whole_list(self):
        expected = []
        for number in range(9):
            overridden = number % 3 != 1
            # Names follow neither the order of creation nor the cells.
            name = f'server-{number * 7 % 9}'
            self.server(name, BOTH if overridden else None,
                        cell=1 + number * 5 % 7 % 2)
            if overridden:
                expected.append(name)
        # Some may be created in the same second; Nova decides their order.
        newest_first = [
            server['name'] for server in self.http(
                'GET', '/servers').body['servers']
            if server['name'] in expected]
        self.assertEqual(len(expected), len(newest_first))
        names = ('hw_boot_menu', 'hw_disk_bus')
        for limit in (1, 2, 4, 9):
            for path in ('/servers', '/servers/detail'):
                pages = self.pages(*names, path=path, query=f'&limit={limit}')
                self.assertEqual(newest_first, list(itertools.chain(*pages)))
                self.assertEqual(
                    {limit}, {*map(len, pages[:-1])} or {limit})
            for direction in ('asc', 'desc'):
                pages = self.pages(*names, query=(
                    f'&limit={limit}&sort_key=display_name'
                    f'&sort_dir={direction}'))
                self.assertEqual(
                    sorted(expected, reverse=direction == 'desc'),
                    list(itertools.chain(*pages)))

    def test_a_marker_may_be_a_server_that_is_not_found(self):
        for name, overrides in (('a', SCSI), ('b', None), ('c', SCSI)):
            marker = self.server(name, overrides, cell=2)
            if name == 'b':
                between = marker
        self.assertEqual(['a'], self.found(
            'hw_disk_bus', query=f'&marker={between}&sort_key=display_name'
                                 '&sort_dir=desc'))

    def test_a_marker_that_does_not_exist_is_400(self):
        answer = self.answer(
            'hw_disk_bus', query='&marker=' + 'f' * 8)
        self.assertEqual(400, answer.status, answer.text)
        self.assertIn('marker', answer.message)

    def test_limit_0_finds_nothing(self):
        self.server('scsi', SCSI)
        self.waiting('waiting', SCSI)
        self.assertEqual([], self.found('hw_disk_bus', query='&limit=0'))

    def test_servers_that_wait_for_the_scheduler_come_first(self):
        self.server('placed-1', SCSI, cell=2)
        self.waiting('without')
        waiting = {name: self.waiting(name, SCSI, metadata={'a': 'b'})
                   for name in ('waiting-1', 'waiting-2')}
        self.server('placed-2', SCSI)
        expected = ['waiting-2', 'waiting-1', 'placed-2', 'placed-1']
        by_name = '&sort_key=display_name&sort_dir=desc'
        self.assertEqual(
            expected, self.found('hw_disk_bus', query=by_name))
        for limit in (1, 2, 3, 4, 5):
            self.assertEqual(expected, list(itertools.chain(
                *self.pages('hw_disk_bus', query=f'&limit={limit}{by_name}'))))
        self.assertEqual(['waiting-1'], self.found(
            'hw_disk_bus', query='&name=waiting-1'))
        self.assertEqual(['waiting-1'], self.found(
            'hw_disk_bus', query=f'&uuid={waiting["waiting-1"]}', admin=True,
            compute='2.1'))
        self.assertEqual([], self.found('hw_boot_menu'))


class Refused(Case):
    HOSTS = ()

    def test_what_is_no_property_is_400(self):
        for names, problems in (
                (['hw_disk_buss'], {'hw_disk_buss': errors.UNKNOWN}),
                ([''], {'': errors.UNKNOWN}),
                (['hw_disk_bus=scsi'], {'hw_disk_bus=scsi': errors.UNKNOWN}),
                (['a' * 300], {'a' * 300: errors.UNKNOWN}),
                (['hw_*', 'hw_disk_bus'], {'hw_*': errors.UNKNOWN}),
                (['architecture'], {'architecture': errors.LEGACY_NAME}),
                (['hw_numa_cpus'], {'hw_numa_cpus': errors.LIST_FIELD}),
                (['hw_numa_cpus.x', 'traits_required', 'hw_pmu'],
                 {'hw_numa_cpus.x': errors.UNKNOWN,
                  'traits_required': errors.LIST_FIELD}),
                ([f'hw_numa_mem.{n}' for n in range(129)],
                 {base.PARAMETER: errors.TOO_MANY})):
            for path in ('/servers', '/servers/detail'):
                with self.subTest((names, path)):
                    self.assert_refused(
                        self.answer(*names, path=path), 400, problems)

    def test_what_nova_refuses_it_refuses_still(self):
        for query in ('&unknown=1', '&limit=-1', '&limit=1&limit=x',
                      '&sort_key=host_status', '&name=%ff'):
            answer = self.answer('hw_disk_bus', query=query)
            self.assertEqual(400, answer.status, (query, answer.text))
            self.assertNotIn(base.PARAMETER, answer.text)

    def test_without_the_version_entry_the_query_is_novas(self):
        for name in ('hw_disk_bus', 'unknown'):
            answer = self.answer(name, extension=None, compute='2.74')
            self.assertEqual(200, answer.status)
            answer = self.answer(name, extension=None, compute='2.75')
            self.assertEqual(400, answer.status)
            self.assertEqual({}, answer.problems)


class Unfiltered(Case):
    def test_without_the_version_entry_all_servers_are_listed(self):
        self.server('scsi', SCSI)
        self.server('none')
        for how in {'extension': None}, {'api': 'v2'}:
            self.assertEqual({'scsi', 'none'}, set(self.found(
                'hw_disk_bus', compute='2.74', **how)))
        self.assertEqual({'scsi', 'none'}, set(self.found()))
