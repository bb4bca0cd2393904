"""The shape of Nova that this package leans on, checked at start.

Each seam is a function that is overridden, or called, with the arguments
named. A Nova that has another shape stops the service with one line rather
than letting it run half.
"""

import collections.abc
import inspect

from nova_image_override import errors

#: Owner, name of the function, and the parameters that must lead.
Seam = tuple[object, str, tuple[str, ...]]


def _parameters(owner: object, name: str) -> tuple[str, ...]:
    function = inspect.getattr_static(owner, name)
    # webob.dec.wsgify keeps what it decorates in "func".
    function = getattr(function, 'func', function)
    return tuple(inspect.signature(function).parameters)


def verify(seams: collections.abc.Iterable[Seam]) -> None:
    """Check seams against the running release.

    :raises errors.UnsupportedNova: naming the seam that has another shape
    """
    for owner, name, wanted in seams:
        where = f'{getattr(owner, "__name__", owner)}.{name}'
        try:
            found = _parameters(owner, name)
        except AttributeError:
            raise unsupported(f'has no {where}') from None
        if found[:len(wanted)] != wanted:
            raise unsupported(
                f'has {where}({", ".join(found)}), not '
                f'({", ".join(wanted)}, ...)')


def unsupported(how: str) -> errors.UnsupportedNova:
    """Return the error that stops the start; HOW goes on "This Nova ..."."""
    return errors.UnsupportedNova(
        f'This Nova {how}: nova-image-override does not support it.')
