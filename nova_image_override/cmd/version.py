"""``--version`` of the commands."""

import importlib.metadata
import sys


def text() -> str:
    """Return our version and Nova's, which need not be installed."""
    ours = importlib.metadata.version('nova-image-override')
    try:
        return f'{ours} (Nova {importlib.metadata.version("nova")})'
    except importlib.metadata.PackageNotFoundError:
        return f'{ours} (Nova is not installed here)'


def is_asked(command: str) -> bool:
    """Return whether the command line asks for the versions; print them."""
    asked = '--version' in sys.argv
    if asked:
        print(command, text(), flush=True)
    return asked
