"""What is measured, and in which tables it is shown."""

import collections.abc
import contextlib
import logging
import typing

from benchmarks import hostile
from benchmarks import hostile_cloud
from benchmarks import search
from testing.cost import cloud as cloud_module
from testing.cost import compared
from testing.cost import measure

_EXTENSION = 'extension'

Table = tuple[str, list[str], list[list[str]]]


def tables(rounds: int) -> collections.abc.Iterator[Table]:
    """Measure.

    :param rounds: how often each request is measured
    :returns: title, head and rows of each table, as soon as it is measured
    """
    with _cloud() as cloud:
        cloud.add_servers()
        cloud.stop()
        yield _requests(
            'POST /servers, to the 202', compared.create(cloud), rounds,
            compared.forget(cloud))
        # Below 2.73 Nova loads no system metadata for a list.
        for compute in ('2.93', '2.1'):
            yield _requests(
                f'GET /servers/detail, {cloud.SERVERS} servers, '
                f'compute {compute}', compared.detail(cloud, compute),
                max(rounds // 3, 1), compared.check(cloud))
    with _cloud(hostile_cloud.Cloud) as cloud:
        yield _hostile(cloud, max(rounds // 20, 1))


@contextlib.contextmanager
def _cloud(
    kind: type = cloud_module.Cloud,
) -> collections.abc.Iterator[typing.Any]:
    """Run a cloud whose end does not log among the tables."""
    with kind.running() as cloud:
        yield cloud
        logging.disable()
    logging.disable(logging.DEBUG)


def _requests(
    title: str, variants: compared.Variants, rounds: int,
    after: compared.After,
) -> Table:
    costs = compared.costs(variants, after)
    functions_called = compared.python_calls(variants, after)
    times = measure.medians(variants, rounds, after=after)
    return (
        f'{title}: medians of {rounds}',
        ['', 'ms', 'ratio', 'function calls', 'queries',
         'calls of services'],
        [[name, f'{times[name] * 1e3:.2f}',
          f'{times[name] / times[compared.NOVA]:.3f}',
          str(functions_called[name]),
          str(costs[name].queries), str(costs[name].calls)]
         for name in variants])


def _hostile(cloud: hostile_cloud.Cloud, rounds: int) -> Table:
    """Measure what is designed to be costly, and Nova on the same properties.
    """
    rows = []
    for title, case in {**hostile.CASES, **search.recorded()}.items():
        variants = {compared.NOVA: cloud.prepare(case, nova=True),
                    _EXTENSION: cloud.prepare(case, nova=False)}
        answers = {}
        for name, prepare in variants.items():
            answers[name] = prepare()().status
            cloud.restore()
        times = measure.medians(variants, rounds, after=cloud.restore)
        nova, own = times[compared.NOVA], times[_EXTENSION]
        rows.append([
            title, f'{nova * 1e3:.1f}', f'{own * 1e3:.1f}',
            f'{own / nova:.2f}', f'{(own - nova) * 1e3:.1f}',
            answers[compared.NOVA].split()[0],
            answers[_EXTENSION].split()[0]])
    return (
        f'Requests made, or found, to cost much: medians of {rounds}',
        ['', 'unmodified Nova, ms', 'extension, ms', 'ratio',
         'beyond Nova, ms', 'Nova answers', 'extension answers'], rows)
