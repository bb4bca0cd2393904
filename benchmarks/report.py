"""What is measured, and in which tables it is told."""

import collections.abc

from benchmarks import api
from benchmarks import cloud as cloud_module
from benchmarks import functions
from benchmarks import measure

Table = tuple[str, list[str], list[list[str]]]


def tables(rounds: int) -> collections.abc.Iterator[Table]:
    """Measure.

    :param rounds: how often each request is taken
    :returns: title, head and rows of each table, as soon as it is measured
    """
    with cloud_module.Cloud.running() as cloud:
        cloud.add_servers()
        cloud.stop()
        yield _requests(
            'POST /servers, to the 202', api.create(cloud), rounds,
            api.forget(cloud))
        # Below 2.73 Nova loads no system metadata for a list.
        for compute in ('2.93', '2.1'):
            yield _requests(
                f'GET /servers/detail, {cloud.SERVERS} servers, '
                f'compute {compute}', api.detail(cloud, compute),
                max(rounds // 3, 1), api.check(cloud))
        yield from _functions(rounds // 3)


def _requests(
    title: str, variants: api.Variants, rounds: int,
    after: api.After,
) -> Table:
    costs = api.costs(variants, after)
    times = measure.medians(variants, rounds, after=after)
    return (
        f'{title}: medians of {rounds}',
        ['', 'ms', 'ratio', 'queries', 'calls of services'],
        [[name, f'{times[name] * 1e3:.2f}',
          f'{times[name] / times[api.NOVA]:.3f}',
          str(costs[name].queries), str(costs[name].calls)]
         for name in variants])


def _functions(rounds: int) -> collections.abc.Iterator[Table]:
    works = {length: functions.Work(entries)
             for length, entries in functions.LISTS.items()}
    measured = {count: functions.times(works, raw, rounds)
                for count, raw in functions.SETS.items()}
    for title, part in (('overrides that were seen before', 'again'),
                        ('the first request after start', 'first')):
        yield (
            f'Parse, authorise and merge, {title}: medians, and ratios to '
            'ImageMeta.from_dict',
            ['overrides', 'from_dict, us',
             *(f'{length} rules, us' for length in works)],
            [[str(count), f'{times.read * 1e6:.0f}',
              *(f'{taken * 1e6:.0f} ({taken / times.read:.2f})'
                for taken in getattr(times, part).values())]
             for count, times in measured.items()])
