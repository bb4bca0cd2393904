"""The running cloud, and its users."""

import contextlib
import itertools

import pytest

from testing.deployment import cloud
from testing.deployment import command
from testing.deployment import fake_host
from testing.deployment import hugepages
from testing.deployment import places
from testing.deployment import processes
from testing.deployment import state
from testing.deployment import tenants
from tests.integration import outage
from tests.integration import whole


@pytest.fixture(scope='session')
def deployment():
    """The cloud; ``make cloud-up`` has started it."""
    running = cloud.Cloud(state.State.default())
    if running.nova_api.pid is None:
        pytest.fail('the cloud does not run: make cloud-up')
    return running


@pytest.fixture(scope='session')
def users(deployment):
    """name -> ``openstack`` as that user."""
    return {name: command.Openstack(deployment.state, name)
            for name in tenants.USERS}


@pytest.fixture(scope='session')
def tenant(users):
    return users['tenant']


@pytest.fixture(scope='session')
def nfv(users):
    return users['nfv']


@pytest.fixture(scope='session')
def operator(users):
    return users['operator']


@pytest.fixture(scope='session')
def huge_pages(deployment):
    """Those of the compute hosts; skips if the kernel gave none."""
    if not deployment.huge_pages.there:
        pytest.skip(hugepages.NONE)
    return deployment.huge_pages


@pytest.fixture
def cleared(deployment, operator):
    """Let no server that a test creates outlive it."""
    yield
    # Including those whose answer was lost.
    if left := [server.id for server in places.created(deployment)]:
        operator('server', 'delete', '--force', *left)
        processes.wait_for(
            lambda: not places.created(deployment), 'the end of servers', 120)


@pytest.fixture
def boot(deployment, users, cleared):
    """Create servers that are gone after the test."""
    numbers = itertools.count()

    def create(overrides, *options, who='tenant', image='guest',
               flavor='small', network=None, wait=True):
        shown = users[who].json(
            'server', 'create', '--flavor', flavor,
            *(('--image', image) if image else ()),
            *(('--network', network) if network else ('--no-network',)),
            *command.overriding(overrides), *options, f'test-{next(numbers)}')
        server = places.Server(deployment, users[who], shown['id'])
        if wait:
            server.settled('ACTIVE')
        return server

    return create


@pytest.fixture
def refused(boot):
    """Return the error that somebody gets who asks for what cannot be."""
    def refuse(overrides, **how):
        with pytest.raises(command.Refused) as caught:
            boot(overrides, **how)
        return str(caught.value)

    return refuse


@pytest.fixture
def evacuated(deployment, operator):
    """Evacuate a server from its host, which has no power meanwhile."""
    @contextlib.contextmanager
    def evacuate(server):
        failed = deployment.hosts[server.host]
        service = failed.name, 'nova-compute'

        def is_taken_back():
            # Nova refuses that until the host has done away with what is left
            # of the server there (ServiceController._check_for_evacuations).
            try:
                operator('compute', 'service', 'set', '--up', *service)
            except command.Refused:
                return False
            return True

        failed.fail()
        operator('compute', 'service', 'set', '--down', *service)
        try:
            operator('server', 'evacuate', server.id)
            # Since compute 2.95 it is left to its user to start it.
            server.settled('SHUTOFF')
            assert server.host != failed.name
            server.do('start')
            yield
        finally:
            failed.up()
            processes.wait_for(is_taken_back, failed.name)
            deployment.wait_for_hosts()
        assert server.id not in failed.virsh(
            'list', '--all', '--uuid').split()

    return evacuate


@pytest.fixture
def imported(deployment, tenant, operator):
    """An image that the tenant has imported."""
    def found(name):
        return operator.json('image', 'show', name)['id']

    image = tenant.json(
        'image', 'create', '--import', '--disk-format', 'raw',
        '--container-format', 'bare', '--file',
        str(deployment.state.file('guest', 'disk')), '--property',
        f'kernel_id={found("guest-kernel")}', '--property',
        f'ramdisk_id={found("guest-initrd")}', 'imported')['id']

    def done():
        shown = deployment.operator.image.get_image(image)
        assert shown.status != 'killed'
        return shown.status == 'active' and \
            'os_glance_import_task' not in shown.properties

    processes.wait_for(done, 'the import', 120)
    yield image
    operator('image', 'delete', image)


@pytest.fixture(scope='module')
def barbican(deployment):
    """Run it while a module's tests do."""
    deployment.barbican.up()
    yield
    deployment.barbican.stop()


@pytest.fixture(scope='module')
def cinder(deployment):
    """Run it, and Ceph, while a module's tests do."""
    deployment.ceph.up()
    deployment.cinder.up()
    yield
    deployment.cinder.stop()
    deployment.ceph.stop()


@pytest.fixture
def delete(tenant, barbican):
    """Delete a server as its owner, with its key, which nobody else may."""
    def wait(server):
        def keys():
            return [secret for secret in tenant.json('secret', 'list')
                    if server.id in secret['Name']]

        assert len(keys()) == 1
        tenant('server', 'delete', '--wait', server.id)
        assert not keys()

    return wait


@pytest.fixture(scope='session')
def whole_image(deployment):
    """An image with a property of its own, :data:`.whole.OWN`."""
    with whole.image_with(deployment, whole.OWN) as image:
        yield image


@pytest.fixture(scope='session')
def everywhere(deployment):
    """All that is stored of servers."""
    return whole.Everywhere(deployment)


@pytest.fixture(scope='module')
def client(deployment):
    """A user of nova-api."""
    return whole.Client(deployment)


@pytest.fixture(scope='session')
def small(deployment):
    """The flavor of most servers."""
    return deployment.operator.compute.find_flavor('small').id


@pytest.fixture
def server(client, whole_image, small):
    """One with :data:`.whole.ONE`."""
    server = client.boot(whole_image, small)
    yield server
    client.delete(server)


@pytest.fixture(scope='module')
def plain(deployment):
    """The same user of an unmodified nova-api, which runs meanwhile."""
    deployment.plain_api.up()
    yield whole.Client(deployment, service=deployment.plain_api.name)
    deployment.plain_api.kill()


@pytest.fixture(scope='module')
def fake_zone(deployment):
    """A zone without QEMU; its host."""
    compute = deployment.operator.compute
    host = fake_host.Host(deployment.state)
    host.up()
    processes.wait_for(
        lambda: host.takes_servers(deployment.operator), host.host)
    # A run that was cut off has left it, with a host that is no more.
    if left := compute.find_aggregate('fake'):
        for each in left.hosts:
            compute.remove_host_from_aggregate(left, each)
        compute.delete_aggregate(left)
    aggregate = compute.create_aggregate(name='fake', availability_zone='fake')
    compute.add_host_to_aggregate(aggregate, host.host)
    yield host
    compute.remove_host_from_aggregate(aggregate, host.host)
    compute.delete_aggregate(aggregate)
    host.kill()
    (service,) = compute.services(binary='nova-compute', host=host.host)
    compute.delete_service(service)


@pytest.fixture
def requests(
        deployment, client, plain, everywhere, fake_zone, whole_image,
        cleared):
    """What is sent while something is gone."""
    wanted = {name: value for name, value in outage.WANTED.items() if value}
    with whole.image_with(deployment, wanted) as image:
        yield outage.Outage(
            deployment, client, plain, everywhere, whole_image, image)
