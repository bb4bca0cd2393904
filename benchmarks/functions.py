"""The extension's own work, beside Nova's reading of the same properties."""

import collections.abc
import dataclasses
import functools

from nova import context as nova_context
from nova import objects
import nova.conf

from benchmarks import measure
from benchmarks import overrides
from nova_image_override import catalog as catalog_module
from nova_image_override import override
from nova_image_override.api import extension as extension_module
from nova_image_override.rules import judge

CONF = nova.conf.CONF

SETS = {1: overrides.ONE, 10: overrides.TEN, 128: overrides.MOST}

#: Entries of allowed_properties: all but the last one are globs that match
#: nothing that is asked for, and have to be tried nevertheless.
LISTS = {
    length: [f'hw_none_{n}_*' for n in range(length - 1)] + ['*']
    for length in (1, 100, 10_000)}


class Work:
    """Parse, authorise and merge, as the servers controller and compute API.

    :param entries: allowed_properties
    """

    def __init__(self, entries: list[str]) -> None:
        self._extension = extension_module.Extension.from_conf(CONF)
        self._catalog = catalog_module.running()
        self._rules = judge.Rules(self._catalog, allowed=entries)
        self._context = nova_context.RequestContext(
            'user', 'project', roles=['member', 'reader'])
        self._parser = override.Parser(self._catalog)

    def forget(self) -> None:
        """Return to the state of a service that has just started."""
        self._rules.stand.cache_clear()
        self._parser = override.Parser(self._catalog)

    def do(self, raw: dict[str, str]) -> object:
        """Do what one create request with RAW needs."""
        parsed = self._parser.parse(raw, removals=True)
        self._rules.check(self._extension.caller(self._context), parsed)
        return self._extension.merger.merge(overrides.IMAGE, parsed)


#: Calls that are timed together, for the clock's sake.
_TIMES = 20


def _repeated(work: collections.abc.Callable[[], object]) -> measure.Prepare:
    def run() -> None:
        for _ in range(_TIMES):
            work()
    return lambda: run


def _first(work: Work, raw: dict[str, str]) -> measure.Prepare:
    def prepare() -> collections.abc.Callable[[], object]:
        work.forget()
        return lambda: work.do(raw)
    return prepare


@dataclasses.dataclass(frozen=True)
class Times:
    """Median times, in seconds.

    :ivar read: Nova's, of reading the properties once
    :ivar again: the extension's, when it has seen the same overrides before,
        by the length of the list
    :ivar first: the extension's, when it has just started
    """

    read: float
    again: dict[int, float]
    first: dict[int, float]


def times(
    works: dict[int, Work], raw: dict[str, str], rounds: int,
) -> Times:
    """Measure the handling of the overrides RAW.

    :param works: by the length of the list
    """
    image = {'properties': overrides.IMAGE | raw}
    again: dict[int, measure.Prepare] = {
        0: _repeated(lambda: objects.ImageMeta.from_dict(image))}
    for length, work in works.items():
        again[length] = _repeated(functools.partial(work.do, raw))
    medians = {length: taken / _TIMES for length, taken
               in measure.medians(again, rounds).items()}
    return Times(
        medians.pop(0), medians,
        measure.medians({length: _first(work, raw)
                         for length, work in works.items()},
                        max(rounds // 10, 1)))
