"""A host as NFV deployers set one up: large pages and dedicated CPUs.

Two NUMA nodes, each of 8 CPUs, half of them dedicated, and with 4 GiB in pages
of 4 KiB, of 2 MiB and of 1 GiB each. The second has a PCI device: newer
releases keep other servers from such a node, older ones start with the first.
"""

import json
import typing

from nova.tests.fixtures import libvirt as fakelibvirt

#: Options of ``[compute]``.
CPU_SETS: typing.Final = {'cpu_shared_set': '0-3,8-11',
                          'cpu_dedicated_set': '4-7,12-15'}

_DEVICE = {'vendor_id': fakelibvirt.PCI_VEND_ID,
           'product_id': fakelibvirt.PCI_PROD_ID}

#: Options of ``[pci]``; flavors ask for the device by its alias.
PCI: typing.Final = {'device_spec': [json.dumps(_DEVICE)],
                     'alias': [json.dumps({**_DEVICE, 'name': 'nic'})]}

#: Size in KiB and number of the pages on each node.
_PAGES = [(4, 1 << 20), (2048, 2048), (1 << 20, 4)]


def hardware(threads: int = 2, devices: int = 1) -> dict[str, typing.Any]:
    """Return what Nova's fake libvirt says about the host.

    :param threads: how many each core has
    :param devices: how many PCI devices the second node has
    """
    return {'host_info': _host_info(threads),
            'pci_info': fakelibvirt.HostPCIDevicesInfo(
                num_pci=devices, num_pfs=0, num_vfs=0, numa_node=1)}


def _host_info(threads: int) -> fakelibvirt.HostInfo:
    info = fakelibvirt.HostInfo(
        cpu_nodes=2, cpu_sockets=1, cpu_cores=8 // threads,
        cpu_threads=threads, kB_mem=24 << 20, mempages={
            node: fakelibvirt.create_mempages(_PAGES) for node in (0, 1)})
    # Nova's harness has 16 CPUs online and takes at most 15
    # (ServersTestBase._get_connection); what is built reads the nodes.
    info.cpus -= 1
    return info
