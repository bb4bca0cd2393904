"""``make bench-start``: the start of nova-api with lists as long as can be.

Standard input has the rows of a few servers (benchmarks.scale_servers).
"""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import statistics
import sys
import typing

from benchmarks import scale_api
from benchmarks import scale_rows
from benchmarks import table
from nova_image_override import policies
from nova_image_override import versions
from nova_image_override.properties import book
from testing import figures
from testing.cost import overrides

_ROUNDS = 3
_PRESETS = {f'preset-{n}': {
    'description': 'x' * 200,
    'properties': {'hw_boot_menu': 'true', 'hw_rng_model': 'virtio', **{
        f'trait:CUSTOM_{n}_{m}': 'required' for m in range(8)}},
} for n in range(100)}
_NAMES = [*(f'x_{n}_' for n in range(299)), '']
_PROTECTIONS = ''.join(f'[^{name}.*$]\n' + ''.join(
    f'{what} = {name}member\n' for what in (
        'create', 'read', 'update', 'delete')) for name in _NAMES)
_POLICY = dict.fromkeys([
    *map(policies.PRESET_RULE.format, _PRESETS),
    *map(policies.PROPERTY_RULE.format, (
        name for name, record in book.RECORDS.items() if not record.never)),
    *(f'x{n}' for n in range(500))][:500], 'role:member')
HEAD = ['nova-api', 'start, s', 'memory, MiB', 'discovery, ms',
        'check, 10 overrides, ms']


class Long(scale_api.API):
    """One with 1,000 entries, 100 presets, 500 rules, 300 sections."""

    def configure(self) -> None:
        """Write its files."""
        for name, text in {
                'protections.conf': _PROTECTIONS,
                'glance-policy.yaml': json.dumps({
                    f'{name}member': 'role:member' for name in _NAMES}),
                'import.conf': '[inject_metadata_properties]\n'
                               'inject = x_origin:cloud\n'}.items():
            (self.folder / name).write_text(text)
        self.policy = _POLICY
        self.rules |= {
            'allowed_properties': ', '.join(
                [*(f'hw_none_{n}_*' for n in range(999)), '*']),
            'property_protection_file': str(self.folder / 'protections.conf'),
            'property_protection_rule_format': 'policies',
            'property_protection_policy_file': str(
                self.folder / 'glance-policy.yaml'),
            'glance_image_import_files': str(self.folder / 'import.conf')}
        super().configure()


def _measure(api: scale_api.API, image: str) -> list[float]:
    """Return what one start takes, and requests after the first."""
    api.up()
    found = [scale_api.spent(api), int(re.search(
        r'VmRSS:\s+(\d+)', pathlib.Path(f'/proc/{api.pid}/status').read_text()
    )[1]) / 1024]  # type: ignore[index]
    body = {'name': 'x', 'imageRef': image, 'flavorRef': 'scale',
            'networks': 'none', 'image_props_override': overrides.TEN}
    requests: list[tuple[typing.Any, ...]] = [
        ('GET', versions.PATH),
        ('POST', versions.CHECK_PATH, {'server': body}),
    ] if api.extended else []
    for request in requests:
        for _ in range(4):
            began = scale_api.spent(api)
            api.send('project', True, *request)
            took = scale_api.spent(api) - began
        found.append(took * 1000)
    api.stop()
    return found


def main() -> None:
    """Start them, one after the other, and record."""
    few = json.load(sys.stdin)
    with scale_api.running('.cloud-start', few['image']) as (
            state, database, others), contextlib.ExitStack() as ending:
        kinds = {
            'unmodified': scale_api.API(state, 'nova-api-plain', others),
            'one preset, "*" in the list': scale_api.API(
                state, 'nova-api-1', others, few['presets']),
            'long lists': Long(state, 'nova-api-2', others, _PRESETS)}
        for number, api in enumerate(kinds.values()):
            ending.callback(api.stop)
            api.configure()
            if not number:
                api.setup(database)
        scale_rows.Servers(state, few, 2, 20).load(220, 10)
        measured = {name: [_measure(api, few['image']['id'])
                           for _ in range(_ROUNDS)]
                    for name, api in kinds.items()}
    rows = []
    for name, runs in measured.items():
        row = [name, *(f'{statistics.median(each):.1f}'
                       for each in zip(*runs, strict=True))]
        rows.append([*row, *[''] * (len(HEAD) - len(row))])
    table.plain(sys.stdout, 'Start', HEAD, rows)
    figures.record('start', {
        'rounds': _ROUNDS, 'processors': os.cpu_count()},
        [{'table': 'Start', 'rows': [HEAD, *rows]}])


if __name__ == '__main__':
    main()
