"""What can be seen of a server in each place, less what each has of its own."""
from __future__ import annotations

import dataclasses
import re
import typing
import xml.etree.ElementTree as ET

from testing.deployment import places
from testing.deployment import qemu
from testing.deployment import topology as topology_module

#: Where a difference can be seen, the best first. A guest tells what it is;
#: QEMU is started with it; libvirt has only stored it; nova-api says so. Or
#: there is no other server to compare it with: without what is asked for it is
#: not built.
GUEST, PROCESS, XML, API, OUTCOME = (
    'guest', 'process', 'XML', 'API', 'outcome')

# What nova-api says of a server that follows from its image's properties.
_SHOWN = ('OS-DCF:diskConfig', 'config_drive')

# What two servers of one request differ in.
_OWN = re.compile(
    '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'  # identifiers
    '|instance-[0-9a-f]{8}|domain-[0-9]+-|fa:16:3e(?::[0-9a-f]{2}){3}'
    '|tap[0-9a-f]{8}-[0-9a-f]{2}|/fdset/[0-9]+|set=[0-9]+'
    '|"?(?:vhost)?fds?"?[=:]"?[0-9:]+"?|127[.]0[.]0[.]1:[0-9]+'
    '|(?<=[ ,]port=)["\']?[0-9]+|"port":"[0-9]+"|(?<=service=")[0-9]+')


def _common(text: str) -> str:
    return _OWN.sub('\N{HORIZONTAL ELLIPSIS}', text)


@dataclasses.dataclass
class Sight:
    """One server that runs.

    :ivar xml: the domain, as libvirt has stored it
    :ivar process: QEMU's command line; on how many CPUs it may run each vCPU,
        and how they are scheduled; whether its memory is locked or huge
    :ivar shown: what nova-api says of it
    :ivar guest: what the guest says, if it was waited for; empty if it says
        nothing
    """

    xml: str
    process: list[str]
    shown: list[str]
    guest: list[str] | None = None

    def differs(self, other: Sight) -> str:
        """Return the best place where they differ; empty if there is none."""
        if self.guest and other.guest is not None and (
                self.guest != other.guest):
            return GUEST
        if self.process != other.process:
            return PROCESS
        if self.xml != other.xml:
            return XML
        return API if self.shown != other.shown else ''


def xml(text: str, topology: topology_module.Topology) -> str:
    """Return a domain's XML without notes on the server and places of CPUs.

    Which CPU of many a guest is given, and on which node, depends on who else
    is there; not on how many cores of its host those are.
    """
    domain = ET.fromstring(text)
    if (notes := domain.find('metadata')) is not None:
        domain.remove(notes)
    pins = [pin.get('cpuset', '') for pin in domain.findall('cputune/vcpupin')]
    if all(map(str.isdigit, pins)):
        domain.set('cores', str(topology.cores(map(int, pins))))
    for pin in domain.findall('cputune/*[@cpuset]'):
        pin.set('cpuset', str(_count(pin.get('cpuset', ''))))
    for node in domain.findall('numatune/*[@nodeset]'):
        node.set('nodeset', '')
    return _common(ET.tostring(domain, encoding='unicode'))


def _count(cpus: str) -> int:
    """Return how many CPUs a list has, which is as libvirt writes it."""
    ends = [part.split('-') for part in cpus.split(',')]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in ends)


def process(of: qemu.Process) -> list[str]:
    """Return what is seen of QEMU."""
    threads = sorted(
        f'{thread.name} {len(thread.cpus)} {thread.scheduler} '
        f'{thread.priority}' for thread in of.threads()
        if thread.name.startswith('CPU '))
    return [*(re.sub(r'"host-nodes":\[[0-9]\]', '', _common(word))
              for word in of.command), *threads,
            f'locked: {of.locked() > 0}',
            f'huge pages: {sum(of.huge_pages().values())}']


def shown(server: dict[str, typing.Any]) -> list[str]:
    """Return what nova-api says of a server, which is as it shows it."""
    return [f'{key} {server[key]}' for key in _SHOWN]


def guest(console: str) -> list[str] | None:
    """Return what a guest's console says; None if it is not complete."""
    told = places.Told.read(console)
    if told is None:
        return None
    # The kernel's own part of a node's memory is not always the same.
    return sorted(re.sub(
        '(?<=^node )(.*) ([0-9]+)$',
        lambda node: f'{node[1]} {int(node[2]) >> 14}', _common(line))
        for line in told.lines)


_UUID = re.compile(
    ' ?(for instance )?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')


def brief(reason: str) -> str:
    """Return a reason without identifiers; if QEMU has ended, in its words."""
    *_, words = re.split(
        r'[-\d]+T[:.\d]*Z qemu-[^:]*: (?!warning)|^libvirt[.]libvirtError: ',
        _UUID.sub('', reason))
    return re.sub(r'[{]"driver":"([^"]*)"[^}]*[}]', r'\1',
                  ' '.join(words.split()))
