"""Processes that the cloud started, and no others.

A process is recorded with its id and the time at which it started: the id
alone may belong to somebody else by now.
"""
from __future__ import annotations

import collections.abc
import contextlib
import datetime
import json
import os
import pathlib
import signal
import subprocess
import time
import typing

from testing.deployment import state as state_module


class NotReady(Exception):
    """A service did not become ready; the message holds the end of its log."""


def wait_for(
    condition: collections.abc.Callable[[], typing.Any], what: str,
    seconds: float = 120, pause: float = 0.2,
) -> typing.Any:
    """Wait until CONDITION returns something true, and return that.

    :raises NotReady: it did not within SECONDS
    """
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise NotReady(f'{what}: not within {seconds:.0f} s')
        time.sleep(pause)
    return result


def _look(pid: int) -> tuple[str, int, str]:
    """Return state, threads and start time of a process, if it is not gone."""
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return '', 0, ''
    # proc_pid_stat(5): state is the third field, num_threads the 20th,
    # starttime the 22nd.
    fields = stat.rpartition(')')[2].split()
    return fields[0], int(fields[17]), fields[19]


def _alive(pid: int) -> bool:
    """Return whether a process runs; one that waits to be reaped does not.

    The state is that of its first thread. Others that have not ended yet, in a
    write for example, keep its ports.
    """
    state, threads, _ = _look(pid)
    return state not in ('', 'Z', 'X') or threads > 1


def _members(group: int) -> list[int]:
    """Return the processes of a group that are alive."""
    result = []
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        with contextlib.suppress(ProcessLookupError):
            if os.getpgid(int(folder.name)) == group and _alive(
                    int(folder.name)):
                result.append(int(folder.name))
    return result


class Process:
    """One process that runs in a group of its own, and that group.

    :param state: where it is recorded, and logs
    :param name: the name of both
    """

    def __init__(self, state: state_module.State, name: str) -> None:
        self.name = name
        self.log = state.file('log', f'{name}.log')
        self._record = state.file('processes', f'{name}.json')

    @property
    def pid(self) -> int | None:
        """The id of the process while it runs."""
        group = self._group()
        return group if group is not None and _alive(group) else None

    @property
    def pids(self) -> list[int]:
        """The ids of the processes of the group that are alive."""
        group = self._group()
        return [] if group is None else _members(group)

    @property
    def since(self) -> datetime.datetime:
        """When it was started, if it is on record."""
        return datetime.datetime.fromtimestamp(
            self._record.stat().st_mtime, datetime.UTC)

    def has_reported(self, when: str | None) -> bool:
        """Return whether it is this process that reported, and no earlier one.

        :param when: what OpenStack says of the service's last report
        """
        return when is not None and datetime.datetime.fromisoformat(
            when).replace(tzinfo=datetime.UTC) > self.since

    def _group(self) -> int | None:
        """Return the id of the process's group, None when it has ended.

        The kernel gives no new process the id of a group that has members: if
        there is no process with that id, the members are ours.
        """
        try:
            record = json.loads(self._record.read_text())
        except (OSError, ValueError):
            return None
        started = _look(record['pid'])[2]
        return record['pid'] if started in ('', record['started']) else None

    def start(
        self, command: collections.abc.Sequence[str | pathlib.Path],
        environment: dict[str, str] | None = None,
    ) -> None:
        """Start the process, which must not run."""
        assert self.pid is None, f'{self.name} runs already'
        with self.log.open('ab') as log:
            child = subprocess.Popen(
                command, env={**os.environ, **(environment or {})},
                cwd=state_module.ROOT, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True)
        self._record.write_text(json.dumps(
            {'pid': child.pid, 'started': _look(child.pid)[2]}))

    def kill(self) -> None:
        """End the process and its group at once, as a crash would."""
        self.stop(signal.SIGKILL)

    def stop(
        self, number: signal.Signals = signal.SIGTERM, seconds: float = 20,
    ) -> None:
        """End the process and its group; after SECONDS, kill them."""
        group = self._group()
        if group is not None and self.pids:
            os.killpg(group, number)
            with contextlib.suppress(NotReady):
                wait_for(lambda: not self.pids, self.name, seconds)
            for pid in self.pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            wait_for(lambda: not self.pids, self.name, 20)
        self._record.unlink(missing_ok=True)

    def wait_until(
        self, ready: collections.abc.Callable[[], typing.Any],
    ) -> None:
        """Wait until READY returns something true.

        :raises NotReady: with the end of the log, when the process ended or
            did not become ready
        """
        def look() -> typing.Any:
            if self.pid is None:
                raise NotReady(f'{self.name} has ended')
            return ready()

        try:
            wait_for(look, self.name)
        except NotReady as exc:
            tail = self.log.read_text(errors='replace')[-3000:]
            raise NotReady(f'{exc}\n{self.log}:\n{tail}') from None


def recorded(state: state_module.State) -> list[Process]:
    """Return every process that is on record, the latest first."""
    records = state.subfolder('processes').glob('*.json')
    return [Process(state, path.stem) for path in sorted(
        records, key=lambda path: path.stat().st_mtime, reverse=True)]
