"""More rows of the map: moves to another cell."""

from nova.policies import servers

from tests.functional import life


class CrossCell(life.Case):
    NUMBER_OF_CELLS = 2
    CELLS = {'compute2': 'cell2'}
    POLICY = {servers.CROSS_CELL_RESIZE: 'role:admin'}


class CrossCellMoves(CrossCell):
    def test_cold_migration_to_another_cell(self):
        # What snapshots do not inherit is in no image that servers spawn from.
        self.flags(non_inheritable_image_properties=['hw_machine_type'])
        overrides = {'hw_machine_type': 'pc-q35-2.10', 'hw_disk_bus': 'scsi'}
        for server in (self.a_server(overrides),
                       self.a_volume_server(overrides)):
            source = self.instance(server).host
            self.do(server, {'migrate': None}, 'VERIFY_RESIZE', admin=True)
            self.assertNotEqual(source, self.instance(server).host)
            self.assert_machine(server)
            self.do(server, {'confirmResize': None}, expected=204, admin=True)
            for _ in range(2):
                self.assertEqual(set(overrides), set(self.record(server)))
                self.assertEqual('scsi', self.request_spec(server)[
                    'hw_disk_bus'])
                self.assert_machine(server)
                self.hard_reboot(server)


class CrossCellNuma(CrossCell):
    # The answer is that of a real cloud, which does not wait for the conductor.
    CAST_AS_CALL = False

    def test_a_server_with_numa_nodes_stays_in_its_cell(self):
        # Nova loses the NUMA topology of any server that it moves to another
        # cell; here no other host is left.
        server = self.a_server()
        source = self.instance(server).host
        self.assertEqual(
            202, self.act(server, {'migrate': None}, admin=True).status)
        self._wait_for_action_fail_completion(
            {'id': server}, 'migrate', 'cold_migrate')
        self.wait(server)
        self.assertEqual(source, self.instance(server).host)
        self.assert_kept(server)
