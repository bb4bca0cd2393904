"""The version entry of the header, and requests that do not have it."""

import pytest

from nova_image_override import versions
from testing.harness import base

ENTRY = versions.SERVICE_TYPE


class Negotiation(base.TestCase):
    HOSTS = ()

    def header(self, value: str, path: str = '/servers'):
        return self.http('GET', path, compute=None, extension=None,
                         headers={versions.HEADER: value})

    @pytest.mark.smoke
    def test_the_answer_names_the_version_used_beside_novas(self):
        for asked, used in (('1.0', '1.0'), ('latest', base.LATEST)):
            answer = self.http('GET', '/servers', extension=asked)
            self.assertEqual(200, answer.status)
            self.assertEqual(
                f'compute {self.COMPUTE}, {ENTRY} {used}',
                answer.headers[versions.HEADER])
            self.assertIn(versions.HEADER, answer.headers['Vary'])

    def test_order_case_and_blanks_of_the_entries_do_not_matter(self):
        for value in (f'{ENTRY} 1.0, compute 2.90',
                      f'compute 2.90,{ENTRY.upper()}  1.0',
                      f'compute 2.90, other 7.3, {ENTRY} 1.0'):
            self.assertEqual(
                f'compute 2.90, {ENTRY} 1.0',
                self.header(value).headers[versions.HEADER])

    def test_without_a_compute_entry_nova_answers_as_its_2_1(self):
        self.assertEqual(f'compute 2.1, {ENTRY} 1.0',
                         self.header(f'{ENTRY} 1.0').headers[versions.HEADER])

    def test_outside_the_range_is_406_naming_the_range(self):
        for version in ('0.9', '1.99', '2.0', '999999999.0'):
            answer = self.header(f'compute 2.90, {ENTRY} {version}')
            self.assertEqual(406, answer.status, answer.text)
            self.assertIn('Minimum is 1.0 and maximum is ' + base.LATEST,
                          answer.message)
            self.assertIn(versions.HEADER, answer.headers['Vary'])

    def test_what_is_not_a_version_is_400(self):
        for version in ('one', '1', '1.0.0', '-1.0', '1.x', '1_0.0',
                        '9' * 5000 + '.0', '1.0 compute 2.90'):
            answer = self.header(f'compute 2.90, {ENTRY} {version}')
            self.assertEqual(400, answer.status, answer.text)
            self.assertIn('X.Y', answer.message)

    def test_every_route_of_nova_answers_with_the_entry(self):
        for path in ('/flavors', '/servers/detail', '/limits', '/nothing'):
            answer = self.http('GET', path)
            self.assertIn(f'{ENTRY} {base.LATEST}',
                          answer.headers[versions.HEADER])

    def test_errors_of_nova_carry_the_entry_too(self):
        answer = self.http('GET', '/servers/no-such-server')
        self.assertEqual(404, answer.status)
        self.assertIn(ENTRY, answer.headers[versions.HEADER])


class WithoutTheEntry(base.TestCase):
    def test_the_parameter_is_400_saying_which_entry_is_missing(self):
        for compute in (None, '2.1', '2.93', 'latest'):
            answer = self.create({'hw_disk_bus': 'scsi'}, compute=compute,
                                 extension=None)
            self.assert_refused(answer, 400,
                                {base.PARAMETER: 'version_missing'})
            self.assertIn(f'{ENTRY} {base.LATEST}', answer.message)

    def test_an_empty_parameter_is_400_too(self):
        self.assert_refused(self.create({}, extension=None), 400,
                            {base.PARAMETER: 'version_missing'})

    @pytest.mark.smoke
    def test_the_legacy_api_would_drop_it_and_is_400(self):
        body = self.server_body({'hw_disk_bus': 'scsi'})
        del body['server']['networks']
        for sent in (body, {'server': {
                k: v for k, v in body['server'].items()
                if k != base.PARAMETER}, base.PARAMETER: {}}):
            for extension in (None, '1.0'):
                answer = self.http('POST', '/servers', sent, api='v2',
                                   extension=extension)
                self.assert_refused(answer, 400,
                                    {base.PARAMETER: 'not_here'})
                self.assertIn('/v2.1', answer.message)

    def test_the_legacy_rebuild_would_drop_it_and_is_400(self):
        server = self.boot()
        answer = self.http(
            'POST', f'/servers/{server}/action', {'rebuild': {
                'imageRef': base.IMAGE, base.PARAMETER: {}}}, api='v2')
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual({base.PARAMETER: 'not_here'}, answer.problems)

    def test_answers_do_not_speak_of_the_extension(self):
        server = self.boot({'hw_disk_bus': 'scsi'})
        for path in (f'/servers/{server}', '/servers/detail'):
            answer = self.http('GET', path, extension=None)
            self.assertNotIn(base.PARAMETER, answer.text)
            self.assertEqual(f'compute {self.COMPUTE}',
                             answer.headers[versions.HEADER])
