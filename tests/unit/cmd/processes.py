"""The package's commands, run as their users run them: as processes."""

import pathlib
import subprocess
import sys
import typing

FOLDER = pathlib.Path(sys.executable).parent


class Done(typing.NamedTuple):
    """What is left of a process.

    :ivar lines: of standard error
    """

    status: int
    out: str
    lines: list[str]


def run(*arguments: object) -> Done:
    """Run a console script of this environment with its arguments."""
    script, *rest = map(str, arguments)
    done = subprocess.run(
        [FOLDER / script, *rest],
        capture_output=True, text=True, timeout=300, check=False)
    return Done(done.returncode, done.stdout, done.stderr.splitlines())
