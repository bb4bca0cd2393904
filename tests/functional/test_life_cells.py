"""More rows of the map: moves to another cell."""

from nova.policies import servers

from tests.functional import life


class Cloud(life.Cloud):
    NUMBER_OF_CELLS = 2
    CELLS = {'compute2': 'cell2'}
    POLICY = {servers.CROSS_CELL_RESIZE: 'role:admin'}


class TestCrossCellMoves:
    def test_cold_migration_to_another_cell(self, cloud):
        # What snapshots do not inherit is in no image that servers spawn from.
        cloud.flags(non_inheritable_image_properties=['hw_machine_type'])
        overrides = {'hw_machine_type': 'pc-q35-2.10', 'hw_disk_bus': 'scsi'}
        for server in (cloud.a_server(overrides),
                       cloud.a_volume_server(overrides)):
            source = cloud.instance(server).host
            cloud.migrate(server)
            assert cloud.instance(server).host != source
            cloud.assert_machine(server)
            cloud.confirm(server)
            for _ in range(2):
                assert set(cloud.record(server)) == set(overrides)
                assert cloud.request_spec(server)['hw_disk_bus'] == 'scsi'
                cloud.assert_machine(server)
                cloud.hard_reboot(server)


class TestCrossCellNuma:
    # The answer is that of a real cloud, which does not wait for the conductor.
    CAST_AS_CALL = False

    def test_a_server_with_numa_nodes_stays_in_its_cell(self, cloud):
        # Nova loses the NUMA topology of any server that it moves to another
        # cell; here no other host is left.
        server = cloud.a_server()
        source = cloud.instance(server).host
        assert cloud.act(server, {'migrate': None}, admin=True).status == 202
        cloud._wait_for_action_fail_completion(
            {'id': server}, 'migrate', 'cold_migrate')
        cloud.wait(server)
        assert cloud.instance(server).host == source
        cloud.assert_kept(server)
