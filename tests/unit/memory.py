"""How much memory stays in use."""

import collections.abc
import gc
import tracemalloc
import typing


def held(
    call: collections.abc.Callable[[str], typing.Any], texts: int = 2000,
) -> int:
    """Return how many bytes stay in use after that many different TEXTS.

    :param call: called with each text, which has some 200 characters
    """
    call(f'A{0:0200}')
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(1, texts):
            call(f'A{number:0200}')
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
