"""NUMA, large pages, pinning: what an override does, by flavor and image.

An override, an image's own property and a flavor's extra spec that say the
same build the same guest, wherever Nova takes them. Which flavors take an
override is the table of docs/source/reference/nfv.rst; run with
WRITE_SAMPLES=1 and PROOF=full to rewrite it.
"""
from __future__ import annotations

import collections.abc
import csv
import dataclasses
import os
import pathlib
import typing
import xml.etree.ElementTree as ET

from nova import objects
import pytest

from testing import figures
from testing.cases import values
from testing.harness import nfv_hosts
from tests.proof import built
from tests.proof import nfv

#: In the short form, one ask in so many.
_SHARE = 1 if figures.FULL else 11
TRIED = nfv.ASKS[::_SHARE]

TABLE = (pathlib.Path(__file__).parents[2]
         / 'docs' / 'source' / 'samples' / 'nfv-outcomes.csv')


@dataclasses.dataclass(frozen=True)
class Found:
    """What became of a request.

    :ivar outcome: ACTIVE, ERROR with the fault, or a refusal's status and
        codes
    :ivar numa: the NUMA nodes that Nova has planned, on those of the host
    :ivar shown: the parts of the guest's definition that are compared
    """

    outcome: str
    values: dict[str, str] = dataclasses.field(
        default_factory=dict, compare=False)
    numa: typing.Any = None
    shown: tuple[str, ...] = ()


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

    def setUp(self) -> None:
        super().setUp()
        self._found: dict[str, Found] = {}

    def hardware(self, host: str) -> dict[str, typing.Any]:
        return nfv_hosts.hardware() if host == nfv.SMT else \
            nfv_hosts.hardware(threads=1, devices=0)

    def traits(self, host: str) -> tuple[str, ...]:
        return (_trait(host),)

    def found(
        self, ask: nfv.Ask, specs: nfv.Properties,
        image: nfv.Properties, overrides: nfv.Properties | None = None,
    ) -> Found:
        """Ask for a server, look at it and delete it; once for each."""
        key = f'{ask.name} {specs} {image} {overrides}'
        if key not in self._found:
            self._found[key] = self._try(ask, specs, image, overrides)
        return self._found[key]

    def _try(
        self, ask: nfv.Ask, specs: nfv.Properties,
        image: nfv.Properties, overrides: nfv.Properties | None,
    ) -> Found:
        answer = self.create(
            overrides, image=self.image(**_arguments(image)),
            flavor=self._flavor_of(ask, specs),
            server={'networks': ask.networks})
        if answer.status != 202:
            assert answer.status == 400, answer.text
            return Found(' '.join(
                ['400', *sorted({*answer.problems.values()})]))
        server_id = answer.body['server']['id']
        outcome = self._built(server_id).outcome
        found = Found(outcome)
        if outcome == 'ACTIVE':
            stored = self.system_metadata(server_id)
            guest = self.guest(server_id)
            found = Found(
                outcome, {name: stored[name] for name in overrides or ()},
                _numa(self.instance(server_id)), tuple(
                    _text(element) for path in ask.shown
                    for element in guest.findall(path)))
        self.delete(server_id)
        return found

    def _flavor_of(self, ask: nfv.Ask, specs: nfv.Properties) -> str:
        key = f'{specs} {ask.host}'
        if key not in self._flavors:
            self._flavors[key] = self.flavor(nfv.VCPUS, nfv.RAM, **_arguments(
                {**specs, f'trait:{_trait(ask.host)}': 'required'}))
        return self._flavors[key]


def _trait(host: str) -> str:
    return 'CUSTOM_' + host.upper().replace('-', '_')


def _arguments(pairs: nfv.Properties) -> dict[str, str]:
    """Return names in the form of the harness's keyword arguments."""
    return {name.replace(':', '__') if ':' in name
            else name.replace('.', '__'): value
            for name, value in pairs.items()}


def _numa(instance: objects.Instance) -> typing.Any:
    """Return the nodes of a server as Nova has placed them."""
    topology = instance.numa_topology
    return topology and [
        (cell.id, cell.cpuset, cell.pcpuset, cell.memory, cell.pagesize,
         cell.cpu_policy, cell.cpu_thread_policy) for cell in topology.cells]


def _text(element: ET.Element) -> str:
    return ET.tostring(element, encoding='unicode').strip()


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[Cloud]:
    with Cloud.running() as running:
        yield running


@pytest.fixture(params=TRIED, ids=lambda ask: ask.name)
def ask(request: pytest.FixtureRequest) -> nfv.Ask:
    return request.param


@pytest.fixture(scope='module')
def rows() -> collections.abc.Iterator[list[list[str]]]:
    """The table; it is written anew from what is put into it."""
    if 'WRITE_SAMPLES' not in os.environ:
        yield list(csv.reader(TABLE.read_text().splitlines()))[1:]
        return
    found: list[list[str]] = []
    yield found
    with TABLE.open('w') as file:
        csv.writer(file, lineterminator='\n').writerows([_HEAD, *found])


_HEAD = ['Override', 'Every flavor has', 'Taken by flavors with',
         'Refused by flavors with']


def _spelled(pairs: nfv.Properties, without: nfv.Properties) -> str:
    return ', '.join(
        f'``{name}={value}``' for name, value in pairs.items()
        if name not in without) or 'nothing of it'


def _asked(ask: nfv.Ask) -> list[str]:
    needs = _spelled(ask.needs, {}) if ask.needs else ''
    if ask.host == nfv.NO_SMT:
        needs += '; hosts have no hardware threads'
    return [_spelled({**ask.asked, **ask.along}, {}), needs]


def _row(ask: nfv.Ask, cloud: Cloud) -> list[str]:
    taken, refused = [], []
    for specs in nfv.flavors(ask):
        outcome = overridden(cloud, ask, specs).outcome.partition(':')[0]
        flavor = _spelled(specs, ask.needs)
        if outcome == 'ACTIVE':
            taken.append(flavor)
        else:
            refused.append(f'{flavor}: {outcome.removeprefix("400 ")}')
    return [*_asked(ask), '; '.join(taken), '; '.join(refused)]


def overridden(
    cloud: Cloud, ask: nfv.Ask, specs: nfv.Properties,
    image: nfv.Properties | None = None,
) -> Found:
    return cloud.found(ask, specs, image or {}, {**ask.asked, **ask.along})


@pytest.mark.smoke
def test_the_flavor_decides_whether_it_is_taken_as_the_page_says(
        ask, cloud, rows):
    row = _row(ask, cloud)
    if 'WRITE_SAMPLES' in os.environ:
        rows.append(row)
    assert row in rows


def test_the_page_has_each_of_them(rows):
    assert [row[:2] for row in rows] == [_asked(ask) for ask in nfv.ASKS]


@pytest.mark.smoke
def test_what_the_image_says_makes_no_difference(cloud, ask):
    for specs in nfv.flavors(ask):
        found = overridden(cloud, ask, specs)
        assert overridden(cloud, ask, specs, ask.other) == found, specs
        same = overridden(cloud, ask, specs, ask.asked)
        if same != found:
            # An override that repeats what the image says may do nothing.
            assert same.outcome == 'ACTIVE', specs
            assert same == cloud.found(ask, specs, ask.asked), specs


@pytest.mark.smoke
def test_override_image_and_flavor_build_the_same_guest(cloud, ask):
    wanted = {**ask.asked, **ask.along}
    for specs in nfv.flavors(ask):
        found = overridden(cloud, ask, specs)
        if found.outcome != 'ACTIVE':
            continue
        assert found.values == {
            name: values.CATALOG.resolve(name).canonical(value)
            for name, value in wanted.items()}, specs
        assert found == cloud.found(ask, specs, wanted), specs
        assert found == cloud.found(
            ask, {**specs, **nfv.extra_specs(wanted)}, {}), specs
