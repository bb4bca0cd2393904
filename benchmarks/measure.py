"""Measuring: several things in turn, so that all see the same machine."""

import collections.abc
import gc
import statistics
import time
import typing

#: Something to measure: gives, untimed, a function to time once.
Prepare = collections.abc.Callable[[], collections.abc.Callable[[], object]]


Name = typing.TypeVar('Name')


def medians(
    variants: dict[Name, Prepare], rounds: int,
    *, after: collections.abc.Callable[[typing.Any], None] = lambda _: None,
) -> dict[Name, float]:
    """Return the median time of each variant, in seconds of processor time.

    Each round takes every variant once, beginning with another one each time.
    Processor time of the process, because other programs on the machine do
    not count in it, and nothing that is measured here waits. No call pays for
    the garbage of another.

    :param variants: what to measure, by name
    :param rounds: how often; the first one is not counted
    :param after: is given, untimed, what each timed call returned
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
                start = time.process_time()
                result = call()
                if turn:
                    times[name].append(time.process_time() - start)
                else:
                    times[name].clear()
                after(result)
    finally:
        gc.enable()
        gc.unfreeze()
    return {name: statistics.median(taken) for name, taken in times.items()}
