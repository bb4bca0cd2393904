"""What a call refuses, and why."""

import pytest

from nova_image_override import errors


def of(call, *args, error=errors.Invalid, **kwargs):
    """Return the problems of a refusal: name -> (code, reason)."""
    with pytest.raises(error) as caught:
        call(*args, **kwargs)
    return {each.name: (each.code, each.reason)
            for each in caught.value.problems}


def codes(call, *args, **kwargs):
    """Return the same without reasons: name -> code."""
    return {name: code for name, (code, _) in of(
        call, *args, **kwargs).items()}
