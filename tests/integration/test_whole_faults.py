"""Whatever is killed before whatever statement, every server stays usable.

For each statement of a change, nova-api is killed before it, or MariaDB. Then
the server is used through the API only: it must agree with itself, with its
former overrides or with the new ones.
"""

import contextlib
import itertools

import pytest

from nova_image_override.api.change import store
from nova_image_override.server_record import ServerRecord
from testing import figures
from testing.deployment import mortal
from testing.deployment import places
from testing.deployment import processes
from tests.integration import whole

pytestmark = pytest.mark.skipif(
    not figures.FULL, reason='make proof-faults')

#: What is killed; MariaDB is started again once the answer is there, or before
#: the statement, which meets a connection that is lost.
FAULTS = {'nova-api': 'nova-api killed', 'mariadb': 'MariaDB killed',
          'restart': 'MariaDB killed and restarted at once'}

#: Seconds in which nova-conductor takes up a rebuild that has been sent to it.
TAKEN_UP = 6


@pytest.fixture(scope='module')
def mortal_api(deployment):
    """A nova-api that :mod:`.mortal` kills."""
    api = mortal.NovaAPI(deployment.state, 'nova-api-1')
    api.restart()
    yield api
    api.kill()


class Update:
    """An update of a stopped server; the same steps do for the others."""

    STATUS, UNUSE, USE = 'SHUTOFF', 'os-stop', ('os-start', 'ACTIVE')

    def __init__(self, deployment, everywhere, image):
        self.deployment = deployment
        self.everywhere = everywhere
        self.client = whole.Client(deployment)
        self.operator = whole.Client(deployment, 'operator')
        self.mortal = whole.Client(deployment, service='nova-api-1')
        self.image = image
        self.flavor = deployment.operator.compute.find_flavor('small').id
        self.server = None

    def prepare(self):
        """Return to a server in that state that has the one set."""
        if self.server is None:
            self.server = self.client.boot(self.image, self.flavor)
        shown = self.client.settled(self.server)
        if shown['status'] == 'ACTIVE':
            self.client.do(self.server, self.UNUSE, self.STATUS)
        if shown[whole.PARAMETER] != whole.ONE:
            self.client.update(self.server, whole.ONE, 200)

    def send(self, **headers):
        return self.mortal.update(self.server, whole.OTHER, **headers)

    def is_cut_off(self):
        """Return whether something is left to do, and let its time be over."""
        instance = self.everywhere.instance(self.server)
        if instance.task_state is not None:
            # Until its lease is over, it could still be on its way.
            assert instance.task_state == store.TASK_STATE
            self.client.update(self.server, {}, 409)
            self.deployment.mariadb.execute(
                'UPDATE nova_cell1.instances SET updated_at = updated_at - '  # noqa: S608
                f'INTERVAL {store.LEASE + 1} SECOND '
                f"WHERE uuid = '{self.server}'")
        return instance.task_state is not None or bool(
            ServerRecord.of(instance).unfinished)

    def again(self):
        """Change it again."""
        self.client.update(self.server, {}, 200)

    def found(self, number):
        """Send one of four requests, by turns, and return what it finds."""
        if number % 4 == 3:
            self.client.delete(self.server)
            self.server = None
            return 'deleted'
        if number % 4 == 2:
            self.again()
        elif number % 4 == 1:
            self.client.do(self.server, *self.USE)
        overrides = self.everywhere.agree(self.client.show(self.server))
        if number % 4 == 2:
            assert overrides == {}
            return 'changed again'
        assert overrides in (whole.ONE, whole.OTHER)
        return 'finished' if overrides == whole.OTHER else 'as before'


class Offloaded(Update):
    STATUS, UNUSE, USE = places.OFFLOADED, 'shelve', ('unshelve', 'ACTIVE')


class Rebuild(Update):
    """A rebuild that is cut off stays "rebuilding", as in Nova."""

    # Once that is reset it is "active", and its guest is not there.
    USE = ('reboot', 'ACTIVE', {'type': 'HARD'})

    def send(self, **headers):
        return self.mortal.rebuild(
            self.server, self.image, whole.OTHER, **headers)

    def is_cut_off(self):
        with contextlib.suppress(processes.NotReady):
            processes.wait_for(
                lambda: self.everywhere.is_taken_up(self.server),
                'nova-conductor', TAKEN_UP)
            self.client.settled(self.server, 'SHUTOFF', 'ERROR')
        instance = self.everywhere.instance(self.server)
        if instance.task_state is None and instance.vm_state != 'error':
            return bool(ServerRecord.of(instance).unfinished)
        self.operator.act(
            self.server, 'os-resetState', {'state': 'active'}, 202)
        return True

    def again(self):
        def is_accepted():
            answer = self.client.rebuild(self.server, self.image, {})
            assert answer.status_code in (202, 409), answer.text
            return answer.status_code == 202

        # libvirt says late that a guest has stopped: by then the operator has
        # made the server active, and nova-compute stops it.
        processes.wait_for(is_accepted, 'a rebuild')
        self.client.settled(self.server, 'ACTIVE', 'SHUTOFF')

    def found(self, number):
        if self.client.settled(self.server)['status'] == 'SHUTOFF':
            return super().found(0)
        if number % 4 == 0:
            self.everywhere.agree(
                self.client.show(self.server), is_built=False)
            number = 1
        return super().found(number)


@pytest.mark.parametrize('fault', FAULTS)
@pytest.mark.parametrize(('what', 'operation'), [
    ('update, stopped', Update), ('update, offloaded', Offloaded),
    ('rebuild, stopped', Rebuild)], ids=['update', 'offloaded', 'rebuild'])
def test_every_server_is_usable_whichever_statement_is_the_last(
        deployment, everywhere, mortal_api, whole_image, what, operation,
        fault):
    case = operation(deployment, everywhere, whole_image)
    found = []
    left = 0
    for number in itertools.count(1):
        case.prepare()
        answer = case.send(**{mortal.HEADER: f'{fault} {number}'})
        if deployment.mariadb.pid is None:
            deployment.mariadb.up()
        if answer is not None and answer.status_code < 300 and (
                int(answer.headers[mortal.COUNT]) < number):
            break
        assert (answer is None) == (fault == 'nova-api')
        is_cut_off = case.is_cut_off()
        # Where nothing is left to do, every next request finds the same.
        found.append(case.found(left if is_cut_off else 0))
        left += is_cut_off
        print(what, fault, number, answer, is_cut_off, found[-1], flush=True)
    if case.server:
        case.client.delete(case.server)
    figures.add('faults', {f'{what}, {FAULTS[fault]}': (
        f'{len(found)} statements, {left} times something was left to the next '
        'request: ' + ', '.join(
            f'{found.count(each)} {each}' for each in sorted({*found})))})
