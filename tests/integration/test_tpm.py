"""A vTPM of a real guest: swtpm, with a key in Barbican."""

import pytest

from testing.deployment import command
from tests.integration import firmware
from tests.integration.tpm import check
from tests.integration.tpm import TPM

pytestmark = pytest.mark.usefixtures('barbican')


def test_a_tpm_from_create_lasts_as_long_as_the_server(boot, delete):
    server = boot(TPM, image=firmware.IMAGE)
    check(server)
    server.do('reboot', '--hard')
    check(server)
    others = {**TPM, 'hw_machine_type': 'q35'}
    firmware.restart(server, others)
    check(server, others)
    server.do('resize', '--flavor', 'uefi', until='VERIFY_RESIZE')
    server.do('resize', 'confirm')
    check(server, others)
    delete(server)


def test_a_server_with_a_tpm_never_loses_it(boot, delete, operator):
    server = boot(TPM, image=firmware.IMAGE)
    for action in (['shelve'], ['rescue'], ['migrate', '--live-migration'],
                   ['rebuild', '--no-image-prop-override']):
        with pytest.raises(command.Refused, match='not supported for vTPM'):
            operator('server', *action, server.id)
    server.do('stop', until='SHUTOFF')
    for overrides in ({}, {**TPM, **firmware.SECURE}):
        with pytest.raises(command.Refused, match='boot another server'):
            firmware.change(server, overrides)
    assert server.api == TPM
    delete(server)


def test_only_its_owner_can_start_a_server_with_a_tpm(
        boot, delete, deployment, operator):
    server = boot(TPM, image=firmware.IMAGE)
    server.do('stop', until='SHUTOFF')
    operator('server', 'start', server.id)
    server.settled('SHUTOFF')
    events = operator.json('server', 'event', 'list', server.id)
    assert events[0]['Action'] == 'start'
    assert server.id not in deployment.hosts[server.host].virsh(
        'list', '--uuid')
    server.do('start')
    check(server)
    delete(server)


def test_an_offloaded_server_is_given_a_tpm(boot, delete):
    server = boot({}, image=firmware.IMAGE)
    server.do('stop', until='SHUTOFF')
    with pytest.raises(command.Refused, match='shelve it first'):
        firmware.change(server, TPM)
    server.offload()
    firmware.change(server, TPM)
    server.do('unshelve')
    check(server)
    delete(server)


def test_a_rebuild_does_not_give_a_tpm(boot):
    server = boot({})
    with pytest.raises(command.Refused, match='hw_tpm_version: create_only'):
        server.run('rebuild', *command.overriding(TPM))
    assert server.api == {}
