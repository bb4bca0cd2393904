"""README's commands, typed on a real cloud, give a guest that answers."""

import re
import shlex

import pytest

from testing.deployment import flavors
from testing.deployment import guest
from testing.deployment import places
from testing.deployment import state


@pytest.fixture
def as_in_the_readme(deployment, tenant):
    """The image and the flavor that README names."""
    operator = deployment.operator
    plain = operator.image.find_image('guest')
    image = operator.image.create_image(
        'debian', filename=str(guest.Guest(deployment.state).disk),
        disk_format='raw', container_format='bare', visibility='public',
        kernel_id=plain.kernel_id, ramdisk_id=plain.ramdisk_id,
        hw_disk_bus='virtio')
    flavors.furnish(operator.compute, {'two-cpus': flavors.Flavor(2, 256)})
    yield
    tenant('server', 'delete', '--wait', name())
    operator.image.delete_image(image)
    operator.compute.delete_flavor(
        operator.compute.find_flavor('two-cpus'))


def commands():
    """Yield the words of each of README's commands, and what it prints."""
    shown = re.search('```console\n(.*?)```', (
        state.ROOT / 'README.md').read_text(), re.S)[1].replace('\\\n', '')
    for command in re.split(r'^\$ ', shown, flags=re.M)[1:]:
        line, _, printed = command.partition('\n')
        yield shlex.split(line)[1:], printed


def name():
    """Return the name of README's server, the last word of its create."""
    words, _ = next(commands())
    return words[-1]


@pytest.mark.short
def test_the_first_example(as_in_the_readme, deployment, tenant):
    for words, printed in commands():
        assert tenant(*words) == printed
    shown = tenant.json('server', 'show', name())
    server = places.Server(deployment, tenant, shown['id'])
    assert server.told.disks == ['sda']
    controller = server.domain.find('devices/controller[@type="scsi"]')
    assert controller.get('model') == 'virtio-scsi'
