"""What the wizard sends, as it is passed to python-novaclient."""

import ast
import importlib.util
import inspect
import pathlib

from novaclient.v2 import servers

from nova_image_override_dashboard import launching


def horizons_own():
    """Return what Horizon's own view passes on, read from its source."""
    package = importlib.util.find_spec('openstack_dashboard').origin
    source = pathlib.Path(package).parent / 'api' / 'rest' / 'nova.py'
    (found,) = [
        ast.literal_eval(node.value)
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]) == '_optional_create']
    return {*found, 'key_name', 'user_data', 'security_groups'}


def test_all_that_horizon_passes_on_is_passed_on():
    assert horizons_own() == launching.ARGUMENTS.keys()


def test_novaclient_has_each_argument():
    taken = inspect.signature(servers.ServerManager.create).parameters
    assert set(launching.ARGUMENTS.values()) <= taken.keys()


def test_what_is_empty_or_of_the_wizard_alone_is_left_out():
    assert launching.arguments({
        'name': 'guest', 'instance_count': 2, 'key_name': None,
        'image_props_override': {}, 'create_volume_default': True,
    }) == {'min_count': 2}


def test_a_network_that_nova_makes_is_asked_for_in_its_word():
    assert launching.arguments({'nics': [
        {'net-id': launching.AUTOMATIC, 'v4-fixed-ip': ''}]}) == {
            'nics': 'auto'}
    assert launching.arguments({'nics': [{'net-id': 'a'}]}) == {
        'nics': [{'net-id': 'a'}]}
