"""/os-volumes_boot: the servers by another path."""

from unittest import mock

from nova.api.openstack.compute import routes
from nova.api.openstack.compute import servers
import pytest

from nova_image_override import errors
from nova_image_override import metadata_keys
from testing import release
from testing.harness import base

SCSI = {'hw_disk_bus': 'scsi'}

#: Nova 33 and 34 have a controller of its own for it, which takes no body: it
#: passes it by position, and Nova's validation takes it by name.
IS_NOVA_S = hasattr(routes, 'volumes_boot_controller')


class Cloud(base.Cloud):
    EXTENDED_HOSTS = ('compute1',)

    def get(self, path, **kwargs):
        return self.http('GET', f'/os-volumes_boot{path}', **kwargs)

    def post(self, path, body, **kwargs):
        return self.http('POST', f'/os-volumes_boot{path}', body, **kwargs)


class TestVolumesBoot:
    @pytest.mark.smoke
    def test_servers_are_shown_and_listed_as_at_servers(self, cloud):
        server = cloud.boot(SCSI)
        cloud.boot()
        for compute in release.microversions('2.1', '2.50', '2.75', '2.98'):
            named = cloud.get(f'/{server}', compute=compute)
            assert named.body['server'][base.PARAMETER] == SCSI
            for path in ('', '/detail'):
                answer = cloud.get(
                    f'{path}?image_props_override=hw_disk_bus&limit=1',
                    compute=compute)
                assert [each['id'] for each in answer.body['servers']] == [
                    server]
                (link,) = answer.body['servers_links']
                assert 'image_props_override=hw_disk_bus' in link['href']
            assert answer.body['servers'][0][base.PARAMETER] == SCSI

    def test_the_record_is_not_shown(self, cloud):
        server = cloud.boot(SCSI)
        for compute in release.microversions('2.93', '2.98'):
            answer = cloud.get(f'/{server}', compute=compute, extension=None)
            assert 'hw_disk_bus' in answer.text or compute == '2.93'
            assert metadata_keys.SET_PREFIX not in answer.text

    @pytest.mark.skipif(not IS_NOVA_S, reason='a clone of /servers')
    def test_it_ends_where_nova_ends_it(self, cloud):
        for path in ('', '/detail', f'/{base.IMAGE}'):
            for extension in (base.LATEST, None):
                assert cloud.get(path, compute='2.103',
                                 extension=extension).status == 404

    def test_overrides_are_taken_as_far_as_nova_takes_a_body(self, cloud):
        body = cloud.server_body(SCSI)
        cloud.assert_refused(cloud.post('', body, extension=None), 400, {
            base.PARAMETER: errors.VERSION_MISSING})
        if IS_NOVA_S:
            for sent in (body, cloud.server_body()):
                assert cloud.post('', sent).status == 500
            cloud.assert_nothing_created()
        else:
            server = cloud.created(cloud.post('', body))
            assert cloud.system_metadata(server)['hw_disk_bus'] == 'scsi'

    def test_a_rebuild_keeps_the_overrides(self, cloud):
        server = cloud.boot(SCSI)
        method = servers.ServersController.wsgi_actions['rebuild']
        rebuild = getattr(servers.ServersController, method)

        def by_name(self, req, id, body):
            return rebuild(self, req=req, id=id, body=body)

        with mock.patch.object(servers.ServersController, method, by_name):
            cloud.post(f'/{server}/action', {'rebuild': {
                'imageRef': base.IMAGE}}, extension=None).expect(202)
        cloud.wait(server)
        assert cloud.show(server)[base.PARAMETER] == SCSI
        assert cloud.system_metadata(server)['hw_disk_bus'] == 'scsi'

    def test_the_legacy_api_creates_nothing_with_it(self, cloud):
        body = cloud.server_body(SCSI)
        # The legacy API knows no "none".
        del body['server']['networks']
        cloud.post('', body, api='v2', compute=None).expect(400)
        cloud.assert_nothing_created()
