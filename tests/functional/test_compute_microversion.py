"""A compute microversion from which on no header entry of ours is needed."""

from nova.api.openstack import api_version_request
import pytest

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api import client_compatibility
from testing.harness import base
from testing.harness import nodb


class OpenFromACompute(base.TestCase):
    OPTIONS = {'allowed_properties': ['*'], 'compute_microversion': '2.90'}

    def shown(self, server, **kwargs):
        return self.http('GET', f'/servers/{server}', extension=None,
                         **kwargs).body['server'][base.PARAMETER]

    @pytest.mark.smoke
    def test_create_takes_the_parameter_and_answers_show_it(self):
        for compute in ('2.90', '2.93', 'latest'):
            server = self.boot({'hw_disk_bus': 'scsi'}, compute=compute,
                               extension=None)
            self.assertEqual({'hw_disk_bus': 'scsi'},
                             self.shown(server, compute=compute))

    def test_the_microversion_may_stand_in_novas_old_header(self):
        answer = self.create(
            {'hw_disk_bus': 'scsi'}, compute=None, extension=None,
            headers={'X-OpenStack-Nova-API-Version': '2.90'})
        self.assertEqual(202, answer.status, answer.text)

    def test_the_answer_names_the_version_that_it_was_given_in(self):
        answer = self.http('GET', '/servers/detail', extension=None)
        self.assertEqual(
            f'compute {self.COMPUTE}, {versions.SERVICE_TYPE} {base.LATEST}',
            answer.headers[versions.HEADER])

    def test_it_is_the_newest_version(self):
        image = self.image(hw_disk_bus='scsi')
        server = self.boot({'hw_disk_bus': None}, image=image, extension=None)
        self.assertEqual({'hw_disk_bus': None}, self.shown(server))

    def test_rebuild_takes_the_parameter(self):
        server = self.boot({'hw_disk_bus': 'scsi'}, extension=None)
        answer = self.act(server, {'rebuild': {
            'imageRef': base.IMAGE, base.PARAMETER: {}}}, extension=None)
        self.assertEqual(202, answer.status, answer.text)
        self.assertEqual({}, answer.body['server'][base.PARAMETER])

    def test_a_version_in_the_header_wins(self):
        self.assertEqual(406, self.create(extension='7.0').status)

    @pytest.mark.smoke
    def test_an_older_compute_needs_the_entry(self):
        for compute in (None, '2.1', '2.89'):
            answer = self.create({'hw_disk_bus': 'scsi'}, compute=compute,
                                 extension=None)
            self.assert_refused(answer, 400,
                                {base.PARAMETER: 'version_missing'})
        server = self.boot({'hw_disk_bus': 'scsi'})
        answer = self.http('GET', f'/servers/{server}', compute='2.89',
                           extension=None)
        self.assertNotIn(base.PARAMETER, answer.body['server'])
        self.assertEqual('compute 2.89', answer.headers[versions.HEADER])

    def test_a_rebuild_in_an_older_compute_needs_the_entry(self):
        server = self.boot()
        answer = self.act(server, {'rebuild': {
            'imageRef': base.IMAGE, base.PARAMETER: {}}}, compute='2.89',
            extension=None)
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual({base.PARAMETER: 'version_missing'}, answer.problems)

    def test_versions_that_nova_does_not_have_are_refused_by_nova(self):
        for compute, status in (('2.9999', 406), ('2', 400), ('x', 400)):
            answer = self.create({'hw_disk_bus': 'scsi'}, compute=compute,
                                 extension=None)
            self.assertEqual(status, answer.status, answer.text)


class RefusedFromACompute(base.TestCase):
    BUILD = False
    OPTIONS = {'allowed_properties': [], 'compute_microversion': '2.1'}

    def test_the_same_validation_and_rules_judge_the_parameter(self):
        self.assert_refused(
            self.create({'hw_disk_bus': 'floppy', 'vm_mode': 'hvm'},
                        extension=None),
            400, {'hw_disk_bus': 'invalid_value', 'vm_mode': 'legacy_name'})
        self.assert_refused(
            self.create({'hw_disk_bus': 'scsi'}, extension=None), 403,
            {'hw_disk_bus': 'not_allowed'})

    def test_the_legacy_api_has_no_microversions(self):
        body = self.server_body({'hw_disk_bus': 'scsi'})
        del body['server']['networks']
        for headers in ({}, {versions.HEADER: 'compute 2.93'}):
            answer = self.http('POST', '/servers', body, api='v2',
                               compute=None, extension=None, headers=headers)
            self.assert_refused(answer, 400, {base.PARAMETER: 'not_here'})
            self.assertNotIn(versions.SERVICE_TYPE, answer.headers.get(
                versions.HEADER, ''))


class Options(nodb.TestCase):
    def read(self, **options):
        self.override(**options)
        return client_compatibility.ClientCompatibility.from_options(
            base.CONF.image_override
        )

    def test_both_options_are_off_by_default(self):
        self.assertFalse(self.read().scheduler_hint)
        self.assertIsNone(self.read().compute)

    def test_the_bounds_are_novas(self):
        newest = api_version_request.max_api_version().get_string()
        for text in ('2.1', newest):
            self.assertEqual(text, self.read(
                compute_microversion=text).compute.get_string())

    def test_a_microversion_that_nova_lacks_stops_the_start(self):
        newest = api_version_request.max_api_version()
        for text in ('', 'latest', '2', '2.0', '1.1', '3.0', '2.x', '2.090',
                     f'2.{newest.ver_minor + 1}', '2.' + '9' * 5000):
            error = self.assertRaises(
                errors.StartupError, self.read, compute_microversion=text)
            self.assertIn('[image_override] compute_microversion', str(error))
            self.assertIn(f'2.1 to {newest.get_string()}', str(error))
            self.assertNotIn('\n', str(error))
            self.assertLess(len(str(error)), 300)
