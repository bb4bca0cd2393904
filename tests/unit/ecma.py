"""The common ground of Python's and ECMA 262's regular expressions.

Discovery hands our patterns to clients in any language; JSON Schema names
ECMA 262, with the flag "u".
"""

import re

_SYNTAX = r'[.^$*+?()\[\]{}|\\/]'
_IN_CLASS = (
    r'(?:\\u[0-9a-f]{4}'   # a character by its code unit
    r'|\\[\\\]\[^]'        # an escaped one
    r'|[^\\\[\]])')        # any other
#: One token that means the same to both.
_TOKEN = re.compile(
    r'\[\\s\\S\]'                      # any character
    rf'|\[\^?(?:{_IN_CLASS})+\]'       # a class
    rf'|\\{_SYNTAX}'                   # an escaped character
    r'|\((?:\?[:=!]|(?!\?))|\)|\|'     # groups, lookaheads, alternatives
    r'|(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})(?![*+?{])'  # quantifiers, plain ones
    r'|[\^$]'
    r'|[^.^$*+?()\[\]{}|\\]')          # a character that stands for itself


def check(pattern: str) -> None:
    """Fail when PATTERN leaves the common ground.

    Escapes for character classes, ``\\A`` and ``\\Z``, flags, named and atomic
    groups and the bare dot are read differently or not at all.
    """
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        assert token, f'{pattern!r} leaves the common ground at {at}'
        at = token.end()
    re.compile(pattern)


def of(schema: object) -> list[str]:
    """Return every regular expression of a JSON Schema."""
    found: list[str] = []
    if isinstance(schema, dict):
        found += schema.get('patternProperties', {})
        if isinstance(schema.get('pattern'), str):
            found.append(schema['pattern'])
        for value in schema.values():
            found += of(value)
    elif isinstance(schema, list):
        for value in schema:
            found += of(value)
    return found
