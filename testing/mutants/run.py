"""Tests of one mutant, in a process that has imported all but the package."""

from __future__ import annotations

import collections.abc
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import select
import signal
import sys

import pytest

from testing.mutants import mutant as mutant_module

#: Seconds in which one test must end; a mutant that makes one hang is noticed.
LIMIT = 180

_OURS = ('nova_image_override', 'tests', 'testing', '__main__')

_NO_IMPORT = 64

#: Writes a line for whoever has forked the process.
Say = collections.abc.Callable[[str], object]


class _Mutated(importlib.abc.MetaPathFinder):
    """Finds one module, with a mutant in it."""

    def __init__(self, mutant: mutant_module.Mutant, root: pathlib.Path,
                 ) -> None:
        self.name = mutant.path.removesuffix('.py').removesuffix(
            '/__init__').replace('/', '.')
        self._path = str(root / mutant.path)
        self._code = mutant_module.compiled(mutant, root)

    def find_spec(self, fullname: str, path: object, target: object = None,
                  ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        loader = importlib.machinery.SourceFileLoader(fullname, self._path)
        loader.get_code = lambda name: self._code
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=loader)


class _Told:
    """Says each outcome of a test."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._say(('F' if report.failed else '.') + report.nodeid)


def _child(pipe: int, act: collections.abc.Callable[[Say], int]) -> None:
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)

    def say(line: str) -> None:
        os.write(pipe, f'{line}\n'.encode())

    with contextlib.suppress(BaseException):
        say(f'={int(act(say))}')
    # Not as the interpreter exits: threads of Nova may never end.
    os._exit(0)


def _said(act: collections.abc.Callable[[Say], int]) -> list[str]:
    """Return what a child says that acts, to '=' and the exit code."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        _child(write, act)
    os.close(write)
    said = b''
    while select.select([read], [], [], LIMIT)[0] and (
            more := os.read(read, 65536)):
        said += more
    os.close(read)
    # With what it has started, which may hold the pipe open.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return said.decode().splitlines()


def import_libraries(modules: collections.abc.Sequence[str]) -> None:
    """Import what some modules import, and of them only the first.

    :param modules: the first imports nothing of the package
    """
    importlib.import_module(modules[0])

    def names(say: Say) -> int:
        for name in modules:
            importlib.import_module(name)
        say(' '.join(name for name in sys.modules
                     if name.partition('.')[0] not in _OURS))
        return 0

    for name in _said(names)[0].split():
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def noticed_by(
    mutant: mutant_module.Mutant | None, root: pathlib.Path,
    tests: list[str],
) -> str:
    """Return the test that notices a mutant; '' if none does.

    :param mutant: None to run the tests on the code as it is
    """
    if not tests:
        return ''

    def run(say: Say) -> int:
        if mutant is not None:
            finder = _Mutated(mutant, root)
            sys.meta_path.insert(0, finder)
            try:
                importlib.import_module(finder.name)
            # Whatever a mutant makes of its module's import, it is noticed.
            except Exception:
                return _NO_IMPORT
        return pytest.main(
            ['-q', '-x', '-p', 'no:cacheprovider', *tests],
            plugins=[_Told(say)])

    said = _said(run)
    if failed := [line[1:] for line in said if line.startswith('F')]:
        return failed[0]
    if not said or not said[-1].startswith('='):
        return 'hung, or died: ' + ''.join(said[-1:])
    code = int(said[-1][1:])
    if code == pytest.ExitCode.USAGE_ERROR and (
            mutant is None or noticed_by(None, root, ['--co', *tests])):
        raise SystemExit('A test is gone since its lines were noted: remove '
                         '.venv/mutants, and note them anew.')
    return f'exit code {code}' if code else ''
