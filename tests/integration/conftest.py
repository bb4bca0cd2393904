"""The cloud that runs, and its people."""

import itertools

import pytest

from tests.integration import command
from tests.integration import places
from tests.integration.rig import cloud
from tests.integration.rig import processes
from tests.integration.rig import state
from tests.integration.rig import tenants


@pytest.fixture(scope='session')
def rig():
    """The cloud; ``make cloud-up`` has started it."""
    running = cloud.Cloud(state.State.default())
    if running.nova_api.pid is None:
        pytest.fail('the cloud does not run: make cloud-up')
    return running


@pytest.fixture(scope='session')
def people(rig):
    """name -> ``openstack`` as that one."""
    return {name: command.Openstack(rig.state, name)
            for name in tenants.PEOPLE}


@pytest.fixture(scope='session')
def tenant(people):
    return people['tenant']


@pytest.fixture(scope='session')
def nfv(people):
    return people['nfv']


@pytest.fixture(scope='session')
def operator(people):
    return people['operator']


@pytest.fixture
def boot(rig, people):
    """Create servers that are gone after the test."""
    numbers = itertools.count()

    def create(overrides, *options, who='tenant', image='guest',
               flavor='small', wait=True):
        words = itertools.chain.from_iterable(
            ('--image-prop-override', f'{name}={value}')
            for name, value in overrides.items())
        shown = people[who].json(
            'server', 'create', '--image', image, '--flavor', flavor,
            '--no-network', *words, *options, f'test-{next(numbers)}')
        server = places.Server(rig, people[who], shown['id'])
        if wait:
            server.settled('ACTIVE')
        return server

    yield create
    # Also those of which the answer was lost.
    if left := [server.id for server in places.created(rig)]:
        people['operator']('server', 'delete', '--force', *left)
        processes.wait_for(
            lambda: not places.created(rig), 'the end of servers', 120)
