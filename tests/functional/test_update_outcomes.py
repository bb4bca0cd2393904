"""The table of :doc:`/user/later`: the outcomes of an update, state by state.

Run with WRITE_SAMPLES=1 to rewrite it.
"""

import csv
import io

from nova.compute import vm_states

from tests.functional import samples
from tests.functional import update_case

#: Class of properties -> one such change, to a server without overrides.
CHANGES = {
    'Devices, UEFI, kernel arguments': {'hw_video_model': 'vga'},
    'Secure Boot, stateless firmware': {
        'hw_firmware_type': 'uefi', 'hw_machine_type': 'q35',
        'os_secure_boot': 'required'},
    'Bus of the disks': {'hw_disk_bus': 'sata'},
    'NUMA, pages, CPU policy': update_case.NUMA,
    'What a host must have': {'trait:CUSTOM_GOLD': 'required'},
    'vTPM': {'hw_tpm_version': '2.0', 'hw_tpm_model': 'tpm-crb'},
    'PCI affinity': {'hw_pci_numa_affinity_policy': 'required'},
}

AT_START, AT_UNSHELVE = 'next start', 'unshelving'


class Cloud(update_case.Cloud):
    def outcomes(self, server, acts):
        """Yield the outcome of each change of SERVER; all are taken back.

        :param acts: when an accepted change acts
        """
        for overrides in CHANGES.values():
            answer = self.update(server, overrides)
            if answer.status == 200:
                yield f'acts at the {acts}'
                assert self.update(server, {}).status == 200
            else:
                codes = {f' ``{code}``' for code in answer.problems.values()}
                yield f'{answer.status}{"".join(codes)}'

    def rows(self):
        """Yield each state, and the outcomes of the changes in it."""
        yield 'BUILD', [*self.outcomes(self.unbuilt(), None)]
        server = self.boot()
        for state, vm_state in (
                ('ACTIVE', vm_states.ACTIVE), ('PAUSED', vm_states.PAUSED),
                ('SUSPENDED', vm_states.SUSPENDED),
                ('RESCUE', vm_states.RESCUED),
                ('VERIFY_RESIZE', vm_states.RESIZED),
                ('SHELVED', vm_states.SHELVED), ('ERROR', vm_states.ERROR)):
            self.change(server, vm_state=vm_state)
            yield state, [*self.outcomes(server, None)]
        server = self.stopped()
        yield 'SHUTOFF', [*self.outcomes(server, AT_START)]
        self.act(server, {'lock': None})
        yield 'SHUTOFF, locked', [*self.outcomes(server, AT_START)]
        yield 'SHELVED_OFFLOADED', [
            *self.outcomes(self.offloaded(), AT_UNSHELVE)]
        server = self.stopped()
        self.act(server, {'forceDelete': None})
        yield 'deleted', [*self.outcomes(server, None)]


class TestOutcomes:
    def test_the_table_says_what_comes_of_each(self, cloud):
        text = io.StringIO()
        table = csv.writer(text, lineterminator='\n')
        table.writerow(['State', *CHANGES])
        for state, outcomes in cloud.rows():
            table.writerow([state, *outcomes])
        samples.compare(
            'update-outcomes.csv', text.getvalue().rstrip('\n'))
