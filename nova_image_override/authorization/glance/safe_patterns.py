"""Regular expressions that a property name can be matched against safely.

Python's ``re`` backtracks and has no time limit: one careless expression in
Glance's protections file would let a tenant's property name stop nova-api.
So the number of ways in which an expression can match a name is bounded
before it is used.
"""

import importlib
import re
from typing import Any

from nova_image_override import errors
from nova_image_override import override_record as record

#: Longest name that is matched, in characters.
NAME_MAX = record.NAME_LENGTH_MAX

#: Most ways in which an expression may match one stretch of a name: as many
#: as two ``.*`` in a row have. (Three take seconds, nested ones forever.)
WAYS_MAX = (NAME_MAX + 1) ** 2

# The parser of "re" itself, so that everything is read as it will be matched.
# It has no public name; Hypothesis relies on it too.
_parser: Any = importlib.import_module('re._parser')

_CHARACTERS = frozenset({'LITERAL', 'NOT_LITERAL', 'IN', 'ANY'})


def compiled(expression: str) -> re.Pattern[str]:
    """Compile EXPRESSION.

    :raises ValueError: it is malformed, or could take too long to match a
        name of NAME_MAX characters; the message says which
    """
    shown = errors.printable(expression)
    try:
        pattern = re.compile(expression)
        ways = _ways(_parser.parse(expression))
    except (re.error, RecursionError, OverflowError) as exc:
        raise ValueError(
            f'malformed regular expression {shown}: {exc}') from None
    if ways > WAYS_MAX:
        raise ValueError(
            f'regular expression {shown} could take too long to match a '
            'property name: use at most two of * and +, and none that repeats '
            'a group with another repetition or alternatives in it')
    return pattern


def _ways(sequence: Any) -> int:
    """Return a bound on the ways in which a parsed expression can match.

    The bound is on the branches of backtracking from one place in a name,
    counted as if every repetition could take the entire name.
    """
    result = 1
    for operation, argument in sequence:
        result *= _ways_of(str(operation), argument)
        if result > WAYS_MAX:
            break
    return result


def _ways_of(operation: str, argument: Any) -> int:
    match operation:
        case 'MAX_REPEAT' | 'MIN_REPEAT' | 'POSSESSIVE_REPEAT':
            return _ways_of_repetition(*argument)
        case 'SUBPATTERN' | 'ASSERT' | 'ASSERT_NOT':
            return _ways(argument[-1])
        case 'ATOMIC_GROUP':
            return _ways(argument)
        case 'BRANCH':
            return sum(map(_ways, argument[1]))
        case 'GROUPREF_EXISTS':
            return sum(_ways(branch) for branch in argument[1:] if branch)
        case _:
            return 1


def _ways_of_repetition(least: int, most: int, body: Any) -> int:
    fewest, longest = (min(int(times), NAME_MAX) for times in (least, most))
    each = _ways(body)
    if each > 1:
        total = 0
        for times in range(fewest, longest + 1):
            total += each ** times
            if total > WAYS_MAX:
                break
        return total
    ways = longest - fewest + 1
    if len(body) == 1 and str(body[0][0]) in _CHARACTERS:
        return ways
    # What is repeated need not consume any of the name, so each required
    # repetition is work.
    return max(1, int(least)) * ways
