"""``nova-image-override computes``, on Nova's databases."""

import argparse
from unittest import mock

import pytest

from nova_image_override import versions
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd import list_computes


@pytest.mark.usefixtures('cloud')
class TestComputesCommand:
    NUMBER_OF_CELLS = 2
    HOSTS = ('compute1', 'compute2')
    EXTENDED_HOSTS = ('compute2',)
    CELLS = {'compute1': 'cell1', 'compute2': 'cell2'}

    @pytest.mark.parametrize(('cell', 'found'), [
        (None, slice(0, 2)), ('cell1', slice(0, 1)), ('cell2', slice(1, 2))])
    def test_every_cell_is_listed_with_what_its_nodes_have(self, cell, found):
        command = list_computes.Computes(None, None)
        command.unread = []
        with mock.patch.object(deployment_files, 'read_nova_conf'):
            _, rows = command.take_action(
                argparse.Namespace(missing=False, cell=cell))
        assert [*rows] == [
            ('cell1', 'compute1', 'compute1', None),
            ('cell2', 'compute2', 'compute2', str(versions.MAX))][found]
        assert command.status == (cell != 'cell2')
