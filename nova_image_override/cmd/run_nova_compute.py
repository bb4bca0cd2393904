"""``nova-compute-image-override``: nova-compute that keeps overrides.

Same arguments, same configuration files, same everything as nova-compute.
"""

import sys
from typing import Any

from nova_image_override import errors
from nova_image_override.cmd import version
from nova_image_override.nova_interfaces import compute as compute_interfaces
from nova_image_override.nova_interfaces import interface

MANAGER = f'{__name__}.ComputeManager'


def __getattr__(name: str) -> Any:
    """Return the compute manager, which nova.service.Service imports from here.

    Only then has nova.conf been read, from which nova.compute.manager takes
    the intervals of periodic tasks when it is imported.

    :raises errors.UnsupportedNova: the running release has a different shape
    """
    if name != 'ComputeManager':
        raise AttributeError(name)
    compute_interfaces.verify()
    return interface.load('nova_image_override.compute.manager').ComputeManager


def main() -> None:
    """Run nova-compute with our compute manager."""
    try:
        if version.is_asked('nova-compute-image-override'):
            return
    except OSError as exc:
        # Only here: it imports cliff, which nova-compute does not need.
        from nova_image_override.cmd import shell
        sys.exit(shell.end(exc, 1))
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
