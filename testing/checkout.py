"""This checkout, and what git knows of it. Imports nothing of Nova."""
from __future__ import annotations

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).parents[1]


def git(*arguments: str) -> str:
    """Return what git prints, without the white space around it.

    :raises subprocess.CalledProcessError: it fails
    :raises OSError: there is no git
    """
    return subprocess.run(
        ['git', *arguments], cwd=ROOT, check=True, capture_output=True,
        text=True).stdout.strip()
