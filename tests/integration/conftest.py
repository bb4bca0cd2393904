"""The running cloud, and its users."""

import itertools

import pytest

from testing.deployment import cloud
from testing.deployment import command
from testing.deployment import fake_host
from testing.deployment import guest
from testing.deployment import hugepages
from testing.deployment import places
from testing.deployment import processes
from testing.deployment import state
from testing.deployment import tenants
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
    images = deployment.operator.image
    plain = images.find_image('guest')
    image = images.create_image(
        'test-whole', filename=str(guest.Guest(deployment.state).disk),
        disk_format='raw', container_format='bare', visibility='public',
        allow_duplicates=True, kernel_id=plain.kernel_id,
        ramdisk_id=plain.ramdisk_id, **whole.OWN)
    yield image.id
    images.delete_image(image)


@pytest.fixture(scope='session')
def everywhere(deployment):
    """All that is stored of servers."""
    return whole.Everywhere(deployment)


@pytest.fixture(scope='module')
def fake_zone(deployment):
    """A zone without QEMU."""
    compute = deployment.operator.compute
    host = fake_host.Host(deployment.state)
    host.up()
    processes.wait_for(
        lambda: any(each.name == host.host for each in compute.hypervisors()),
        host.host)
    # A run that was cut off has left it, with a host that is no more.
    if left := compute.find_aggregate('fake'):
        for each in left.hosts:
            compute.remove_host_from_aggregate(left, each)
        compute.delete_aggregate(left)
    aggregate = compute.create_aggregate(name='fake', availability_zone='fake')
    compute.add_host_to_aggregate(aggregate, host.host)
    yield
    compute.remove_host_from_aggregate(aggregate, host.host)
    compute.delete_aggregate(aggregate)
    host.kill()
    (service,) = compute.services(binary='nova-compute', host=host.host)
    compute.delete_service(service)
