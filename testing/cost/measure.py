"""Measuring: several things in turn, so that all see the same machine."""

import collections.abc
import gc
import statistics
import sys
import time
import typing

#: Something to measure: gives, untimed, a function to time once.
Prepare = collections.abc.Callable[[], collections.abc.Callable[[], object]]


Name = typing.TypeVar('Name')

#: CPython 3.11 and 3.12 keep frames in chunks of 16 KiB, each mapped when it is
#: entered and unmapped when it is left (Python/pystate.c
#: _PyThreadState_PushFrame). A loop that happens to run at the end of one pays
#: for page faults, up to a third of a request's time, and one frame more or
#: less decides. About this many frames of _deep fill a chunk.
_CHUNK = 136


def _deep(
    depth: int, call: collections.abc.Callable[[], object],
    clock: collections.abc.Callable[[], float],
) -> tuple[float, object]:
    """Time CALL from DEPTH frames further down the stack."""
    if depth:
        return _deep(depth - 1, call, clock)
    start = clock()
    result = call()
    return clock() - start, result


def medians(
    variants: dict[Name, Prepare], rounds: int,
    *, after: collections.abc.Callable[[typing.Any], None] = lambda _: None,
    clock: collections.abc.Callable[[], float] = time.process_time,
) -> dict[Name, float]:
    """Return the median time of each variant, in seconds of processor time.

    Each round takes every variant once, beginning with a different one each
    time and at a different depth of the stack. It is the processor time of the
    process, because it does not include other programs on the machine, and
    what is measured hardly ever waits. No call pays for the garbage of another.

    :param variants: what to measure, by name
    :param rounds: how often; the first one is not counted
    :param after: is called, untimed, with what each timed call returned
    :param clock: another clock, if what is measured waits for others
    """
    names = list(variants)
    times: dict[Name, list[float]] = {name: [] for name in names}
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        for turn in range(rounds + 1):
            for place in range(len(names)):
                name = names[(turn + place) % len(names)]
                call = variants[name]()
                gc.collect()
                taken, result = _deep(turn * 29 % _CHUNK, call, clock)
                if turn:
                    times[name].append(taken)
                after(result)
    finally:
        gc.enable()
        gc.unfreeze()
    return {name: statistics.median(taken) for name, taken in times.items()}


def python_calls(call: collections.abc.Callable[[], object]) -> int:
    """Return how many functions CALL calls, Python's and C's, in its thread.

    It is the same each time, except for a few in ten thousand.
    """
    count = 0

    def profile(frame: typing.Any, event: str, argument: object) -> None:
        nonlocal count
        count += event in ('call', 'c_call')

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(before)
    return count
