"""``nova-image-override-status``, which says so where it cannot check."""

import sys

from nova_image_override import errors
from nova_image_override.cmd import environment

#: Not to be confused with the results (oslo_upgradecheck.upgradecheck.run).
CANNOT_CHECK = 255


def main() -> int:
    """Run the checks.

    :returns: 0 all is well, 1 there is a warning, 2 there is a failure, 255
        it could not be checked
    """
    environment.silence_eventlet()
    try:
        from nova_image_override.cmd import upgrade_checks
        return upgrade_checks.run(sys.argv[1:])
    except ModuleNotFoundError as exc:
        message = environment.not_installed(exc)
    except errors.StartupError as exc:
        message = str(exc)
    except SystemExit as exc:
        # From argparse, which has said what is wrong, and exits with 2.
        return CANNOT_CHECK if exc.code else 0
    print(message, file=sys.stderr)
    return CANNOT_CHECK
