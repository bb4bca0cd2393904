"""The Python environment that an operator's command runs in.

Imports neither Nova nor its libraries, as they may not be there.
"""

import logging
import sys
import warnings


def not_installed(exc: ModuleNotFoundError) -> str:
    """Return one line for whoever runs a command where a library is missing.

    The users' part installs the commands too, but nothing of Nova.
    """
    return (f'{exc.name} is not installed in {sys.prefix}: this command needs '
            'nova-image-override in the environment that Nova runs in')


def silence_eventlet() -> None:
    """Let libraries import eventlet without warnings.

    futurist imports it wherever it is installed, and up to release 33 Nova has
    it patch modules (nova/monkey_patch.py), and warns that some were imported
    earlier. No command uses it.
    """
    warnings.filterwarnings('ignore', r'\s*Eventlet is deprecated')
    logging.getLogger('nova.monkey_patch').setLevel(logging.ERROR)
