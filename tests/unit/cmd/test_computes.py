"""``computes`` without a database; with one:
tests/functional/test_computes_command.py.
"""

import json

import pytest

from nova_image_override.cmd import list_computes

WITH = ('cell1', 'compute1', 'compute1', '1.0')
WITHOUT = ('cell1', 'compute2', 'compute2', None)


@pytest.fixture
def listed(deployment, monkeypatch):
    """Run the command on these rows; return the status and what it prints."""
    def listed(found, *arguments):
        deployment.write('nova.conf', '[image_override]\n')
        monkeypatch.setattr(list_computes, 'rows', lambda: iter(found))
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
