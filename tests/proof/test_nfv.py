"""NUMA, large pages, pinning: what an override does, by flavor and image.

The record, docs/source/contributor/figures/nfv-NN.json, is what the page
docs/source/reference/nfv.rst shows. Here it is compared with servers that are
really built. A full run tries each row and writes the record again; it fails
if a code, a value or a guest is not the recorded one.
"""

import collections
import collections.abc
import dataclasses
import json
import typing
import xml.etree.ElementTree as ET

from nova import objects
from nova.virt import hardware
import pytest

from testing import release
from testing.harness import nfv_hosts
from tests.proof import built
from tests.proof import figures
from tests.proof import nfv
from tests.proof import nfv_record
from tests.proof import values

#: In the short form, one row in so many.
_SHARE = 1 if figures.FULL else 11
TRIED = nfv.ROWS[::_SHARE]


@dataclasses.dataclass(frozen=True)
class Found:
    """What became of a request.

    :ivar outcome: ACTIVE, ERROR with the fault, or the status of a refusal
    :ivar problems: name -> code and reason, for a refusal
    :ivar values: name -> value in force, for the overrides
    :ivar numa: the nodes that Nova has planned, on those of the host
    :ivar xml: the parts of the guest's definition that are shown
    """

    outcome: str
    problems: dict[str, dict[str, str]] = dataclasses.field(
        default_factory=dict)
    values: dict[str, str] = dataclasses.field(default_factory=dict)
    numa: list[dict[str, str]] = dataclasses.field(default_factory=list)
    xml: list[str] = dataclasses.field(default_factory=list)

    def recorded(self) -> nfv_record.Json:
        """Return it without what is empty."""
        return {name: value for name, value in
                dataclasses.asdict(self).items() if value}


class Cloud(built.Cloud):
    """Two hosts with large pages, with and without hardware threads.

    The former has a PCI device on node 1.
    """

    HOSTS = (nfv.SMT, nfv.NO_SMT)
    ADDITIONAL_FILTERS: typing.ClassVar = [
        *built.Cloud.ADDITIONAL_FILTERS, 'PciPassthroughFilter']
    _OPTIONS: typing.ClassVar = {
        **built.Cloud._OPTIONS,
        'compute': nfv_hosts.CPU_SETS,
        'pci': nfv_hosts.PCI,
    }

    def hardware(self, host: str) -> dict[str, typing.Any]:
        return nfv_hosts.hardware() if host == nfv.SMT else \
            nfv_hosts.hardware(threads=1, devices=0)

    def traits(self, host: str) -> tuple[str, ...]:
        return (_trait(host),)

    def try_row(self, row: nfv.Row) -> Found:
        """Ask for the server of a row, look at it and delete it."""
        ask = row.ask
        answer = self.create(
            {**ask.asked, **ask.along},
            image=self.image(**_arguments(row.image)),
            flavor=self._flavor_of(row), server={'networks': ask.networks})
        if answer.status != 202:
            assert answer.problems, answer.text
            return Found(str(answer.status), {
                name: {'code': code, 'reason': built.anonymous(
                    answer.reasons[name])}
                for name, code in answer.problems.items()})
        server_id = answer.body['server']['id']
        found = self._found(ask, server_id)
        self.delete(server_id)
        return found

    def _flavor_of(self, row: nfv.Row) -> str:
        key = f'{row.flavor} {row.ask.host}'
        if key not in self._flavors:
            self._flavors[key] = self.flavor(nfv.VCPUS, nfv.RAM, **_arguments(
                {**row.flavor, f'trait:{_trait(row.ask.host)}': 'required'}))
        return self._flavors[key]

    def _found(self, ask: nfv.Ask, server_id: str) -> Found:
        outcome = self._built(server_id).outcome
        if outcome != 'ACTIVE':
            return Found(outcome)
        stored = self.system_metadata(server_id)
        guest = self.guest(server_id)
        return Found(
            outcome, values={name: stored[name] for name in ask.asked},
            numa=_numa(self.instance(server_id)), xml=[
                _text(element) for path in ask.shown
                for element in guest.findall(path)])


def _trait(host: str) -> str:
    return 'CUSTOM_' + host.upper().replace('-', '_')


def _arguments(pairs: nfv.Properties) -> dict[str, str]:
    """Return names in the form of the harness's keyword arguments."""
    return {name.replace(':', '__').replace('.', '__') if ':' not in name
            else name.replace(':', '__'): value
            for name, value in pairs.items()}


def _numa(instance: objects.Instance) -> list[dict[str, str]]:
    """Return the nodes of a server as Nova has placed them."""
    topology = instance.numa_topology
    found = []
    for cell in topology.cells if topology else ():
        values = {
            'host node': cell.id,
            'shared vCPUs': hardware.format_cpu_spec(cell.cpuset),
            'dedicated vCPUs': hardware.format_cpu_spec(cell.pcpuset or ()),
            'MiB': cell.memory, 'KiB of a page': cell.pagesize,
            'CPU policy': cell.cpu_policy,
            'thread policy': cell.cpu_thread_policy}
        found.append({name: str(value) for name, value in values.items()
                      if value not in (None, '')})
    return found


def _text(element: ET.Element) -> str:
    ET.indent(element)
    return ET.tostring(element, encoding='unicode').strip()


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[Cloud]:
    with Cloud.running() as running:
        yield running


@pytest.fixture(scope='module')
def record() -> list[nfv_record.Json]:
    """What is recorded for the running release."""
    path = figures.FOLDER / f'nfv-{release.NUMBER}.json'
    return json.loads(path.read_text())['asks'] if path.exists() else []


@pytest.mark.smoke
def test_the_record_is_what_is_built(cloud, record):
    results = [(row, cloud.try_row(row).recorded()) for row in TRIED]
    outcomes = collections.Counter(
        found['outcome'].partition(':')[0] for _, found in results)
    figures.record('nfv', {
        'tried': len(results), **outcomes, 'asks': nfv_record.of(results)})
    for row, found in results:
        recorded = nfv_record.found_in(record, row)
        assert nfv_record.without_reasons(found) == (
            nfv_record.without_reasons(recorded)), row


def test_an_override_that_is_taken_makes_one_guest_whatever_the_image_says(
        record):
    guests: dict[str, set[int]] = collections.defaultdict(set)
    for ask in record:
        for row in ask['rows']:
            if row['answer']['outcome'] == 'ACTIVE':
                guests[f'{ask["name"]} {row["flavor"]}'].add(
                    row['answer'].get('guest', -1))
    assert guests
    for place, found in guests.items():
        assert len(found) == 1, place


def test_what_is_taken_is_in_force(record):
    for row in nfv.ROWS:
        found = nfv_record.found_in(record, row)
        assert set(found.get('values', row.ask.asked)) == set(row.ask.asked)
        for name, value in found.get('values', {}).items():
            prop = values.CATALOG.resolve(name)
            assert value == prop.canonical(row.ask.asked[name]), row
