"""What NFV users ask for, with which flavors and images.

Each :class:`Ask` is tried with a flavor that says nothing about it, that says
the same and that says something else, and with an image that does.
"""

import collections.abc
import dataclasses

Properties = collections.abc.Mapping[str, str]

#: Hosts of tests.proof.test_nfv.Cloud: with hardware threads, and without.
SMT, NO_SMT = 'smt', 'no-smt'

#: The size of every flavor. Pages of 1 GiB divide it, and so do two nodes.
VCPUS, RAM = 4, 2048


@dataclasses.dataclass(frozen=True)
class Ask:
    """Overrides that are asked for together.

    :ivar asked: overrides, which image and flavor may have themselves
    :ivar other: what image and flavor say when they contradict
    :ivar along: overrides that go with them
    :ivar needs: extra specs that every flavor has besides its own
    :ivar flavors: extra specs of further flavors
    :ivar alone: only the flavor that says nothing about it is tried
    :ivar shown: the parts of the domain XML that show what becomes of it
    :ivar host: where it is built
    :ivar networks: what the request says about networks
    """

    asked: Properties
    other: Properties
    along: Properties = dataclasses.field(default_factory=dict)
    needs: Properties = dataclasses.field(default_factory=dict)
    flavors: tuple[Properties, ...] = ()
    alone: bool = False
    shown: tuple[str, ...] = ()
    host: str = SMT
    networks: str = 'none'

    @property
    def name(self) -> str:
        """What distinguishes it from other asks."""
        return ' '.join([
            *(f'{name}={value}' for name, value
              in {**self.asked, **self.along}.items()),
            *(f'({name}={value})' for name, value in self.needs.items()),
            self.host])


def extra_specs(properties: Properties) -> dict[str, str]:
    """Return the extra specs that say the same as image properties."""
    return {name.replace('_', ':', 1): value
            for name, value in properties.items()}


def flavors(ask: Ask) -> list[Properties]:
    """Return the extra specs of the flavors with which an ask is tried."""
    found: list[Properties] = []
    for specs in ({}, extra_specs(ask.asked), extra_specs(ask.other),
                  *ask.flavors)[:1 if ask.alone else None]:
        if {**ask.needs, **specs} not in found:
            found.append({**ask.needs, **specs})
    return found


_NODES = ('cpu/numa', 'numatune')
_PAGES = ('memoryBacking', 'cpu/numa')
_PINS = ('cputune',)
_DEDICATED = {'hw:cpu_policy': 'dedicated'}
_CPUS = {'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3'}
_EVEN_CPUS = {'hw_numa_cpus.0': '0-1', 'hw_numa_cpus.1': '2-3'}
_MEM = {'hw_numa_mem.0': '512', 'hw_numa_mem.1': '1536'}
_EVEN_MEM = {'hw_numa_mem.0': '1024', 'hw_numa_mem.1': '1024'}
_TWO = {'hw_numa_nodes': '2'}

_NUMA = (
    Ask(_TWO, {'hw_numa_nodes': '1'}, shown=_NODES),
    Ask(_CPUS, _EVEN_CPUS, along={**_TWO, **_EVEN_MEM},
        shown=_NODES),
    Ask(_CPUS, _EVEN_CPUS, alone=True, shown=_NODES),
    Ask(_MEM, _EVEN_MEM, along={**_TWO, **_EVEN_CPUS},
        shown=_NODES),
    Ask(_MEM, _EVEN_MEM, alone=True, shown=_NODES),
)


def _pages(size: str, other: str) -> Ask:
    return Ask({'hw_mem_page_size': size},
        {'hw_mem_page_size': other}, shown=_PAGES,
        flavors=tuple({'hw:mem_page_size': each} for each in ('any', 'large')))


_MEMORY = (
    _pages('2MB', 'small'), _pages('1GB', '2048'), _pages('large', 'small'),
    _pages('any', 'small'), _pages('small', '2048'),
    *(Ask({'hw_locked_memory': asked},
          {'hw_locked_memory': other}, needs={'hw:mem_page_size': 'large'},
          shown=('memoryBacking',))
      for asked, other in (('true', 'false'), ('false', 'true'))),
    Ask({'hw_locked_memory': 'true'},
        {'hw_locked_memory': 'false'}, alone=True,
        shown=('memoryBacking',)),
)


def _threads(
    policy: str, other: str, host: str = SMT, *, alone: bool = False,
) -> Ask:
    return Ask({'hw_cpu_thread_policy': policy},
               {'hw_cpu_thread_policy': other}, needs=_DEDICATED, alone=alone,
               shown=('cputune', 'cpu/topology'), host=host)


_PINNING = (
    *(Ask({'hw_cpu_policy': policy},
          {'hw_cpu_policy': other}, shown=_PINS)
      for policy, other in (('dedicated', 'shared'), ('shared', 'dedicated'))),
    Ask({'hw_cpu_policy': 'mixed'},
        {'hw_cpu_policy': 'dedicated'},
        needs={'hw:cpu_dedicated_mask': '^0-1'}, shown=_PINS),
    Ask({'hw_cpu_policy': 'mixed'},
        {'hw_cpu_policy': 'dedicated'}, alone=True, shown=_PINS),
    _threads('require', 'isolate'), _threads('prefer', 'require'),
    _threads('isolate', 'require', NO_SMT),
    _threads('isolate', 'require', alone=True),
    Ask({'hw_cpu_thread_policy': 'require'},
        {'hw_cpu_thread_policy': 'isolate'}, alone=True, shown=_PINS),
    Ask({'hw_emulator_threads_policy': 'isolate'},
        {'hw_emulator_threads_policy': 'share'}, needs=_DEDICATED),
    Ask({'hw_cpu_realtime_mask': '^0-1'},
        {'hw_cpu_realtime_mask': '^0'},
        needs={**_DEDICATED, 'hw:cpu_realtime': 'yes'},
        shown=('cputune', 'memoryBacking')),
    Ask({'hw_cpu_realtime_mask': '^0-1'},
        {'hw_cpu_realtime_mask': '^0'}, needs=_DEDICATED, alone=True,
        shown=_PINS),
)

_DEVICES = (
    *(Ask({'hw_pci_numa_affinity_policy': policy},
          {'hw_pci_numa_affinity_policy': other},
          needs={'pci_passthrough:alias': 'nic:1', **_DEDICATED},
          shown=('devices/hostdev', 'numatune'))
      for policy, other in (
          ('required', 'preferred'), ('preferred', 'legacy'),
          ('socket', 'required'))),
    *(Ask({'hw_vif_multiqueue_enabled': asked},
          {'hw_vif_multiqueue_enabled': other}, networks='auto',
          shown=('devices/interface/driver',))
      for asked, other in (('true', 'false'), ('false', 'true'))),
)


def _topology(part: str, asked: str, other: str) -> Ask:
    return Ask({f'hw_cpu_{part}': asked}, {f'hw_cpu_{part}': other},
               flavors=({f'hw:cpu_max_{part}': '1'},),
               shown=('cpu/topology',))


def _limit(part: str, prefers: str) -> Ask:
    name = f'hw_cpu_max_{part}'
    return Ask({name: '2'}, {name: '1'},
               needs={f'hw:cpu_{part}': prefers},
               flavors=(extra_specs({name: '4'}),), shown=('cpu/topology',))


_TOPOLOGY = (
    _topology('sockets', '2', '1'), _topology('cores', '2', '4'),
    _topology('threads', '2', '1'),
    _limit('sockets', '4'), _limit('cores', '4'), _limit('threads', '2'),
)

_ALL = {**_TWO, **_CPUS, **_EVEN_MEM, 'hw_mem_page_size': '1GB',
        'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'require'}

#: Everything at once, with a flavor that leaves it to image and user, or
#: settles one thing.
_TOGETHER = (
    Ask(_ALL, {**_ALL, **_EVEN_CPUS, 'hw_mem_page_size': 'small'},
        flavors=({'hw:mem_page_size': 'any'},
                 {'hw:mem_page_size': 'large', **_DEDICATED},
                 {'hw:mem_page_size': 'any', 'hw:numa_nodes': '2'}),
        shown=('memoryBacking', 'cputune', 'numatune', 'cpu/numa')),
)

ASKS = (*_NUMA, *_MEMORY, *_PINNING, *_DEVICES, *_TOPOLOGY, *_TOGETHER)
