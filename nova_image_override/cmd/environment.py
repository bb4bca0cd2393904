"""The Python environment that an operator's command runs in.

Imports neither Nova nor its libraries: they may not be there.
"""

import sys
import warnings


def not_installed(exc: ModuleNotFoundError) -> str:
    """Return one line for who runs a command where a library is missing.

    The users' part brings the commands too, and nothing of Nova.
    """
    return (f'{exc.name} is not installed in {sys.prefix}: this command needs '
            'nova-image-override in the environment that Nova runs in')


def silence_eventlet() -> None:
    """Let a library import eventlet without six lines of warning.

    futurist imports it wherever it is installed; no command uses it.
    """
    warnings.filterwarnings('ignore', r'\s*Eventlet is deprecated')
