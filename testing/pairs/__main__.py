"""``python -m testing.pairs``: what is accepted together is defined together.

For every pair of values of the properties that libvirt's driver reads, over
the plain image of each family of guests: the answer of our own check, and what
Nova's driver and a real libvirt make of the guest all the same. Whatever is
accepted must be defined; whatever is refused as a pair must fail, make no
difference, or be explained. Exits with 1 when a pair is left unexplained.
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

from nova_image_override import override
from nova_image_override.api.guest import check
from nova_image_override.api.guest import no_effect
from nova_image_override.api.guest.guest import boot_metadata
from testing import figures
from testing.cases import values as cases
from testing.deployment import state as state_module
from testing.pairs import explained
from testing.pairs import guests
from testing.pairs import hypervisor
from testing.pairs import values

_DRIVERS = frozenset({'libvirt'})
_TRIPLES = 1000
#: So that another run tries the same triples.
_SEED = 48


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
    """One family of guests."""

    def __init__(self, bench: guests.Bench, family: str) -> None:
        self._bench = bench
        self._family = family
        self._singles: dict[values.Value, Result] = {}
        self.counted: collections.Counter[str] = collections.Counter()
        self.unexplained: list[dict[str, typing.Any]] = []

    def result(self, *chosen: values.Value, at_all: bool = False) -> Result:
        """Return what becomes of values together.

        :param at_all: leave driver and libvirt out if they are refused
        """
        own, specs, has_kernel = values.beneath(*chosen)
        base: dict[str, str] = {**own, **values.FAMILIES[self._family]}
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
                 'disk_format': 'qcow2'}
        merged = boot_metadata(
            image, overrides.merge(base))
        found = check.problems(
            flavor, merged, base, overrides,
            virt_drivers=_DRIVERS)
        found.update((each.name, each) for each in no_effect.on_hosts(
            _DRIVERS, base, merged['properties'], overrides))
        refused = {name: (each.code, each.reason)
                   for name, each in found.items()}
        if refused and at_all:
            return Result(refused, '', '')
        try:
            return Result(refused, '', self._bench.define(flavor, merged))
        except guests.Refused as exc:
            return Result(refused, str(exc), '')

    def singles(self) -> None:
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
        """Try each pair."""
        for one, other in itertools.combinations(self._singles, 2):
            if one[0] != other[0]:
                self._pair(one, other)

    def triples(self) -> None:
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
        if found.xml in [self._singles[each].xml for each in (one, other)]:
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
    """Run, and record what is found."""
    parser = argparse.ArgumentParser(prog='pairs', description=__doc__)
    parser.add_argument('families', nargs='*', metavar='FAMILY',
                        help='those to try and print, by default all')
    parser.add_argument('--singles', action='store_true',
                        help='try and print no pairs')
    given = parser.parse_args()
    state = state_module.State.default()
    unexplained = []
    rows = []
    began = time.monotonic()
    with hypervisor.Hypervisor(state) as libvirtd:
        guests.prepare(libvirtd.uri, state.subfolder('pairs'))
        bench = guests.Bench(libvirtd.uri)
        for family in given.families or values.FAMILIES:
            run = Run(bench, family)
            run.singles()
            if not given.singles:
                run.pairs()
                run.triples()
            rows.append({'family': family, **run.counted})
            print(rows[-1], flush=True)
            unexplained += run.unexplained
        versions = libvirtd.versions()
    minutes = round((time.monotonic() - began) / 60, 1)
    print(f'{bench.defined} guests in {minutes} minutes with '
          f'{versions["versions"]}; {len(unexplained)} unexplained')
    if unexplained:
        sys.exit(1)
    if not given.families and not given.singles:
        figures.record(f'pairs-debian{versions["debian"]}', {
            **versions, 'values': len(values.all_values()),
            'minutes': minutes}, rows)


if __name__ == '__main__':
    main()
