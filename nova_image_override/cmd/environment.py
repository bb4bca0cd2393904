"""The Python environment that an operator's command runs in.

Imports neither Nova nor its libraries: they may not be there.
"""

import logging
import sys
import warnings


def not_installed(exc: ModuleNotFoundError) -> str:
    """Return one line for who runs a command where a library is missing.

    The users' part brings the commands too, and nothing of Nova.
    """
    return (f'{exc.name} is not installed in {sys.prefix}: this command needs '
            'nova-image-override in the environment that Nova runs in')


def silence_eventlet() -> None:
    """Let libraries import eventlet without lines of warning.

    futurist imports it wherever it is installed, and until its release 33 Nova
    has it patch modules (nova/monkey_patch.py), of which it says that some were
    imported before. No command uses it.
    """
    warnings.filterwarnings('ignore', r'\s*Eventlet is deprecated')
    logging.getLogger('nova.monkey_patch').setLevel(logging.ERROR)
