"""In which states of a server its overrides can be updated."""

from nova import context
from nova import objects
from nova.compute import power_state
from nova.compute import vm_states
from oslo_utils import timeutils
import pytest

from nova_image_override import errors
from nova_image_override.api.change import update

STOPPED = {'vm_state': vm_states.STOPPED, 'host': 'compute1',
           'power_state': power_state.SHUTDOWN}
OFFLOADED = {'vm_state': vm_states.SHELVED_OFFLOADED, 'host': None,
             'power_state': power_state.SHUTDOWN}


def require(fields, is_admin=False):
    update._require_state(
        context.RequestContext('user', 'project', is_admin=is_admin),
        objects.Instance(**{
            'locked': False, 'task_state': None, 'old_flavor': None,
            'system_metadata': {}, 'updated_at': timeutils.utcnow(
                with_timezone=True), **fields}))


@pytest.mark.parametrize('fields', [
    STOPPED, OFFLOADED,
    # A crash of the guest; nova-compute stops the server later.
    {**STOPPED, 'power_state': power_state.CRASHED},
    # The state that the host had noted last.
    {**OFFLOADED, 'power_state': power_state.RUNNING},
    {**OFFLOADED, 'system_metadata': {'old_vm_state': 'active'}}])
def test_nothing_of_the_server_may_run(fields):
    require(fields)


@pytest.mark.parametrize(('fields', 'said'), [
    ({'locked': True}, 'the server is locked: unlock it'),
    ({'task_state': 'powering-on'},
     'the server is in task powering-on: wait until that ends'),
    *(({'vm_state': state}, f'the server is {state}: {advice}')
      for state, advice in update.STATES.items() if advice),
    ({'vm_state': 'another'}, 'the server is another: stop it, or shelve it'),
    ({'vm_state': vm_states.SHELVED_OFFLOADED},
     'its host gives it up: try again, or unshelve it'),
    ({'system_metadata': {'old_vm_state': 'active'}},
     'its host ends a resize: try again'),
    ({'host': None}, 'the server is on no host'),
    ({'power_state': power_state.RUNNING},
     'the server is stopped: stop it, or shelve it')])
def test_else_a_refusal_says_what_to_do(fields, said):
    with pytest.raises(errors.Conflict) as caught:
        require({**STOPPED, **fields})
    (problem,) = caught.value.problems
    assert problem.code == errors.WRONG_STATE
    assert f'cannot be changed while {said}' in problem.reason


def test_an_administrator_need_not_unlock_it():
    require({**STOPPED, 'locked': True}, is_admin=True)
