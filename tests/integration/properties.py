"""``python -m tests.integration.properties``: every value, on a real server.

For each value of each property, from the scenarios of the proof, one server
whose image says otherwise, and one that asks for the value: what becomes of it,
and in which place it can be seen that it has it. Without arguments all that is
recorded, for the documentation; properties that are named are only printed.
"""
from __future__ import annotations

import argparse
import collections.abc
import concurrent.futures
import dataclasses
import json
import pathlib
import re
import sys
import threading
import traceback

from testing import figures
from testing.cases import scenarios
from testing.cases import values
from testing.deployment import chroot
from testing.deployment import cloud
from testing.deployment import flavors
from testing.deployment import places
from testing.deployment import processes
from testing.deployment import qemu
from testing.deployment import state
from tests.integration import sights
from tests.integration import whole

#: What the hosts' nova.conf has besides: serial ports that are consoles, and
#: no pointing device that is not asked for.
_HOST = {'DEFAULT': {'pointer_model': 'ps2mouse'},
         'serial_console': {'enabled': 'true'}}

#: Properties that act when something is done with the server.
_LATER = {'hw_floppy_bus': 'rescue', 'hw_rescue_bus': 'rescue',
          'hw_rescue_device': 'rescue', 'os_admin_user': 'password',
          'os_require_quiesce': 'snapshot'}

#: Seconds in which a guest says what it is, or will never.
_PATIENCE = 120

#: How a server ends for which no host passed.
_NO_HOST = 'ERROR: No valid host was found'


@dataclasses.dataclass
class Built:
    """What became of one request for a server.

    :ivar id: empty if it was refused
    :ivar outcome: its status, with the reason of an error; or the HTTP status
        of a refusal, with its codes
    """

    id: str
    outcome: str

    @property
    def runs(self) -> bool:
        return self.outcome == 'ACTIVE'


class Bench:
    """Servers, one for each request, on hosts in an order of preference.

    :param hosts: names of the hosts
    :param is_brief: whether one guest of each property is enough
    """

    _lock = threading.Lock()
    _images: dict[str, str] = {}
    _flavors: dict[str, str] = {}

    def __init__(
        self, deployment: cloud.Cloud, hosts: collections.abc.Sequence[str],
        is_brief: bool,
    ) -> None:
        self._deployment = deployment
        self._is_brief = is_brief
        self._heard: set[str] = set()
        self._client = whole.Client(deployment, 'operator')
        self._hosts = hosts
        self._network = deployment.operator.network.find_network('net').id
        self._plain: dict[str, sights.Sight] = {}

    # --- what servers are made of -------------------------------------------

    def _image(self, properties: scenarios.Properties) -> str:
        """Return an image with a kernel and PROPERTIES."""
        key = str(sorted(properties.items()))
        with self._lock:
            if key not in self._images:
                self._images[key] = self._upload(properties)
            return self._images[key]

    def _upload(self, properties: scenarios.Properties) -> str:
        images = self._deployment.operator.image
        plain = images.find_image('guest-uefi')
        image = images.post('/images', json={
            'name': 'test-properties', 'disk_format': 'raw',
            'container_format': 'bare', 'visibility': 'public',
            'kernel_id': plain.kernel_id, 'ramdisk_id': plain.ramdisk_id,
            # The kernel's messages would be half of an emulated CPU's work.
            'os_command_line': 'console=ttyS0 quiet', **properties
        }).json()['id']
        disk = self._deployment.state.file('guest', 'disk').read_bytes()
        images.put(f'/images/{image}/file', data=disk, headers={
            'Content-Type': 'application/octet-stream'})
        return image

    def _flavor(self, scenario: scenarios.Scenario) -> str:
        specs = {name.replace('__', ':'): value
                 for name, value in scenario.specs.items()}
        name = f'test {scenario.vcpus} {specs}'
        compute = self._deployment.operator.compute
        with self._lock:
            if name not in self._flavors:
                flavors.furnish(compute, {name: flavors.Flavor(
                    scenario.vcpus, scenarios.MEMORY, specs)})
                self._flavors[name] = compute.find_flavor(name).id
            return self._flavors[name]

    # --- servers ------------------------------------------------------------

    def _build(
        self, scenario: scenarios.Scenario, image: scenarios.Properties,
        overrides: scenarios.Properties | None, host: str,
    ) -> Built:
        """Ask for a server on HOST, which the scheduler may refuse."""
        answer = self._client.send('POST', '', {'server': {
            'name': 'test-property', 'imageRef': self._image(image),
            'flavorRef': self._flavor(scenario),
            'networks': 'none' if scenario.networks == 'none' else [
                {'uuid': self._network}],
            'host': host, **({} if overrides is None else {
                whole.PARAMETER: overrides})}})
        if answer.status_code != 202:
            (fault,) = answer.json().values()
            codes = {each['code'] for each in
                     fault.get(whole.PARAMETER, {}).values()}
            return Built('', f'{answer.status_code} '
                         + (' '.join(sorted(codes)) or fault['message']))
        server = answer.json()['server']['id']
        shown = self._client.settled(server, 'ACTIVE', 'ERROR')
        return Built(server, shown['status'] if shown['status'] == 'ACTIVE'
                     else f'ERROR: {self._reason(server)}')

    def _reason(self, server: str) -> str:
        """Return why a server is in ERROR, as its host says or else Nova.

        Nova's own fault is that there was no other host to try.
        """
        said = re.compile(
            re.escape(f'[instance: {server}] ')
            + r'Failed to build and run instance: (.*(\n(?!\d+-\d+-\d+ ).*)*)')
        for host in self._deployment.hosts.values():
            if found := said.search(host.compute.log.read_text()):
                return sights.brief(found[1])
        return sights.brief(self._deployment.operator.compute.get_server(
            server).fault['message'])

    def _look(self, server: str, host: str) -> sights.Sight:
        on = self._deployment.hosts[host]
        return sights.Sight(
            sights.xml(on.virsh('dumpxml', '--inactive', server), on.topology),
            sights.process(qemu.of_server(server)),
            sights.shown(self._client.show(server)))

    def _listen(self, server: str, host: str) -> list[str]:
        """Return what a guest says; nothing if it does not within some time."""
        on = self._deployment.hosts[host]
        try:
            return processes.wait_for(
                lambda: sights.guest(on.console(server)), 'the guest',
                _PATIENCE, pause=0.5)
        except processes.NotReady:
            return []

    def _later(self, operation: str, server: str, host: str) -> str:
        """Do something with a server, and return what becomes of it."""
        client = self._client
        if operation != 'rescue':
            # Its agent answers once it has booted.
            self._listen(server, host)
        if operation == 'rescue':
            client.act(server, 'rescue', expected=200)
            status = client.settled(server, 'RESCUE', 'ERROR')['status']
            return 'ACTIVE' if status == 'RESCUE' else (
                f'ERROR at its rescue: {self._reason(server)}')
        if operation == 'snapshot':
            image = client.act(
                server, 'createImage', {'name': 'test-snapshot'}, 202
            ).json()['image_id']
            client.settled(server, 'ACTIVE')
            images = self._deployment.operator.image
            # Nova deletes what it could not fill.
            if images.get(f'/images/{image}').status_code != 200:
                return 'ACTIVE without its snapshot'
            images.delete(f'/images/{image}')
            return 'ACTIVE'
        assert operation == 'password'
        client.act(server, 'changePassword', {'adminPass': 'secret'}, 202)
        client.settled(server, 'ACTIVE')
        return 'ACTIVE'

    # --- rows ---------------------------------------------------------------

    def row(self, field: str, value: str) -> tuple[str, str]:
        """Return what becomes of a value, and where it can be seen."""
        for host in self._hosts:
            outcome, seen = self._on(host, field, value)
            if not outcome.startswith(_NO_HOST):
                break
        return outcome, seen

    def _on(self, host: str, field: str, value: str) -> tuple[str, str]:
        name, *_ = values.names(values.CATALOG[field])
        scenario = scenarios.scenario(field, value)
        own = dict(scenario.image)
        if value in scenario.instead_of:
            own[name] = scenario.instead_of[value]
        asked = self._build(
            scenario, own, {**scenario.along, name: value}, host)
        later = _LATER.get(field, '')
        try:
            if asked.runs and later:
                asked.outcome = self._later(later, asked.id, host)
            return asked.outcome, self._where(
                field, asked, scenario, own, host) if asked.runs else ''
        finally:
            if asked.id:
                self._client.delete(asked.id)

    def _where(
        self, field: str, asked: Built, scenario: scenarios.Scenario,
        own: scenarios.Properties, host: str,
    ) -> str:
        """Return the best place in which ASKED differs from a plain server."""
        later = _LATER.get(field, '')
        seen = self._look(asked.id, host)
        key = (f'{sorted(own.items())} {self._flavor(scenario)} '
               f'{scenario.networks} {host} {later}')
        plain = self._plain.get(key)
        if plain is None or (
                plain.guest is None and self._tell(field, seen, plain)):
            other = self._build(scenario, own, None, host)
            if not other.runs:
                if other.id:
                    self._client.delete(other.id)
                return sights.OUTCOME
            try:
                if later:
                    assert self._later(later, other.id, host) == 'ACTIVE'
                plain = self._plain[key] = self._look(other.id, host)
                if self._tell(field, seen, plain):
                    plain.guest = self._listen(other.id, host)
            finally:
                self._client.delete(other.id)
        if self._tell(field, seen, plain):
            seen.guest = self._listen(asked.id, host)
        place = seen.differs(plain)
        if place == sights.GUEST:
            self._heard.add(field)
        return place

    def _tell(
        self, field: str, one: sights.Sight, other: sights.Sight,
    ) -> bool:
        """Return whether guests are asked what distinguishes them.

        One that is rescued has no serial console any more: Nova leaves out
        ports that are defined already (_serial_ports_already_defined).
        """
        if self._is_brief and field in self._heard:
            return False
        return _LATER.get(field) in ('password', 'snapshot') or (
            field not in _LATER and one.process != other.process)


def _prepare(deployment: cloud.Cloud) -> None:
    """Permit everything, and give the hosts what properties act on.

    What a run that was interrupted has left goes.
    """
    deployment.nova_api.rules = {'allowed_properties': '*'}
    deployment.nova_api.restart()
    deployment.barbican.up()
    for number, host in enumerate(deployment.hosts.values()):
        first = 19000 + 100 * number
        host.more = {**_HOST, 'serial_console': {
            **_HOST['serial_console'], 'port_range': f'{first}:{first + 99}'}}
        host.restart_compute()
    deployment.wait_for_hosts()
    client = whole.Client(deployment, 'operator')
    for server in places.created(deployment):
        client.delete(server.id)


#: Property -> value -> what becomes of it, and where it can be seen.
Rows = dict[str, dict[str, tuple[str, str]]]


def run(
    deployment: cloud.Cloud, fields: collections.abc.Sequence[str],
    is_brief: bool, known: Rows, keep: collections.abc.Callable[[Rows], object],
) -> None:
    """Add the rows of properties to those that are known.

    :param is_brief: whether one guest of each property is enough
    :param keep: called with all of them whenever there is one more
    """
    hosts = [*deployment.hosts]
    benches = [Bench(deployment, order, is_brief)
               for order in [hosts, hosts[::-1]] * 2]
    lock = threading.Lock()

    def some(turn: int) -> None:
        bench = benches[turn]
        for field in fields[turn::len(benches)]:
            for value in values.taken(values.CATALOG[field]):
                if value in known.get(field, {}):
                    continue
                try:
                    row = bench.row(field, value)
                except Exception:
                    # An hour's work is not given up for one value.
                    traceback.print_exc()
                    continue
                print(f'{field}={value}', *row, sep='\t', flush=True)
                with lock:
                    known.setdefault(field, {})[value] = row
                    keep(known)

    with concurrent.futures.ThreadPoolExecutor(len(benches)) as pool:
        # Raises what was raised.
        for _ in pool.map(some, range(len(benches))):
            pass


def _grouped(
    field: str, rows: Rows,
) -> list[dict[str, str | list[str]]]:
    """Return a property's rows, one for all values that have the same."""
    groups: dict[tuple[str, str], list[str]] = {}
    for value in values.taken(values.CATALOG[field]):
        groups.setdefault(tuple(rows[field][value]), []).append(value)
    return [{'values': found, 'outcome': outcome, 'seen': seen}
            for (outcome, seen), found in groups.items()]


def main() -> None:
    """Run, and record what is found."""
    fields = [field for field, prop in values.CATALOG.items()
              if not prop.record.never]
    parser = argparse.ArgumentParser(prog='properties', description=__doc__)
    parser.add_argument('fields', nargs='*', metavar='PROPERTY',
                        help='those to try and print, by default all')
    parser.add_argument('--brief', action='store_true',
                        help='wait for one guest of each property only')
    given = parser.parse_args()
    deployment = cloud.Cloud(state.State.default())
    _prepare(deployment)
    # A run of all that is interrupted goes on where it was.
    kept = deployment.state.file('properties.json')
    rows: Rows = {}
    if not given.fields and kept.exists():
        rows = json.loads(kept.read_text())
    run(deployment, given.fields or fields, given.brief, rows,
        lambda rows: given.fields or kept.write_text(json.dumps(rows)))
    if missing := [field for field in given.fields or fields if len(
            rows.get(field, {})) < len(values.taken(values.CATALOG[field]))]:
        sys.exit(f'Without {", ".join(missing)}: run it again')
    if given.fields:
        return
    debian = _debian(deployment)
    figures.record(f'properties-debian{debian}', {
        'debian': debian, 'versions': _versions(deployment)}, [
            {'property': field, **group} for field in fields
            for group in _grouped(field, rows)])
    kept.unlink()


def _debian(deployment: cloud.Cloud) -> str:
    """Return which release of Debian has the hosts' libvirt and QEMU."""
    root = chroot.folder(deployment.state) or pathlib.Path('/')
    return re.findall('VERSION_ID="(.*)"', (
        root / 'etc' / 'os-release').read_text())[0]


def _versions(deployment: cloud.Cloud) -> str:
    """Return those of libvirt and QEMU."""
    told = deployment.hosts['compute1'].virsh('version', '--daemon')
    hypervisor, daemon = re.findall('(?:hypervisor|daemon): (.*)', told)
    return f'libvirt {daemon}, {hypervisor}'


if __name__ == '__main__':
    main()
