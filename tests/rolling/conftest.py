"""The running cloud, and who uses it meanwhile."""

import os
import pathlib

import pytest

from testing.deployment import command
from testing.deployment import installation
from testing.deployment import rolling
from testing.deployment import state
from testing.deployment import tenants
from tests.rolling import traffic


@pytest.fixture(scope='module')
def deployment():
    """The cloud; ``make cloud-rolling`` has started it."""
    return rolling.Cloud(
        state.State.default(), pathlib.Path(os.environ['FORMER_PACKAGE']))


@pytest.fixture(scope='module')
def older():
    """The checkout, beside the Nova with which the cloud starts."""
    result = installation.Installation(pathlib.Path(os.environ['OLDER']))
    result.link_bindings()
    return result


@pytest.fixture(scope='module')
def tenant(deployment):
    return command.Openstack(deployment.state, 'tenant')


@pytest.fixture(scope='module')
def busy(deployment):
    """Return a function that has one more tenant use the cloud to the end."""
    started = []

    def begin(name, overrides=None):
        compute = tenants.connect(deployment.state, 'tenant').compute
        user = traffic.Tenant(compute, name, overrides)
        user.start()
        started.append(user)
        return user

    yield begin
    for user in started:
        user.finish()
