"""What was found good, remembered: the same few are asked for often.

Only that nothing was wrong is remembered, so nothing of one request can reach
the answer of another.
"""

import collections
import hashlib


def digest(*checked: object) -> bytes:
    """Return what tells apart all that is checked, in 32 bytes.

    :param checked: plain values, whose ``repr`` says all of them
    """
    # The types count too: Nova reads 1, "1" and True differently.
    return hashlib.sha256(
        repr(checked).encode(errors='backslashreplace')).digest()


class Remembered:
    """The keys that were added last.

    Each is 32 bytes, however large what it stands for. Who fills it with
    others has made as many requests, each of which was found good, and costs
    the next user of one no more than one check.

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
        """Remember a key; the one that was not used for longest leaves."""
        self._keys[found] = None
        while len(self._keys) > self._size:
            self._keys.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        self._keys.clear()
