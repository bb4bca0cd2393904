"""What a parser refuses, and why."""

import pytest

from nova_image_override import errors


def of(parser, raw):
    """Return the problems of a refusal: name -> (code, reason)."""
    with pytest.raises(errors.Invalid) as caught:
        parser.parse(raw)
    return {p.name: (p.code, p.reason) for p in caught.value.problems}
