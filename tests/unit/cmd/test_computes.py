"""``computes`` without a database; with one:
tests/functional/test_computes_command.py.
"""

from unittest import mock

import pytest

from nova_image_override.cmd import cells


def node(name, **stats):
    return 'cell1', mock.Mock(host=name, hypervisor_hostname=name, stats=stats)


WITH = node('compute1', image_props_override='1.0')
WITHOUT = node('compute2')
OLDER = node('compute3', image_props_override='0.9')


@pytest.mark.parametrize(('nodes', 'options', 'status', 'left'), [
    ([WITH], [], 0, [('compute1', '1.0')]),
    ([WITH, WITHOUT], [], 1, [('compute1', '1.0'), ('compute2', None)]),
    ([WITH], ['--missing'], 0, []),
    ([WITH, WITHOUT], ['--missing'], 1, [('compute2', None)]),
    # Too old is as good as missing.
    ([WITH, OLDER], ['--missing'], 1, [('compute3', '0.9')])])
def test_nodes_are_listed_with_their_compute_part(
        deployment, monkeypatch, nodes, options, status, left):
    deployment.write('nova.conf', '[image_override]\n')
    monkeypatch.setattr(cells, 'compute_nodes', lambda *asked: iter(nodes))
    assert deployment.rows('computes', *options) == (status, [
        {'Cell': 'cell1', 'Host': host, 'Node': host, 'Compute part': part}
        for host, part in left])
