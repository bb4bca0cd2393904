"""The record of tests/proof/test_nfv.py: figures/nfv-NN.json.

Images of one ask and one flavor that have the same result are one row there,
and each guest is written once. docs/source/_ext/nfv.py shows it as it is.
"""

import collections.abc
import typing

from tests.proof import nfv

Json = dict[str, typing.Any]

#: What became of each row: :meth:`tests.proof.test_nfv.Found.recorded`.
Results = collections.abc.Sequence[tuple[nfv.Row, Json]]

_GUEST = ('numa', 'xml')


def of(results: Results) -> list[Json]:
    """Return the record of everything that was tried, ask by ask."""
    asks: list[Json] = []
    for ask in dict.fromkeys(row.ask.name for row, _ in results):
        mine = [(row, found) for row, found in results
                if row.ask.name == ask]
        asks.append(_ask(mine))
    return asks


def _ask(results: Results) -> Json:
    ask = results[0][0].ask
    guests: list[Json] = []
    rows: list[Json] = []
    for row, found in results:
        guest = {name: found[name] for name in _GUEST if name in found}
        if guest and guest not in guests:
            guests.append(guest)
        answer = {name: value for name, value in found.items()
                  if name not in _GUEST}
        if guest:
            answer['guest'] = guests.index(guest)
        for other in rows:
            if other['flavor'] == row.flavor and (
                    without_reasons(other['answer'])
                    == without_reasons(answer)):
                other['images'].append(dict(row.image))
                break
        else:
            rows.append({'flavor': dict(row.flavor),
                         'images': [dict(row.image)], 'answer': answer})
    return {'topic': ask.topic, 'name': ask.name, 'asked': dict(ask.asked),
            'along': dict(ask.along), 'needs': dict(ask.needs),
            'host': ask.host, 'rows': rows, 'guests': guests}


def without_reasons(answer: Json) -> Json:
    """Return it without the reasons, whose wording is not guaranteed."""
    return {**answer, 'problems': {
        name: problem['code']
        for name, problem in answer.get('problems', {}).items()}}


def found_in(record: collections.abc.Iterable[Json], row: nfv.Row) -> Json:
    """Return what is recorded for a row, in the form of Found.recorded.

    :raises KeyError: nothing is
    """
    for ask in record:
        if ask['name'] != row.ask.name:
            continue
        for each in ask['rows']:
            if each['flavor'] == row.flavor and row.image in each['images']:
                answer = dict(each['answer'])
                guest = answer.pop('guest', None)
                return answer | (
                    {} if guest is None else ask['guests'][guest])
    raise KeyError(f'not recorded: {row}')
