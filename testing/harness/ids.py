"""Readable ids for the cases of a table."""

import typing


def short(value: typing.Any) -> str:
    """Return how pytest calls one value of a case."""
    if isinstance(value, dict):
        value = ','.join(f'{name}={each}' for name, each in value.items())
    return str(value)[:40]
