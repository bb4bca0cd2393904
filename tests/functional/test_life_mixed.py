"""More rows of the map: clouds where only some computes keep overrides."""

from unittest import mock

from nova import service

from testing.harness import base
from tests.functional import life


class MixedCloud(life.Case):
    """compute1 runs the compute part, compute2 is unmodified."""

    EXTENDED_HOSTS = ('compute1',)

    def on(self, host, overrides=life.OVERRIDES):
        answer = self.http(
            'POST', '/servers', self.server_body(
                overrides, flavor=self.flavor(vcpus=4),
                availability_zone=f'nova:{host}'), admin=True)
        self.assertEqual(202, answer.status, answer.text)
        self.wait(answer.body['server']['id'])
        return answer.body['server']['id']

    def assert_refused_409(self, server, action, **kwargs):
        answer = self.act(server, action, admin=True, **kwargs)
        self.assertEqual(409, answer.status, answer.text)
        self.assertEqual({base.PARAMETER: 'host_not_ready'}, answer.problems)
        self.assertIn('nova-compute-image-override', answer.message)
        self.wait(server)
        self.assert_kept(server)

    def test_rebuild_and_rescue_need_it_on_the_servers_host(self):
        server = self.on('compute2')
        self.assert_refused_409(server, {'rebuild': {'imageRef': base.IMAGE}})
        self.assert_refused_409(server, {'rescue': {'adminPass': 'x'}})
        server = self.on('compute1')
        self.do(server, {'rebuild': {'imageRef': base.IMAGE}}, admin=True)
        self.assert_kept(server)

    def test_a_move_that_could_lose_numa_nodes_needs_it_everywhere(self):
        server = self.on('compute1')
        self.assert_refused_409(server, {'migrate': None})
        self.assert_refused_409(
            server, {'resize': {'flavorRef': self.flavor(vcpus=4, ram=2048)}})
        self.assert_refused_409(server, {'migrate': {'host': 'compute2'}})

    def test_a_move_to_a_host_that_has_it_is_made(self):
        server = self.on('compute2')
        self.do(server, {'migrate': {'host': 'compute1'}}, 'VERIFY_RESIZE',
                admin=True)
        self.do(server, {'confirmResize': None}, expected=204, admin=True)
        self.assert_kept(server)

    def test_a_move_without_numa_nodes_of_their_own_is_made(self):
        server = self.on('compute1', {'hw_disk_bus': 'scsi'})
        self.do(server, {'migrate': None}, 'VERIFY_RESIZE', admin=True)
        self.do(server, {'confirmResize': None}, expected=204, admin=True)
        self.hard_reboot(server)
        self.assertEqual('scsi', self.guest(server).find(
            'devices/disk/target').get('bus'))

    def test_servers_without_overrides_go_where_they_like(self):
        server = self.on('compute2', None)
        self.do(server, {'rebuild': {'imageRef': base.IMAGE}}, admin=True)
        self.do(server, {'migrate': None}, 'VERIFY_RESIZE', admin=True)

    def test_a_host_that_gets_it_or_loses_it_is_known_at_its_start(self):
        server = self.on('compute2')
        with mock.patch.dict(service.SERVICE_MANAGERS,
                             {'nova-compute': base.compute_command.MANAGER}):
            self.restart_compute_service('compute2')
        self.do(server, {'rebuild': {'imageRef': base.IMAGE}}, admin=True)
        self.assert_kept(server)
        self.restart_compute_service('compute2')
        self.assert_refused_409(server, {'rebuild': {'imageRef': base.IMAGE}})
