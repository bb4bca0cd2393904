"""Stacks of a member, in Heat as it comes: heat-api, heat-engine, convergence
and trusts.
"""

import uuid

from openstack import exceptions
import pytest
import yaml

from testing.deployment import heat
from testing.deployment import places
from testing.deployment import processes
from testing.deployment import tenants
from tests.heat import real

STOP = {'image_props_override_update_policy': 'STOP'}


def template(overrides, **properties):
    """Return a template with one server."""
    made = yaml.safe_load(real.TEMPLATE)
    made['heat_template_version'] = '2021-04-16'
    made['resources']['guest']['properties'].update({
        'name': 'test-guest', 'image': 'guest', 'flavor': 'small',
        'image_props_override': overrides, **properties})
    return made


def group(overrides, size=0, change=1, **properties):
    """Return a template with a group, whose size a signal changes."""
    made = template(overrides)
    made['resources'] = {
        'group': {
            'type': 'OS::Heat::AutoScalingGroup',
            'properties': {'min_size': 0, 'max_size': 1,
                           'desired_capacity': size, **properties,
                           'resource': made['resources']['guest']}},
        'policy': {
            'type': 'OS::Heat::ScalingPolicy',
            'properties': {'adjustment_type': 'change_in_capacity',
                           'scaling_adjustment': change,
                           'auto_scaling_group_id': {
                               'get_resource': 'group'}}}}
    return made


@pytest.fixture(scope='module')
def member(deployment):
    """The SDK's connection of a member of the project, while Heat runs."""
    service = heat.Heat(deployment.state)
    service.up()
    yield tenants.connect(deployment.state, 'tenant')
    service.stop()


class Stack:
    """The member's one stack.

    :ivar name: its name
    :ivar shown: what Heat showed of it last; None if there is none
    """

    def __init__(self, member):
        self._heat = member.orchestration
        self.name = f'test-{uuid.uuid4()}'
        self.shown = None

    def create(self, template):
        """Return the status in which that ends."""
        self.shown = self._heat.create_stack(
            name=self.name, template=template, is_rollback_disabled=True)
        return self._settled()

    def update(self, template):
        """Return the status in which that ends."""
        self._heat.update_stack(self.shown, template=template)
        return self._settled()

    def cancel(self, template, when):
        """Give an update up once that is so; return the status."""
        self._heat.update_stack(self.shown, template=template)
        processes.wait_for(when, self.name, 60)
        self._heat.post(f'/stacks/{self.name}/{self.shown.id}/actions',
                        json={'cancel_without_rollback': None})
        return self._settled()

    def delete(self):
        """Delete it, and wait until it is gone."""
        self._heat.delete_stack(self.shown)
        self._heat.wait_for_delete(self.shown, interval=1, wait=300)
        self.shown = None

    @property
    def server(self):
        """The id of its server; None if it has none."""
        (found,) = self._heat.resources(self.shown)
        return found.physical_resource_id or None

    def _settled(self):
        def status():
            self.shown = self._heat.get_stack(self.shown.id)
            return (not self.shown.status.endswith('_IN_PROGRESS')
                    and self.shown.status)

        return processes.wait_for(status, self.name, 300)


@pytest.fixture
def stack(member, cleared):
    stack = Stack(member)
    yield stack
    if stack.shown:
        stack.delete()


@pytest.fixture
def trusts(member):
    """Return a function for the trusts that the member has given."""
    return lambda: member.identity.get('/OS-TRUST/trusts', params={
        'trustor_user_id': member.current_user_id}).json()['trusts']


def test_a_member_creates_changes_replaces_and_deletes_a_server(
        deployment, tenant, stack, trusts):
    before = trusts()
    assert stack.create(template(
        {**places.SCSI, 'hw_boot_menu': True}, **STOP)) == 'CREATE_COMPLETE'
    server = places.Server(deployment, tenant, stack.server)
    assert server.api == {**places.SCSI, 'hw_boot_menu': 'true'}
    assert server.domain.find('os/bootmenu').get('enable') == 'yes'
    assert server.told.disks == ['sda']
    # As Heat's defaults are.
    assert len(trusts()) == len(before) + 1
    assert deployment.mariadb.query(
        'SELECT convergence FROM heat.stack').split() == ['1']
    assert stack.update(template(
        {'hw_video_model': 'cirrus'}, **STOP)) == 'UPDATE_COMPLETE'
    assert stack.server == server.id
    server.settled('ACTIVE')
    assert server.api == {'hw_video_model': 'cirrus'}
    assert server.domain.find('devices/video/model').get('type') == 'cirrus'
    assert server.told.disks == ['vda']
    assert stack.update(template(
        {'hw_video_model': 'virtio'})) == 'UPDATE_COMPLETE'
    other = places.Server(deployment, tenant, stack.server)
    assert other.id != server.id
    # The update is complete before what it replaces is gone
    # (heat/engine/check_resource.py check_stack_complete).
    processes.wait_for(
        lambda: [each.id for each in places.created(deployment)] == [other.id],
        'the former server is gone', 120)
    assert other.api == {'hw_video_model': 'virtio'}
    assert other.told.display == '0x1af4 0x1050'
    stack.delete()
    assert not places.created(deployment)
    assert trusts() == before


def test_a_signal_of_somebody_else_makes_a_server_of_the_stacks_owner(
        deployment, tenant, member, stack):
    assert stack.create(group(places.SCSI)) == 'CREATE_COMPLETE'
    assert not places.created(deployment)
    tenants.connect(deployment.state, 'nfv').orchestration.post(
        f'/stacks/{stack.name}/{stack.shown.id}/resources/policy/signal')
    (created,) = processes.wait_for(
        lambda: places.created(deployment), 'the server', 60)
    assert created.user_id == member.current_user_id
    server = places.Server(deployment, tenant, created.id)
    server.settled('ACTIVE')
    assert server.api == places.SCSI
    assert server.told.disks == ['sda']


def test_a_group_shrinks_whose_servers_have_what_is_denied_now(
        deployment, member, stack):
    assert stack.create(group(places.SCSI, 1, -1)) == 'CREATE_COMPLETE'
    assert len(places.created(deployment)) == 1
    rules = dict(deployment.nova_api.rules)
    deployment.nova_api.rules['denied_properties'] = 'hw_scsi_model'
    try:
        deployment.nova_api.restart()
        assert stack.update(group(
            places.SCSI, 1, -1, max_size=2)) == 'UPDATE_COMPLETE'
        assert len(places.created(deployment)) == 1
        member.orchestration.post(
            f'/stacks/{stack.name}/{stack.shown.id}/resources/policy/signal')
        processes.wait_for(
            lambda: not places.created(deployment), 'the server', 60)
    finally:
        deployment.nova_api.rules = rules
        deployment.nova_api.restart()


def test_after_an_update_that_was_cancelled_the_next_starts_the_server(
        deployment, tenant, imported, stack):
    before, after = {'hw_video_model': 'vga'}, {'hw_video_model': 'cirrus'}
    # The guest does not heed the button.
    tenant('image', 'set', '--property', 'os_shutdown_timeout=20', imported)

    def to(overrides):
        return template(overrides, image=imported, **STOP)

    assert stack.create(to(before)) == 'CREATE_COMPLETE'
    server = places.Server(deployment, tenant, stack.server)

    def stopping():
        found = deployment.operator.compute.get_server(server.id)
        return found.task_state == 'powering-off'

    assert stack.cancel(to(after), stopping) == 'UPDATE_FAILED'
    assert stopping()
    for overrides in before, after:
        assert stack.update(to(overrides)) == 'UPDATE_COMPLETE'
        server.settled('ACTIVE')
        assert server.api == overrides


def test_a_value_that_nova_refuses_fails_the_stack_and_says_why(
        deployment, stack):
    assert stack.create(template({
        'hw_disk_bus': 'usb', 'hw_video_model': 'none'})) == 'CREATE_FAILED'
    for name in ('hw_disk_bus', 'hw_video_model'):
        assert f'{name}: value_not_allowed: ' in stack.shown.status_reason
    assert not places.created(deployment)


@pytest.mark.parametrize('closed', [
    # The list, and policy.yaml.
    'hw_rng_model', 'hw_numa_nodes'])
def test_a_property_that_the_member_may_not_override_makes_no_stack(
        member, stack, closed):
    with pytest.raises(exceptions.BadRequestException, match=(
            'image_props_override: may not be overridden in this cloud: '
            f'{closed}')):
        stack.create(template({closed: '1', 'hw_boot_menu': True}))
    assert member.orchestration.find_stack(stack.name) is None
