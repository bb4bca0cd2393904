"""More rows of the map: clouds where only some computes keep overrides."""

from unittest import mock

from nova import service

from nova_image_override import versions
from testing.harness import base
from tests.functional import life


class Cloud(life.Cloud):
    def on(self, host, overrides=life.OVERRIDES):
        return self.a_server(overrides, admin=True, server={
            'availability_zone': f'nova:{host}'})

    def assert_refused_409(self, server, action, **kwargs):
        answer = self.act(server, action, admin=True, **kwargs).expect(
            409, {base.PARAMETER: 'host_not_ready'})
        assert 'nova-compute-image-override' in answer.message
        self.wait(server)
        self.assert_kept(server)


class TestMixedCloud:
    """compute1 runs the compute part, compute2 is unmodified."""

    EXTENDED_HOSTS = ('compute1',)

    def test_rebuild_and_rescue_need_it_on_the_servers_host(self, cloud):
        server = cloud.on('compute2')
        cloud.assert_refused_409(server, {'rebuild': {'imageRef': base.IMAGE}})
        cloud.assert_refused_409(server, {'rescue': {'adminPass': 'x'}})
        server = cloud.on('compute1')
        cloud.do(server, {'rebuild': {'imageRef': base.IMAGE}}, admin=True)
        cloud.assert_kept(server)

    def test_a_move_that_could_lose_numa_nodes_needs_it_everywhere(self, cloud):
        server = cloud.on('compute1')
        cloud.assert_refused_409(server, {'migrate': None})
        cloud.assert_refused_409(
            server, {'resize': {'flavorRef': cloud.flavor(vcpus=4, ram=2048)}})
        cloud.assert_refused_409(server, {'migrate': {'host': 'compute2'}})

    def test_a_move_to_a_host_that_has_it_is_made(self, cloud):
        server = cloud.on('compute2')
        cloud.do(server, {'migrate': {'host': 'compute1'}}, 'VERIFY_RESIZE',
                 admin=True)
        cloud.confirm(server)
        cloud.assert_kept(server)

    def test_a_move_without_numa_nodes_of_their_own_is_made(self, cloud):
        server = cloud.on('compute1', {'hw_disk_bus': 'scsi'})
        cloud.migrate(server)
        cloud.confirm(server)
        cloud.hard_reboot(server)
        assert cloud.disk_bus(server) == 'scsi'

    def test_servers_without_overrides_go_where_they_like(self, cloud):
        server = cloud.on('compute2', None)
        cloud.do(server, {'rebuild': {'imageRef': base.IMAGE}}, admin=True)
        cloud.migrate(server)

    def test_a_host_that_gets_it_or_loses_it_is_known_at_its_start(self, cloud):
        server = cloud.on('compute2')
        with mock.patch.dict(service.SERVICE_MANAGERS,
                             {'nova-compute': base.compute_command.MANAGER}):
            cloud.restart_compute_service('compute2')
        cloud.do(server, {'rebuild': {'imageRef': base.IMAGE}}, admin=True)
        cloud.assert_kept(server)
        cloud.restart_compute_service('compute2')
        cloud.assert_refused_409(server, {'rebuild': {'imageRef': base.IMAGE}})

    def test_a_compute_part_older_than_nova_api_needs_does_not_count(
            self, cloud):
        server = cloud.on('compute1')
        with mock.patch.object(
                versions, 'COMPUTE_PART', versions.Version(1, 1)):
            cloud.assert_refused_409(
                server, {'rebuild': {'imageRef': base.IMAGE}})
            cloud.assert_refused_409(server, {'migrate': None})
