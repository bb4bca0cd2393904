"""What hooks do before the commands of python-openstackclient."""

import argparse
import logging
import types

import pytest
import requests

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.client import osc
from tests.unit.client import adapters


@pytest.fixture
def command(compute):
    """A command about servers of one cloud."""
    return types.SimpleNamespace(
        app=types.SimpleNamespace(client_manager=types.SimpleNamespace(
            compute=compute, sdk_connection=types.SimpleNamespace())),
        log=logging.getLogger(__name__), take_action=lambda _: ((), ()))


@pytest.mark.parametrize('hook', [osc.Show, osc.ListServers])
@pytest.mark.parametrize('failure', [
    requests.exceptions.ReadTimeout, requests.exceptions.ConnectionError])
def test_who_asks_for_no_overrides_goes_on_if_discovery_is_not_answered(
        cloud, command, hook, failure):
    cloud.get(adapters.URL + versions.PATH, exc=failure)
    hook(command).before(argparse.Namespace(long=True))
    assert command.take_action(None) == ((), ())


def test_a_list_has_a_server_of_a_cell_that_is_down_as_one_without_a_preset(
        command):
    none = dict.fromkeys(errors.PARAMETERS)
    _, rows = osc.ListServers(command).add(
        argparse.Namespace(long=True), {'up': none}, ['ID'],
        [('up',), ('down',)])
    assert [[cell.machine_readable() for cell in row[1:]] for row in rows] == [
        [{}, None], [{}, None]]
