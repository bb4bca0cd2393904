"""The extension's own work, next to Nova's reading of the same properties."""

import collections.abc
import typing

from nova import context as nova_context
from nova import objects

from nova_image_override import override
from nova_image_override.api.change import plan
from nova_image_override.authorization import rules
from nova_image_override.authorization.caller import Caller, Callers
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.properties import catalog as catalog_module
from testing.cost import measure
from testing.cost import overrides

#: Nova's reading of the properties, with which the rest is compared.
FROM_DICT = 'from_dict'

SETS = {1: overrides.ONE, 10: overrides.TEN, 128: overrides.MOST}

#: Entries of allowed_properties: all but the last one are globs that match
#: nothing that is asked for, but still have to be tried.
LISTS = {
    length: [f'hw_none_{n}_*' for n in range(length - 1)] + ['*']
    for length in (1, 100, 10_000)}


class Work:
    """What the extension does with the overrides of one create request.

    :param entries: allowed_properties
    """

    def __init__(self, entries: list[str]) -> None:
        catalog = catalog_module.running()
        self._planner = plan.Planner(
            Enforcer(catalog, allowed=entries),
            Callers(), {'libvirt'})
        self._parser = override.Parser(catalog)
        self._context = nova_context.RequestContext(
            'user', 'project', roles=['member', 'reader'])

    def forget(self) -> None:
        """Return to the state of a service that has just started."""
        enforcer = self._planner.enforcer
        for entries in (enforcer.denied, enforcer.allowed):
            entries.covering.cache_clear()
        self._parser = override.Parser(enforcer.catalog)

    def parse(self, raw: dict[str, str]) -> override.Overrides:
        """Parse, as the servers controller does."""
        return self._parser.parse(raw)

    def authorise(self, asked: override.Overrides) -> None:
        """Check the deployer's lists, as the compute API does."""
        self._planner.enforcer.refusals(_ANYBODY, asked, [overrides.IMAGE])

    def ask_policy(self, asked: override.Overrides) -> None:
        """Check oslo.policy, which the compute API does at the same time."""
        caller = self._planner.callers.caller(self._context)
        policy = rules.Policy()
        policy.decide(rules.Request(caller, asked, [overrides.IMAGE]))

    def merge(self, asked: override.Overrides) -> object:
        """Merge, as the compute API does."""
        return asked.merge(overrides.IMAGE)


#: Passes policy without a check.
_ANYBODY = Caller(can=lambda rule: True)

#: How many calls are timed together, for the clock's sake.
_TIMES = 20


def _repeated(
    work: collections.abc.Callable[[typing.Any], object],
    argument: typing.Any,
) -> measure.Prepare:
    def run() -> None:
        for _ in range(_TIMES):
            work(argument)
    return lambda: run


def again(
    work: Work, raw: dict[str, str], rounds: int,
) -> dict[str, float]:
    """Measure overrides that were seen before.

    :returns: the median times, in seconds, of FROM_DICT and of each part of
        the work
    """
    asked = work.parse(raw)
    taken = measure.medians({
        FROM_DICT: _repeated(objects.ImageMeta.from_dict,
                             {'properties': overrides.IMAGE | raw}),
        'parse': _repeated(work.parse, raw),
        'lists': _repeated(work.authorise, asked),
        'merge': _repeated(work.merge, asked),
        'policy': _repeated(work.ask_policy, asked),
    }, rounds)
    return {part: time / _TIMES for part, time in taken.items()}


def first(work: Work, raw: dict[str, str], rounds: int) -> float:
    """Measure overrides that were never seen before, in seconds.

    All of the work except policy, which remembers nothing.
    """
    def prepare() -> collections.abc.Callable[[], object]:
        work.forget()

        def run() -> None:
            asked = work.parse(raw)
            work.authorise(asked)
            work.merge(asked)
        return run

    return measure.medians({'': prepare}, rounds)['']
