"""Of two requests at once, one to each of two nova-api, one wins or both agree.

The two are separate processes on one MariaDB.
"""

import os

import pytest

from testing import figures
from testing.deployment import flavors
from testing.deployment import nova
from tests.integration import pairs
from tests.integration import whole

pytestmark = pytest.mark.skipif(not figures.FULL, reason='make proof-races')

#: How many pairs of each kind meet on the host without guests, and on those
#: with QEMU.
PAIRS = int(os.environ.get('PAIRS', '20'))
WITH_QEMU = max(2, PAIRS // 50)
ZONES = {'fake': (PAIRS, 'without guests'), 'nova': (WITH_QEMU, 'QEMU')}


@pytest.fixture(scope='module')
def apis(deployment):
    """Two nova-api."""
    result = [nova.NovaAPI(deployment.state, f'nova-api-{number}')
              for number in (1, 2)]
    for api in result:
        api.WORKERS = 1
        api.restart()
    yield [whole.Client(deployment, service=api.name) for api in result]
    for api in result:
        api.kill()


@pytest.fixture(scope='module', autouse=True)
def furnished(deployment):
    flavors.furnish(deployment.operator.compute, pairs.FLAVORS)


@pytest.mark.parametrize('zone', ZONES)
@pytest.mark.parametrize('kind', pairs.KINDS)
def test_of_two_at_once_one_wins_or_both_agree(
        deployment, everywhere, apis, fake_zone, whole_image, kind, zone):
    number, where = ZONES[zone]
    answers = pairs.meet(
        deployment, everywhere, apis, whole_image, kind, zone, number)
    both = sum(count for pair, count in answers.items() if max(pair) < 300)
    print(kind, zone, dict(answers), flush=True)
    figures.add('races', {
        f'update and {kind}: {where}':
        f'{number} pairs: {both} both, {number - both} one'})
