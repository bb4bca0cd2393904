"""``nova-image-override servers``, as an operator runs it."""

import collections.abc
import csv
import dataclasses
import io
import subprocess
import sys
import time

from benchmarks.scale import answers
from benchmarks.scale import database as database_module
from benchmarks.scale import requests
from benchmarks.scale import servers as servers_module
from testing.deployment import installation

#: Arguments of the command -> what is listed with them: the property (None for
#: all), and the project.
COMMANDS: dict[tuple[str, ...], tuple[str | None, str | None]] = {
    (): (None, None),
    ('--property', requests.COMMON): (requests.COMMON, None),
    ('--property', requests.NOBODYS): (requests.NOBODYS, None),
    ('--property', requests.COMMON, '--project', servers_module.PROJECT):
        (requests.COMMON, servers_module.PROJECT),
    # Nothing is allowed where nova.conf allows nothing.
    ('--no-longer-allowed',): (None, None),
}

#: Runs a command, and prints how many KiB of memory it had at most. For a child
#: of this process the count would start at this one's own (getrusage(2) of
#: RUSAGE_CHILDREN, and what exec keeps).
_WATCH = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of the command.

    :ivar listed: lines
    :ivar rows: how many the database read
    :ivar seconds: from start to end, including those of Python and Nova
    :ivar memory: its peak, in bytes
    """

    listed: int
    rows: int
    seconds: float
    memory: int


def run(
    database: database_module.Database, servers: servers_module.Servers,
    words: collections.abc.Sequence[str],
) -> Run:
    """Run the command with arguments from :data:`COMMANDS`.

    :raises answers.Wrong: it lists other overrides than were generated
    """
    name, project = COMMANDS[tuple(words)]
    began = time.perf_counter()
    child, rows = database.reading(lambda: subprocess.run(
        [sys.executable, '-c', _WATCH,
         installation.OWN.bin / 'nova-image-override', 'servers',
         '--config-file', database.nova_conf, '--format', 'csv', *words],
        capture_output=True, text=True))
    seconds = time.perf_counter() - began
    listed = [line[:5] for line in csv.reader(io.StringIO(child.stdout))][1:]
    expected = [
        [server.uuid, server.project, 'cell1', each, value]
        for server in servers.expected(
            [name] if name else [], project, servers_module.AS_MADE)
        for each, value in sorted(server.overrides.items())
        if name in (None, each)]
    refused = '--no-longer-allowed' in words
    if listed != expected or child.returncode != int(refused):
        raise answers.Wrong(
            f'servers {" ".join(words)}: exit status {child.returncode}, '
            f'{len(listed)} overrides listed of {len(expected)} generated: '
            f'{child.stderr}')
    # What the command itself prints comes first, if there is anything.
    memory = int(child.stderr.split()[-1]) * 1024
    return Run(len(listed), rows, seconds, memory)
