"""The version entry of the header, and requests that do not have it."""

import pytest

from nova_image_override import errors
from nova_image_override import versions
from testing.harness import base

ENTRY = versions.SERVICE_TYPE


class Cloud(base.Cloud):
    def header(self, value: str, path: str = '/servers'):
        return self.http('GET', path, compute=None, extension=None,
                         headers={versions.HEADER: value})


class TestNegotiation:
    HOSTS = ()

    @pytest.mark.smoke
    def test_the_answer_names_the_version_used_beside_novas(self, cloud):
        for asked, used in (('1.0', '1.0'), ('latest', base.LATEST)):
            answer = cloud.http('GET', '/servers', extension=asked).expect(200)
            assert answer.headers[
                versions.HEADER] == f'compute {cloud.COMPUTE}, {ENTRY} {used}'
            assert versions.HEADER in answer.headers['Vary']

    def test_order_case_and_blanks_of_the_entries_do_not_matter(self, cloud):
        for value in (f'{ENTRY} 1.0, compute 2.90',
                      f'compute 2.90,{ENTRY.upper()}  1.0',
                      f'compute 2.90, other 7.3, {ENTRY} 1.0'):
            assert cloud.header(value).headers[
                versions.HEADER] == f'compute 2.90, {ENTRY} 1.0'

    def test_without_a_compute_entry_nova_answers_as_its_2_1(self, cloud):
        assert cloud.header(f'{ENTRY} 1.0').headers[
            versions.HEADER] == f'compute 2.1, {ENTRY} 1.0'

    def test_outside_the_range_is_406_naming_the_range(self, cloud):
        for version in ('0.9', '1.99', '2.0', '999999999.0'):
            answer = cloud.header(f'compute 2.90, {ENTRY} {version}').expect(
                406)
            assert 'Minimum is 1.0 and maximum is ' + base.LATEST in (
                answer.message)
            assert versions.HEADER in answer.headers['Vary']

    def test_what_is_not_a_version_is_400(self, cloud):
        for version in ('one', '1', '1.0.0', '-1.0', '1.x', '1_0.0',
                        '9' * 5000 + '.0', '1.0 compute 2.90'):
            answer = cloud.header(f'compute 2.90, {ENTRY} {version}').expect(
                400)
            assert 'X.Y' in answer.message

    def test_every_route_of_nova_answers_with_the_entry(self, cloud):
        for path, status in (
                ('/flavors', 200), ('/servers/detail', 200), ('/limits', 200),
                ('/nothing', 404), ('/servers/no-such-server', 404)):
            answer = cloud.http('GET', path).expect(status)
            assert f'{ENTRY} {base.LATEST}' in answer.headers[versions.HEADER]


class TestWithoutTheEntry:
    def test_the_parameter_is_400_saying_which_entry_is_missing(self, cloud):
        for compute in (None, '2.1', '2.93', 'latest'):
            for overrides in ({'hw_disk_bus': 'scsi'}, {}):
                answer = cloud.create(
                    overrides, compute=compute, extension=None)
                cloud.assert_refused(
                    answer, 400, {base.PARAMETER: 'version_missing'})
                assert f'{ENTRY} {base.LATEST}' in answer.message

    @pytest.mark.smoke
    def test_the_legacy_api_would_drop_it_and_is_400(self, cloud):
        body = cloud.server_body({'hw_disk_bus': 'scsi'})
        del body['server']['networks']
        for sent in (body, {'server': {
                k: v for k, v in body['server'].items()
                if k != base.PARAMETER}, base.PARAMETER: {}}):
            for extension in (None, '1.0'):
                answer = cloud.http('POST', '/servers', sent, api='v2',
                                    extension=extension)
                cloud.assert_refused(answer, 400,
                                     {base.PARAMETER: 'not_here'})
                assert '/v2.1' in answer.message

    def test_the_legacy_rebuild_would_drop_it_and_is_400(self, cloud):
        server = cloud.boot()
        cloud.rebuild(server, {}, api='v2').expect(
            400, {base.PARAMETER: 'not_here'})

    @pytest.mark.parametrize('extension', [None, base.LATEST])
    @pytest.mark.parametrize('parameter', errors.PARAMETERS)
    def test_actions_that_would_ignore_the_parameter_are_400(
            self, cloud, parameter, extension):
        server = cloud.boot()
        for action in 'os-stop', 'shelve', 'unshelve', 'reboot', 'evacuate':
            answer = cloud.act(
                server, {action: {parameter: {}}}, extension=extension)
            answer.expect(400, {parameter: 'not_here'})
            assert f'{action} does not take it' in answer.message
        assert cloud.show(server)['status'] == 'ACTIVE'

    def test_answers_do_not_speak_of_the_extension(self, cloud):
        server = cloud.boot({'hw_disk_bus': 'scsi'})
        for path in (f'/servers/{server}', '/servers/detail'):
            answer = cloud.http('GET', path, extension=None)
            assert base.PARAMETER not in answer.text
            assert answer.headers[versions.HEADER] == f'compute {cloud.COMPUTE}'
