"""Lists of servers that override a property."""

import itertools
import urllib.parse

import pytest

from nova_image_override import errors
from testing import release
from testing.harness import base
from testing.harness import ids

SCSI = {'hw_disk_bus': 'scsi'}
BOTH = {'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true'}

#: Each has a different query schema, or a different way to load servers.
COMPUTES = release.microversions(
    '2.1', '2.26', '2.72', '2.73', '2.74', '2.75', '2.98')


class Cloud(base.Cloud):
    NUMBER_OF_CELLS = 2
    HOSTS = ('compute1', 'compute2')
    EXTENDED_HOSTS = HOSTS
    CELLS = {'compute1': 'cell1', 'compute2': 'cell2'}

    def answer(self, *names, path='/servers', query='', **kwargs):
        sent = urllib.parse.urlencode([(base.PARAMETER, n) for n in names])
        return self.http('GET', f'{path}?{sent}{query}', **kwargs)

    def found(self, *names, **kwargs):
        """Return the names of the servers that are found, in order."""
        answer = self.answer(*names, **kwargs).expect(200)
        return [server['name'] for server in answer.body['servers']]

    def pages(self, *names, query, path='/servers'):
        """Return the pages that the links of answers lead to."""
        pages = []
        answer = self.answer(*names, query=query, path=path)
        while True:
            answer.expect(200)
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


class TestFound:
    @pytest.mark.smoke
    def test_servers_with_all_the_overrides_are_found_in_every_cell(
            self, cloud):
        cloud.server('none')
        cloud.server('scsi', SCSI)
        cloud.server('both', BOTH, cell=2)
        cloud.boot({'hw_pmu': None}, image=cloud.image(hw_pmu='false'),
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
                    found = cloud.found(*names, path=path, compute=compute)
                    assert set(found) == expected
                    assert len(found) == len(expected)

    def test_parts_of_families(self, cloud):
        # Without a host it is in cell0.
        cloud.created(cloud.create({'trait:CUSTOM_A': 'required'},
                                   server={'name': 'trait'}), 'ERROR')
        cloud.server('numa', {
            'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0',
            'hw_numa_cpus.1': '1', 'hw_numa_mem.0': '512',
            'hw_numa_mem.1': '512'})
        assert cloud.found('hw_numa_cpus.1') == ['numa']
        assert cloud.found('trait:CUSTOM_A') == ['trait']
        assert cloud.found('hw_numa_cpus.2') == []
        assert cloud.found('trait:CUSTOM_B') == []

    def test_beside_other_filters(self, cloud):
        for name in ('a', 'b'):
            cloud.server(name, SCSI)
        cloud.server('b', cell=2)
        assert cloud.found('hw_disk_bus', query='&name=b') == ['b']
        assert cloud.found('hw_disk_bus', query='&status=SHUTOFF') == []
        assert cloud.found('hw_disk_bus', query='&ip=192.0.2.1',
                           admin=True) == []

    def test_what_is_in_force_now_counts(self, cloud):
        server = cloud.server('test', SCSI)
        assert cloud.rebuild(server, {'hw_boot_menu': 'true'}).status == 202
        assert cloud.found('hw_disk_bus') == []
        assert cloud.found('hw_boot_menu') == ['test']
        assert cloud.rebuild(server, {}).status == 202
        assert cloud.found('hw_boot_menu') == []

    def test_deleted_servers_are_found_as_nova_lists_them(self, cloud):
        for name, overrides in (('deleted', BOTH), ('deleted-plain', None)):
            server = cloud.server(name, overrides)
            cloud.delete(server)
        assert cloud.found('hw_disk_bus') == []
        for names in ['hw_disk_bus'], [*BOTH]:
            assert cloud.found(*names, query='&deleted=true&name=deleted',
                               admin=True) == ['deleted'], names


class TestProjects:
    OTHER = {'X-Auth-Project-Id': 'f' * 32}

    def test_each_sees_its_own_and_an_administrator_all(self, cloud):
        cloud.server('ours', SCSI)
        cloud.boot(SCSI, server={'name': 'theirs'}, headers=self.OTHER)
        assert cloud.found('hw_disk_bus') == ['ours']
        assert cloud.found('hw_disk_bus', admin=True) == ['ours']
        assert cloud.found('hw_disk_bus', headers=self.OTHER) == ['theirs']
        assert set(
            cloud.found('hw_disk_bus', query='&all_tenants=1', admin=True)) == {
                'ours', 'theirs'}

    def test_all_projects_are_for_those_whom_nova_lets_see_them(self, cloud):
        assert cloud.answer('hw_disk_bus', query='&all_tenants=1').status == 403


class TestPaging:
    def test_pages_are_those_of_the_whole_list(self, cloud):
        expected = []
        for number in range(9):
            overridden = number % 3 != 1
            # Names follow neither the order of creation nor the cells.
            name = f'server-{number * 7 % 9}'
            cloud.server(name, BOTH if overridden else None,
                         cell=1 + number * 5 % 7 % 2)
            if overridden:
                expected.append(name)
        # Some may be created in the same second; Nova decides their order.
        newest_first = [
            server['name'] for server in cloud.http(
                'GET', '/servers').body['servers']
            if server['name'] in expected]
        assert len(newest_first) == len(expected)
        names = ('hw_boot_menu', 'hw_disk_bus')
        for limit in (1, 2, 4, 9):
            for path in ('/servers', '/servers/detail'):
                pages = cloud.pages(*names, path=path, query=f'&limit={limit}')
                assert list(itertools.chain(*pages)) == newest_first
                assert ({*map(len, pages[:-1])} or {limit}) == {limit}
            for direction in ('asc', 'desc'):
                pages = cloud.pages(*names, query=(
                    f'&limit={limit}&sort_key=display_name'
                    f'&sort_dir={direction}'))
                assert list(itertools.chain(*pages)) == sorted(
                    expected, reverse=direction == 'desc')

    def test_a_marker_may_be_a_server_that_is_not_found(self, cloud):
        for name, overrides in (('a', SCSI), ('b', None), ('c', SCSI)):
            marker = cloud.server(name, overrides, cell=2)
            if name == 'b':
                between = marker
        assert cloud.found(
            'hw_disk_bus', query=f'&marker={between}&sort_key=display_name'
            '&sort_dir=desc') == ['a']

    def test_a_marker_that_does_not_exist_is_400(self, cloud):
        answer = cloud.answer('hw_disk_bus', query='&marker=ffffffff')
        answer.expect(400)
        assert 'marker' in answer.message

    def test_limit_0_finds_nothing(self, cloud):
        cloud.server('scsi', SCSI)
        assert cloud.found('hw_disk_bus', query='&limit=0') == []

    def test_servers_that_wait_for_the_scheduler_are_left_out(self, cloud):
        cloud.server('placed-1', SCSI, cell=2)
        cloud.unbuilt(server={'name': 'without'})
        waiting = cloud.unbuilt(
            SCSI, server={'name': 'waiting', 'metadata': {'a': 'b'}})
        cloud.server('placed-2', SCSI)
        assert 'waiting' in cloud.found()
        expected = ['placed-2', 'placed-1']
        by_name = '&sort_key=display_name&sort_dir=desc'
        assert cloud.found('hw_disk_bus', query=by_name) == expected
        for limit in (1, 2, 3):
            assert list(
                itertools.chain(
                    *cloud.pages('hw_disk_bus',
                                 query=f'&limit={limit}{by_name}'))) == expected
        assert cloud.found('hw_disk_bus', query=f'&uuid={waiting}',
                           admin=True, compute='2.1') == []
        assert cloud.found('hw_boot_menu') == []


class TestRefused:
    HOSTS = ()

    @pytest.mark.parametrize('names, problems', [
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
        ([f'hw_numa_mem.{n}' for n in range(9)],
         {base.PARAMETER: errors.TOO_MANY})], ids=ids.short)
    @pytest.mark.parametrize('path', ['/servers', '/servers/detail'])
    def test_what_is_no_property_is_400(self, cloud, names, problems, path):
        cloud.assert_refused(
            cloud.answer(*names, path=path), 400, problems)

    def test_what_nova_refuses_it_refuses_still(self, cloud):
        for query in ('&unknown=1', '&limit=-1', '&limit=1&limit=x',
                      '&sort_key=host_status', '&name=%ff'):
            answer = cloud.answer('hw_disk_bus', query=query)
            assert answer.status == 400, (query, answer.text)
            assert base.PARAMETER not in answer.text

    def test_without_the_version_entry_the_query_is_novas(self, cloud):
        for name in ('hw_disk_bus', 'unknown'):
            cloud.answer(name, extension=None, compute='2.74').expect(200)
            cloud.answer(name, extension=None, compute='2.75').expect(400, {})


class TestUnfiltered:
    def test_without_the_version_entry_all_servers_are_listed(self, cloud):
        cloud.server('scsi', SCSI)
        cloud.server('none')
        for how in {'extension': None}, {'api': 'v2'}:
            assert set(cloud.found('hw_disk_bus', compute='2.74', **how)) == {
                'scsi', 'none'}
        assert set(cloud.found()) == {'scsi', 'none'}
