"""``computes`` without a database; with one:
tests/functional/test_computes_command.py.
"""

import json
from unittest import mock

import pytest

from nova_image_override.cmd import cells


def node(name, **stats):
    return 'cell1', mock.Mock(host=name, hypervisor_hostname=name, stats=stats)


WITH = node('compute1', image_props_override='1.0')
WITHOUT = node('compute2')
OLDER = node('compute3', image_props_override='0.9')


@pytest.fixture
def listed(deployment, monkeypatch):
    """Run the command on these nodes; return the status and what it prints."""
    def listed(found, *arguments):
        deployment.write('nova.conf', '[image_override]\n')
        monkeypatch.setattr(cells, 'compute_nodes',
                            lambda *asked: iter(found))
        status, out, err = deployment.run(
            'computes', '-f', 'json', *arguments)
        assert out, err
        return status, json.loads(out)
    return listed


def test_all_is_well(listed):
    assert listed([WITH]) == (0, [{
        'Cell': 'cell1', 'Host': 'compute1', 'Node': 'compute1',
        'Compute part': '1.0'}])


def test_only_those_without_it_can_be_listed(listed):
    assert listed([WITH], '--missing') == (0, [])
    status, (row,) = listed([WITH, WITHOUT], '--missing')
    assert status == 1
    assert row['Host'] == 'compute2'


def test_a_compute_part_that_is_too_old_is_missing_and_shows_its_version(
        listed):
    status, (row,) = listed([WITH, OLDER], '--missing')
    assert status == 1
    assert (row['Host'], row['Compute part']) == ('compute3', '0.9')
