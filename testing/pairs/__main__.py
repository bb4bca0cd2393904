"""``python -m testing.pairs``: what is accepted together is defined together.

For every pair of values of the properties that libvirt's driver reads, over
the plain image of each family of guests: the answer of our own check, and what
Nova's driver and a real libvirt make of the guest all the same. Whatever is
accepted must be defined; whatever is refused as a pair must fail, make no
difference, or be explained. The same holds for each bus of disks and the drives
that a server may have. Some pairs are started, too. Exits with 1 when anything
is left unexplained.
"""
from __future__ import annotations

import argparse
import collections
import itertools
import random
import sys
import time
import typing

from nova import objects

from nova_image_override import errors
from nova_image_override import override
from nova_image_override.api.change import disks
from nova_image_override.api.change import plan
from nova_image_override.api.guest import check
from nova_image_override.api.guest import no_effect
from nova_image_override.api.guest.guest import boot_metadata
from testing import figures
from testing.cases import values as cases
from testing.deployment import guest
from testing.deployment import state as state_module
from testing.pairs import explained
from testing.pairs import guests
from testing.pairs import hypervisor
from testing.pairs import starts
from testing.pairs import values

_DRIVERS = frozenset({'libvirt'})
_TRIPLES = 1000
#: So that another run tries the same triples.
_SEED = 48
_WHAT = ('drives', 'pairs', 'starts')
_PLAIN = guests.Drives()


class Result(typing.NamedTuple):
    """What becomes of some values together.

    :ivar refused: our codes and reasons, by property; empty if accepted
    :ivar failed: why driver or libvirt make no guest of it, or ''
    :ivar xml: the guest, if there is one
    """

    refused: dict[str, tuple[str, str]]
    failed: str
    xml: str


class Run:
    """One family of guests.

    :param more: what its plain image has besides
    """

    def __init__(
        self, bench: guests.Bench, family: str, **more: str,
    ) -> None:
        self.bench = bench
        self._family = family
        self._image = {**values.FAMILIES[family], **more}
        self._singles: dict[values.Value, Result] = {}
        self.counted: collections.Counter[str] = collections.Counter()
        self.unexplained: list[dict[str, typing.Any]] = []

    def result(
        self, *chosen: values.Value, at_all: bool = False,
        over: tuple[values.Value, ...] = (), drives: guests.Drives = _PLAIN,
    ) -> Result:
        """Return what becomes of values together.

        :param over: values whose needs are met, by default those of CHOSEN
        :param at_all: leave driver and libvirt out if they are refused
        """
        own, specs, has_kernel = values.beneath(*(over or chosen))
        base: dict[str, str] = {**own, **self._image}
        if has_kernel:
            base['kernel_id'] = 'kernel'
        flavor = objects.Flavor(
            id=1, flavorid='1', name='small', vcpus=guests.VCPUS,
            memory_mb=guests.MEMORY, root_gb=1, ephemeral_gb=0, swap=0,
            extra_specs=specs)
        overrides = override.Overrides(tuple(
            override.Override(cases.CATALOG[field], field, value)
            for field, value in chosen))
        image = {'id': 'image', 'container_format': 'bare',
                 'disk_format': drives.format}
        merged = boot_metadata(image, overrides.merge(base))
        found = check.problems(
            flavor, merged, base, overrides, virt_drivers=_DRIVERS)
        found.update((each.name, each) for each in no_effect.on_hosts(
            _DRIVERS, base, merged['properties'], overrides))
        try:
            disks.require_room(
                plan.Plan(plan.Change(flavor, {'properties': base}, overrides,
                                      overrides), merged, _DRIVERS),
                drives.mappings, drives.has_config_drive)
        except errors.Invalid as exc:
            found.update((each.name, each) for each in exc.problems)
        refused = {name: (each.code, each.reason)
                   for name, each in found.items()}
        if refused and at_all:
            return Result(refused, '', '')
        try:
            xml = self.bench.define(flavor, merged, drives)
        except guests.Refused as exc:
            return Result(refused, str(exc), '')
        return Result(refused, '', xml)

    def _try_singles(self) -> None:
        """Try each value by itself, which is beside the family's own."""
        for value in values.all_values():
            found = self._singles[value] = self.result(value)
            kind = self._kind_of_single(value, found)
            self.counted[f'values: {kind}'] += 1
            if kind == 'unexplained':
                self._add(found, value)

    def _kind_of_single(self, value: values.Value, found: Result) -> str:
        if found.refused:
            return 'refused'
        if not found.failed:
            return 'defined'
        field, text = value
        if text in cases.CATALOG[field].record.hosts or (
                explained.by_host(found.failed, value)):
            return 'left to hosts'
        return 'unexplained'

    def pairs(self) -> None:
        """Try each value, each pair, and some triples."""
        self._try_singles()
        for one, other in itertools.combinations(self._singles, 2):
            if one[0] != other[0]:
                self._pair(one, other)
        self._try_triples()

    def drives(self) -> None:
        """Try each bus with some disks, and with a CD-ROM drive."""
        for bus, number, beside in itertools.product(
                cases.taken(cases.CATALOG['hw_disk_bus']), (1, 4, 5),
                ('', 'config drive', 'ISO root')):
            value, drives = ('hw_disk_bus', bus), guests.Drives(number, beside)
            found = self.result(value, drives=drives)
            if found.refused:
                kind = ('refused, and not defined' if found.failed else
                        'refused, and makes no difference' if found.xml
                        == self.result(drives=drives).xml else 'unexplained')
            else:
                kind = self._kind_of_single(value, found)
            self.counted[f'drives: {kind}'] += 1
            if kind == 'unexplained':
                self._add(found, value, (str(number), beside))

    def starts(self) -> None:
        """Start the guests of some pairs."""
        for pair in starts.pairs(self._family):
            found = self.result(*pair)
            kind = ('started' if not found.refused and not found.failed else
                    'left to hosts' if explained.by_host(found.failed, *pair)
                    else 'unexplained')
            self.counted[f'starts: {kind}'] += 1
            if kind == 'unexplained':
                self._add(found, *pair)

    def _try_triples(self) -> None:
        """Try some triples: what is accepted is defined."""
        chance = random.Random(_SEED)  # noqa: S311
        usable = [value for value, found in self._singles.items()
                  if not found.failed]
        while self.counted['triples: tried'] < _TRIPLES:
            chosen = chance.sample(usable, 3)
            if len({field for field, _ in chosen}) < 3:
                continue
            self.counted['triples: tried'] += 1
            found = self.result(*chosen)
            if found.refused or not found.failed:
                kind = 'refused' if found.refused else 'defined'
                self.counted[f'triples: {kind}'] += 1
            elif explained.by_host(found.failed, *chosen):
                self.counted['triples: left to hosts'] += 1
            else:
                self._add(found, *chosen)

    def _pair(self, one: values.Value, other: values.Value) -> None:
        alone = [self._singles[each] for each in (one, other)]
        # What is refused alone is not about the pair.
        is_one = any(each.refused for each in alone)
        found = self.result(one, other, at_all=is_one)
        if found.refused:
            kind = 'refused, as one of them alone' if is_one \
                else self._kind_of_refused(one, other, found)
        elif not found.failed:
            kind = 'defined'
        else:
            kind = 'left to hosts' if any(
                not each.refused and each.failed for each in alone) or (
                    explained.by_host(found.failed, one, other)
                ) else 'unexplained'
        self.counted[f'pairs: {kind}'] += 1
        if kind == 'unexplained':
            self._add(found, one, other)

    def _kind_of_refused(
        self, one: values.Value, other: values.Value, found: Result,
    ) -> str:
        """Return why it is right to refuse a pair."""
        if found.failed:
            return 'refused, and not defined'
        if found.xml in [self.result(each, over=(one, other)).xml
                         for each in (one, other)]:
            return 'refused, and one of them makes no difference'
        return ('refused, and explained' if explained.refusal(
            found.refused) else 'unexplained')

    def _add(self, found: Result, *chosen: values.Value) -> None:
        row = {'family': self._family, 'values': [
            '='.join(each) for each in chosen],
            'refused': [': '.join(each) for each in found.refused.values()],
            'failed': found.failed}
        self.unexplained.append(row)
        print(row, flush=True)


def main() -> None:
    """Run, and record what becomes of each family's pairs and drives."""
    parser = argparse.ArgumentParser(prog='pairs', description=__doc__)
    parser.add_argument('families', nargs='*', metavar='FAMILY',
                        default=[*values.FAMILIES], help='by default all')
    parser.add_argument('--only', choices=_WHAT)
    given = parser.parse_args()
    state = state_module.State.default()
    instances = state.subfolder('pairs')
    is_explained = True
    with hypervisor.Hypervisor(state) as libvirtd:
        guests.prepare(libvirtd.uri, instances)
        head = {**libvirtd.versions(), 'book': cases.book_digest()}
        for family, what in itertools.product(
                given.families, [given.only] if given.only else _WHAT):
            began = time.monotonic()
            run = Run(guests.Bench(libvirtd.uri), family) \
                if what != 'starts' else Run(starts.Bench(
                    libvirtd.uri, guests.folder(instances),
                    guest.Guest(state)), family, **starts.image(family))
            getattr(run, what)()
            found = {**run.counted, 'guests': run.bench.defined,
                     'minutes': round((time.monotonic() - began) / 60, 1)}
            print(family, found, flush=True)
            if not run.unexplained:
                figures.record(f'{what}-{family}-{libvirtd.record}',
                               {'family': family, **head, **found})
            is_explained &= not run.unexplained
    sys.exit(not is_explained)


if __name__ == '__main__':
    main()
