"""Remembering what was found good, because the same few are asked for often.

Only the fact that nothing was wrong is remembered, so nothing of one request
can reach the answer to another.
"""

import collections
import hashlib


def digest(*checked: object) -> bytes:
    """Return a key of 32 bytes for everything that is checked.

    :param checked: plain values, whose ``repr`` shows all of their content
    """
    # The types count too: Nova reads 1, "1" and True differently.
    return hashlib.sha256(
        repr(checked).encode(errors='backslashreplace')).digest()


class Remembered:
    """The keys that were used last.

    Each is 32 bytes, however large the thing that it stands for. Anyone who
    fills it with other keys has made as many requests, each of which was found
    good, and costs the next user of a key no more than one check.

    :param size: how many keys are kept
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._keys: collections.OrderedDict[bytes, None] = (
            collections.OrderedDict())

    def __contains__(self, found: bytes) -> bool:
        # Each of these calls is one step for other threads.
        try:
            self._keys.move_to_end(found)
        except KeyError:
            return False
        return True

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, found: bytes) -> None:
        """Remember a key; if there are too many, drop the least recently used.
        """
        self._keys[found] = None
        while len(self._keys) > self._size:
            self._keys.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        self._keys.clear()
