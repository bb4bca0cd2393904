"""Pages and CPUs stay with their guest for as long as it lives, no longer."""

from nova import objects
import pytest
import sqlalchemy

from testing.deployment import hugepages
from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import topology
from tests.integration import nfv as look

#: In two nodes, every huge page and every dedicated CPU of a host.
WHOLE_HOST = {
    'hw_numa_nodes': '2', 'hw_cpu_policy': 'dedicated',
    'hw_mem_page_size': 'large'}

pytestmark = pytest.mark.usefixtures('huge_pages')


def usages(deployment):
    """Return what placement has allocated on each host."""
    placement = deployment.operator.placement
    return {
        provider.name: placement.get(
            f'/resource_providers/{provider.id}/usages').json()['usages']
        for provider in placement.resource_providers()}


def free(deployment):
    """Return the free huge pages of each host: by node, and the kernel's."""
    return {name: (host.free_pages(), host.kernel_free_pages())
            for name, host in deployment.hosts.items()}


def counted(deployment):
    """Return the pinned CPUs and used huge pages that the scheduler knows of.

    After a move, what Nova has counted for it stays until its next periodic
    task if the server is shelved or deleted before that
    (ResourceTracker.update_usage does not know a server that came as a
    migration).
    """
    objects.register_all()
    engine = sqlalchemy.create_engine(
        settings.database(deployment.state, 'nova_cell1'))
    with engine.connect() as connection:
        topologies = connection.execute(sqlalchemy.text(
            'SELECT numa_topology FROM compute_nodes WHERE deleted = 0'))
        cells = [cell for text, in topologies for cell in
                 objects.NUMATopology.obj_from_db_obj(text).cells]
    engine.dispose()
    return sum(len(cell.pinned_cpus) for cell in cells), sum(
        pages.used for cell in cells for pages in cell.mempages
        if pages.size_kb == hugepages.SIZE)


def all_free(deployment):
    """Wait until nothing is in use, which Nova reports before it is true."""
    each = hugepages.PER_NODE

    def reached():
        return counted(deployment) == (0, 0) and all(
            pages == ([each] * topology.NODES, each * topology.NODES)
            for pages in free(deployment).values()) and all(
            used['PCPU'] == used['VCPU'] == used['MEMORY_MB'] == 0
            for used in usages(deployment).values())

    processes.wait_for(reached, 'pages and CPUs', 120)


def test_reboot_rebuild_and_rescue_keep_them(boot):
    server = boot(look.EVERYTHING, who='nfv', flavor='nfv')
    before = server.process.pid
    server.do('reboot', '--hard')
    assert server.process.pid != before
    look.check_everything(server)
    server.do('rebuild', '--image', 'guest')
    look.check_everything(server)
    server.do('rescue', until='RESCUE')
    look.check_everything(server)
    server.do('unrescue')
    look.check_everything(server)


def test_migration_and_shelving_take_them_along(deployment, boot, operator):
    server = boot(look.EVERYTHING, who='nfv', flavor='nfv')
    server.migrate(operator)
    look.check_everything(server)
    server.offload()
    all_free(deployment)
    server.do('unshelve')
    look.check_everything(server)


def test_what_a_guest_had_is_free_when_it_is_deleted(
        deployment, boot, operator):
    all_free(deployment)
    server = boot(look.EVERYTHING, who='nfv', flavor='nfv')
    host = server.host
    small, large = look.nodes(server.domain)
    # The host counts twice a second.
    processes.wait_for(
        lambda: {small: 128 - 32, large: 128 - 96} == dict(
            enumerate(free(deployment)[host][0])), 'the count', 10)
    assert free(deployment)[host][1] == 256 - 128
    used = usages(deployment)[host]
    assert (used['PCPU'], used['VCPU'], used['MEMORY_MB']) == (4, 0, 256)
    server.run('delete', '--wait')
    all_free(deployment)


def test_a_neighbour_who_asks_for_more_than_is_left_takes_nothing(
        deployment, boot):
    all_free(deployment)
    first = boot(WHOLE_HOST, who='nfv', flavor='nfv.host')
    pid, pins = first.process.pid, look.pins(first.domain)
    assert set.union(*pins) == look.dedicated(0, 1)
    assert first.process.huge_pages() == {0: 128, 1: 128}
    # On the other host.
    second = boot(WHOLE_HOST, who='neighbour', flavor='nfv.host')
    assert {first.host, second.host} == set(deployment.hosts)
    assert second.process.huge_pages() == {0: 128, 1: 128}
    # On neither host: pages with shared CPUs, then CPUs with small pages.
    for overrides in ({'hw_mem_page_size': 'large'},
                      {'hw_cpu_policy': 'dedicated'}):
        late = boot(overrides, who='neighbour', flavor='nfv', wait=False)
        late.settled('ERROR')
        assert 'No valid host' in late.fault
        assert late.api == overrides
    # What is left is for those who ask for neither.
    boot({'hw_mem_page_size': 'small'}, who='neighbour', flavor='nfv')
    assert first.process.pid == pid
    assert look.pins(first.domain) == pins
    assert first.process.huge_pages() == {0: 128, 1: 128}
    look.check_affinity(first.domain, first.process)
    assert first.told.cpus == 8
