"""A compute microversion from which on no header entry of ours is needed."""

from nova.api.openstack import api_version_request
import pytest

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api import client_compatibility
from testing.harness import base
from testing.harness import nodb


class TestOpenFromACompute:
    OPTIONS = {'allowed_properties': ['*'], 'compute_microversion': '2.90'}

    @pytest.mark.smoke
    def test_create_takes_the_parameter_and_answers_show_it(self, cloud):
        for compute in ('2.90', '2.93', 'latest'):
            server = cloud.boot({'hw_disk_bus': 'scsi'}, compute=compute,
                                extension=None)
            assert cloud.shown(server, compute=compute, extension=None) == {
                'hw_disk_bus': 'scsi'}

    def test_the_microversion_may_stand_in_novas_old_header(self, cloud):
        cloud.create(
            {'hw_disk_bus': 'scsi'}, compute=None, extension=None,
            headers={'X-OpenStack-Nova-API-Version': '2.90'}).expect(202)

    def test_the_answer_names_the_version_that_it_was_given_in(self, cloud):
        answer = cloud.http('GET', '/servers/detail', extension=None)
        assert answer.headers[versions.HEADER] == (
            f'compute {cloud.COMPUTE}, {versions.SERVICE_TYPE} {base.LATEST}')

    def test_overrides_by_a_compute_version_are_of_the_newest_version(
            self, cloud):
        image = cloud.image(hw_disk_bus='scsi')
        server = cloud.boot({'hw_disk_bus': None}, image=image, extension=None)
        assert cloud.shown(server, extension=None) == {'hw_disk_bus': None}

    def test_rebuild_takes_the_parameter(self, cloud):
        server = cloud.boot({'hw_disk_bus': 'scsi'}, extension=None)
        answer = cloud.rebuild(server, {}, extension=None).expect(202)
        assert answer.body['server'][base.PARAMETER] == {}

    def test_a_version_in_the_header_wins(self, cloud):
        assert cloud.create(extension='7.0').status == 406

    @pytest.mark.smoke
    def test_an_older_compute_needs_the_entry(self, cloud):
        for compute in (None, '2.1', '2.89'):
            answer = cloud.create({'hw_disk_bus': 'scsi'}, compute=compute,
                                  extension=None)
            cloud.assert_refused(answer, 400,
                                 {base.PARAMETER: 'version_missing'})
        server = cloud.boot({'hw_disk_bus': 'scsi'})
        answer = cloud.http('GET', f'/servers/{server}', compute='2.89',
                            extension=None)
        assert base.PARAMETER not in answer.body['server']
        assert answer.headers[versions.HEADER] == 'compute 2.89'

    def test_a_rebuild_in_an_older_compute_needs_the_entry(self, cloud):
        server = cloud.boot()
        cloud.rebuild(server, {}, compute='2.89', extension=None).expect(
            400, {base.PARAMETER: 'version_missing'})

    def test_versions_that_nova_does_not_have_are_refused_by_nova(self, cloud):
        for compute, status in (('2.9999', 406), ('2', 400), ('x', 400)):
            cloud.create({'hw_disk_bus': 'scsi'}, compute=compute,
                         extension=None).expect(status)


class TestRefusedFromACompute:
    BUILD = False
    OPTIONS = {'allowed_properties': [], 'compute_microversion': '2.1'}

    def test_a_compute_version_is_refused_what_a_header_entry_is(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'floppy', 'vm_mode': 'hvm'},
                         extension=None),
            400, {'hw_disk_bus': 'invalid_value', 'vm_mode': 'legacy_name'})
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'scsi'}, extension=None), 403,
            {'hw_disk_bus': 'not_allowed'})

    def test_the_legacy_api_has_no_microversions(self, cloud):
        body = cloud.server_body({'hw_disk_bus': 'scsi'})
        del body['server']['networks']
        for headers in ({}, {versions.HEADER: 'compute 2.93'}):
            answer = cloud.http('POST', '/servers', body, api='v2',
                                compute=None, extension=None, headers=headers)
            cloud.assert_refused(answer, 400, {base.PARAMETER: 'not_here'})
            assert versions.SERVICE_TYPE not in answer.headers.get(
                versions.HEADER, '')


class Nova(nodb.Nova):
    def read(self, **options):
        self.override(**options)
        return client_compatibility.ClientCompatibility.from_options(
            base.CONF.image_override
        )


class TestOptions:
    def test_the_bounds_are_novas(self, nova):
        newest = api_version_request.max_api_version().get_string()
        for text in ('2.1', newest):
            assert nova.read(
                compute_microversion=text).compute.get_string() == text

    def test_a_microversion_that_nova_lacks_stops_the_start(self, nova):
        newest = api_version_request.max_api_version()
        for text in ('', 'latest', '2', '2.0', '1.1', '3.0', '2.x', '2.090',
                     f'2.{newest.ver_minor + 1}', '2.' + '9' * 5000):
            with pytest.raises(errors.StartupError) as error:
                nova.read(compute_microversion=text)
            assert '[image_override] compute_microversion' in str(error.value)
            assert f'2.1 to {newest.get_string()}' in str(error.value)
            assert '\n' not in str(error.value)
            assert len(str(error.value)) < 300
