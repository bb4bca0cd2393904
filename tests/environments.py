"""Environments of what tests talk to, separate from Nova's."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[1]


def find(
    owner: str, variable: str, default: str, program: str = '',
) -> pathlib.Path:
    """Return what VARIABLE of the process's environment names, or DEFAULT.

    Fails the test that asks for it: what cannot run must not pass.

    :param owner: what is in it; ``make test-OWNER`` builds it
    :param default: a path in the checkout
    :param program: what there must be in it
    """
    path = pathlib.Path(os.environ.get(variable, ROOT / default))
    if not (path / program).exists():
        pytest.fail(
            f'there is no environment of {owner}: run "make '
            f'test-{owner.lower()}", or set {variable}', pytrace=False)
    return path
