"""``nova-compute-image-override``: nova-compute that keeps overrides.

Same arguments, same configuration files, same everything as nova-compute.
"""

import sys

from nova_image_override import errors
from nova_image_override.cmd import version
from nova_image_override.nova_interfaces import compute as compute_interfaces
from nova_image_override.nova_interfaces import interface

MANAGER = 'nova_image_override.compute.manager.ComputeManager'


def main() -> None:
    """Run nova-compute with our compute manager."""
    if version.is_asked('nova-compute-image-override'):
        return
    # Chooses native threads or eventlet, and must be the first of Nova to be
    # imported: in alphabetical order, nova.service imports eventlet and
    # nova-compute gives up.
    from nova.cmd import compute  # isort: skip
    from nova import service  # isort: skip

    # oslo.config looks for <program>.conf, so remain nova-compute to it.
    sys.argv[0] = 'nova-compute'
    try:
        interface.verify(compute_interfaces.COMMAND)
        # The table from which nova.service.Service.create takes the manager.
        service.SERVICE_MANAGERS['nova-compute'] = MANAGER
        compute.main()
    except errors.UnsupportedNova as exc:
        sys.exit(str(exc))
