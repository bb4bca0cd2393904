"""``nova-image-override computes``: the compute part on each compute node."""

import argparse
from collections.abc import Iterator
from typing import Any

from nova_image_override import versions
from nova_image_override.api import compute_part
from nova_image_override.cmd import cells
from nova_image_override.cmd import deployment_files


class Computes(deployment_files.Table):
    """List the compute nodes with the version of their compute part.

    Read from Nova's databases, in every cell, as nova-api does. The exit
    status is 1 when a node does not have the compute part, or an older one
    than nova-api relies on, and 2 when a cell cannot be read.
    """

    options = {
        '--missing': {
            'action': 'store_true',
            'help': 'list only the nodes without the compute part, or with an '
                    'older one than nova-api relies on'},
        **deployment_files.CELL}

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> deployment_files.Columns:
        """Read the compute nodes of every cell.

        :raises errors.StartupError: a database cannot be read
        """
        deployment_files.read_nova_conf(parsed_args, databases=True)
        return (('Cell', 'Host', 'Node', 'Compute part'),
                self._rows(parsed_args))

    def _rows(self, parsed_args: argparse.Namespace) -> Iterator[Any]:
        for cell, node in cells.compute_nodes(parsed_args.cell, self.unread):
            announced = compute_part.announced(node)
            is_missing = not versions.does_compute_part(announced)
            self.status |= is_missing
            if is_missing or not parsed_args.missing:
                yield cell, node.host, node.hypervisor_hostname, announced
