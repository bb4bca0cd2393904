"""``make hostile-search``: the dearest request, searched for.

A population of cases (``hostile.Case``) for each kind of request. Again and
again one is changed a little and asked; what costs more processor time beyond
unmodified Nova, in the process of nova-api, takes the place of the cheapest.
A case is made of genes, so that a record of it is short.
"""
from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import logging
import math
import os
import platform
import random
import statistics
import sys
import time
import typing

import webob

# It must be the first to import anything of Nova.
import testing.harness  # noqa: F401

# isort: split
from benchmarks import hostile
from benchmarks import hostile_cloud
from benchmarks import table
from nova_image_override import errors
from nova_image_override.authorization import presets
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import property as property_module
from testing import figures

#: The bounds: of own time, in milliseconds where a plain create takes PLAIN,
#: and as a multiple of Nova's for what Nova takes too; and of what a refusal
#: answers and logs.
OWN, PLAIN, RATIO, LOG = 50, 38, 2, 4096

#: How many cases of each kind there are at a time.
POPULATION = 8

#: Numbers of NUMA nodes, vCPUs and traits: a flavor's 1,024 MB can be divided.
_COUNTS = [1, 2, 4, 8, 16, 64, 128]

#: What properties are made of: a name or what stands for several, a value, and
#: how often. Where they are put: letters of override, specs and image.
Gene = tuple[str, str, str, int]


class Genome(typing.NamedTuple):
    """What a case is made of.

    :ivar base: the title of a case that it begins with, or ''
    :ivar genes: what is added, in this order
    :ivar other: fields of the case
    """

    base: str
    genes: typing.Sequence[Gene]
    other: dict[str, typing.Any]

    def case(self) -> hostile.Case:
        """Make the case."""
        begun = hostile.CASES.get(self.base, hostile.Case({}))
        places: dict[str, dict[str, typing.Any]] = {
            'o': dict(begun.overrides), 's': dict(begun.specs),
            'i': dict(begun.image)}
        for where, name, value, count in self.genes:
            for each, one in _members(name, value, count):
                for place in where:
                    if place != 's':
                        places[place][each] = None if (
                            place == 'o' and one == 'null') else one
                    elif each.startswith(('hw_', 'os_')):
                        places['s'][each.replace('_', ':', 1)] = one
                    else:
                        places['s'][each] = 'forbidden'
        others = {name: value for name, value in dataclasses.asdict(
            begun).items() if name not in ('overrides', 'specs', 'image')}
        return hostile.Case(
            overrides=dict(list(places['o'].items())[:129]),
            specs=dict(list(places['s'].items())[:300]),
            image=dict(list(places['i'].items())[:2000]),
            **{**others, **self.other})


def _members(
    name: str, value: str, count: int,
) -> typing.Iterator[tuple[str, str]]:
    """Yield the properties of one gene; # stands for a number."""
    if name == 'hw_numa_nodes':
        yield name, str(count)
        for node in range(count):
            yield f'hw_numa_mem.{node}', str(1024 // count)
            yield f'hw_numa_cpus.{node}', value.replace('#', str(node))
    elif '#' in name:
        for number in range(count):
            yield name.replace('#', str(number)), value
    else:
        yield name, value * count if value == 'x' else value


class Breeder:
    """Makes genomes, and changes them.

    :param chance: decides
    """

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._properties = list(catalog_module.running().values())

    def _gene(self) -> Gene:
        chance = self._chance
        where = chance.choice(['o', 'o', 'o', 's', 'i', 'os', 'oi', 'osi'])
        count = chance.choice(_COUNTS)
        how = chance.random()
        if how < .02:
            return where, chance.choice([
                'x#', 'trait:#x', 'hw_vif_multiqueue_enable#', '\ue000#',
                'hw_numa_cpus.#', 'os_#_secure_boot', 'hw_numa_nodes#',
            ]), chance.choice(['required', 'x' * 255, '0-3', '\x1b']), count
        if how < .2:
            return where, 'trait:' + chance.choice([
                'CUSTOM_#', 'HW_CPU_X86_#', 'CUSTOM_' + 'A' * 190 + '#',
                'COMPUTE_#', 'HW_#']), chance.choice(
                    ['required', 'required', 'null']), count
        if how < .35:
            return where, 'hw_numa_nodes', chance.choice([
                '#', '#', ','.join(['0-239'] * 17), '#-239',
                ','.join(['#'] * 80), '^#,0-127']), count
        chosen = chance.choice(self._properties)
        return where, chosen.spelling.replace('.N', '.0').replace(
            'NAME', 'CUSTOM_0'), self._value(chosen), chance.choice([1, 256])

    def _value(self, chosen: property_module.Property) -> str:
        wild = ['null', 'x', 'no', '\x00', 'é' * 127, '0-239', '^0-9']
        values = list(chosen.values) or ['null']
        if isinstance(chosen, property_module.Boolean):
            values = ['true', 'false']
        elif isinstance(chosen, property_module.Integer):
            limits = chosen.record.limits
            values = [str(limits.minimum), str(limits.maximum), '2']
        return self._chance.choice(
            values if self._chance.random() < .97 else wild)

    def new(self, kind: str) -> Genome:
        """Make one of KIND."""
        chance = self._chance
        had = chance.choice(list(hostile.HAD)) \
            if kind in ('rebuild', 'update') else ''
        return self._other(Genome(
            chance.choice(['', '', *hostile.CASES]),
            tuple(self._gene() for _ in range(chance.randint(1, 40))),
            {'kind': kind, 'had': had}))

    def _other(self, genome: Genome) -> Genome:
        """Change what is not a property."""
        chance = self._chance
        name, value = chance.choice([
            ('vcpus', chance.choice([*_COUNTS, 97, 240])),
            ('rules', chance.choice(list(hostile_cloud.RULES))),
            ('roles', chance.choice(['member,reader', 'member', 'reader'])),
            ('fresh', chance.random() < .5),
            ('preset', chance.choice(['', '', 'preset-1', 'preset-']))])
        return genome._replace(
            other={**genome.other, name: value})

    def changed(self, genome: Genome) -> Genome:
        """Return GENOME with one to four changes."""
        chance = self._chance
        for _ in range(chance.randint(1, 4)):
            genes, how = list(genome.genes), chance.random()
            if how < .2:
                genome = self._other(genome)
            elif how < .3:
                genome = genome._replace(base=chance.choice(
                    ['', *hostile.CASES]))
            elif how < .45 and genes:
                del genes[chance.randrange(len(genes))]
            elif how < .65 and genes:
                at = chance.randrange(len(genes))
                _, name, value, count = genes[at]
                genes[at] = (chance.choice(['o', 's', 'os', 'oi', 'osi']),
                             name, value, count)
            else:
                genes += [self._gene() for _ in range(chance.choice([1, 8]))]
            genome = genome._replace(genes=tuple(genes))
        return genome


@dataclasses.dataclass
class Cost:
    """What a genome costs: seconds, statuses, bytes of answer and of log.

    :ivar plain: what a plain create of unmodified Nova took at the same time
    """

    genome: Genome
    own: float
    nova: float
    plain: float
    status: int
    novas: int
    answer: int
    log: int

    def row(self) -> dict[str, typing.Any]:
        """Return it for a record."""
        case = self.genome.case()
        return {
            'kind': case.kind, 'rules': case.rules,
            'own, ms': round(self.own * 1e3, 1),
            'Nova, ms': round(self.nova * 1e3, 1),
            'own / plain create': round(self.own / self.plain, 2),
            'own / Nova': round(self.own / self.nova, 2),
            'status': self.status, 'of Nova': self.novas,
            'answer, bytes': self.answer, 'log, bytes': self.log}

    def _answer_max(self) -> float:
        """Return how large the answer may be.

        Discovery has the deployer's presets, too; servers are Nova's.
        """
        kind = self.genome.other.get('kind')
        if kind == 'discovery':
            return errors.ANSWER_MAX + presets.BYTES_MAX
        return errors.ANSWER_MAX if (
            self.status >= 400 or kind == 'check') else math.inf

    def beyond(self) -> str:
        """Return which bounds it is beyond; Nova has no discovery."""
        return ', '.join(name for name, is_beyond in {
            'own time': self.own > self.plain * OWN / PLAIN,
            'ratio': self.own > RATIO * self.nova and self.novas < 400
                     and self.genome.other.get('kind') != 'discovery',
            'answer': self.answer > self._answer_max(),
            'log': self.log > LOG, '5xx': self.status >= 500,
        }.items() if is_beyond)


_PLAIN_CREATE = Genome('', (), {}).case()


class Search:
    """Measures cases and keeps the dearest."""

    def __init__(self, cloud: hostile_cloud.Cloud) -> None:
        self._cloud = cloud
        self.asked = 0
        self.plain = statistics.median(
            self._ask(_PLAIN_CREATE, True)[0] for _ in range(18))

    def _ask(
        self, case: hostile.Case, nova: bool,
    ) -> tuple[float, webob.Response, int]:
        """Return the processor time, the answer, and how much is logged."""
        call = self._cloud.prepare(case, nova)()
        self._cloud.log.size = 0
        gc.disable()
        began = time.process_time()
        answer = call()
        taken = time.process_time() - began
        gc.enable()
        logged = self._cloud.log.size
        self._cloud.restore()
        return taken, answer, logged

    def cost(
        self, genome: Genome, rounds: int = 1, least: float = 0,
    ) -> Cost | None:
        """Measure GENOME: medians of ROUNDS, Nova's right after each.

        So is a plain create, if there are several: another process makes all
        of them slower.

        :param least: None is returned if it takes no more seconds in all
        """
        case = genome.case()
        self.asked += 1
        ours, novas, plain = [], [], []
        for _ in range(rounds):
            taken, answer, logged = self._ask(case, False)
            if taken < least:
                return None
            ours.append(taken)
            taken, of_nova, _ = self._ask(case, True)
            novas.append(taken)
            if rounds > 1:
                plain.append(self._ask(_PLAIN_CREATE, True)[0])
        nova = statistics.median(novas)
        return Cost(
            genome, statistics.median(ours) - nova, nova,
            statistics.median(plain or [self.plain]), answer.status_int,
            of_nova.status_int, len(answer.body), logged)

    def run(self, seconds: float, breeder: Breeder,
            chance: random.Random) -> list[Cost]:
        """Search for so many SECONDS; return what is dearest of all."""
        found: dict[str, list[Cost]] = {kind: [] for kind in hostile.PATHS}
        odd: list[Cost] = []
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            kind = chance.choice([*hostile.PATHS, 'create', 'check', 'update'])
            kept = found[kind]
            genome = breeder.changed(chance.choice(kept).genome) \
                if kept and chance.random() < .85 \
                else breeder.new(kind)
            is_full = len(kept) == POPULATION
            cost = self.cost(genome, least=kept[-1].own if is_full else 0)
            if cost and (not is_full or cost.own > kept[-1].own
                         or cost.beyond()):
                # Once may be chance.
                if cost.own > 0 or cost.beyond():
                    cost = self.cost(genome, 3) or cost
                if cost.beyond():
                    cost = self.cost(genome, 9) or cost
                kept.append(cost)
                kept.sort(key=lambda each: -each.own)
                del kept[POPULATION:]
                if cost.beyond():
                    odd.append(cost)
                    print(cost.beyond(), cost.row(),
                          cost.genome, file=sys.stderr, flush=True)
        every = [cost for kept in found.values() for cost in kept]
        return sorted({id(cost): cost for cost in every + odd}.values(),
                      key=lambda each: -each.own)[:10]


def main() -> None:
    """Search, print the ten dearest and record them."""
    parser = argparse.ArgumentParser(prog='benchmarks.search')
    parser.add_argument('--minutes', type=float, default=60)
    parser.add_argument('--seed', type=int, default=time.time_ns() % 10**6)
    arguments = parser.parse_args()
    print('seed', arguments.seed, flush=True)
    chance = random.Random(arguments.seed)  # noqa: S311
    with hostile_cloud.Cloud.running() as cloud:
        search = Search(cloud)
        dearest = search.run(arguments.minutes * 60, Breeder(chance), chance)
        logging.disable()
    rows = [cost.row() for cost in dearest]
    table.plain(sys.stdout, f'The dearest of {search.asked}', list(rows[0]),
                [list(map(str, row.values())) for row in rows])
    figures.record('hostile', {
        'machine': f'{platform.machine()}, {os.cpu_count()} processors',
        'seed': arguments.seed, 'minutes': arguments.minutes,
        'requests': search.asked,
        'plain create, ms': round(search.plain * 1e3, 1),
        'beyond a bound': sum(
            bool(cost.beyond()) for cost in dearest),
        'dearest': [{**row, 'genome': json.dumps(cost.genome)}
                    for row, cost in zip(rows, dearest, strict=True)]})


def recorded() -> dict[str, hostile.Case]:
    """Return the cases that the last search found, by title."""
    rows = figures.read('hostile')['dearest']
    return {f'found: {row["kind"]} {number}, {row["rules"]}': Genome(
        *json.loads(row['genome'])).case()
        for number, row in enumerate(rows, 1)}


if __name__ == '__main__':
    main()
