"""What a check tells of hosts is what becomes of a server created at once."""
from __future__ import annotations

import collections
import collections.abc
import os
import random
import typing

import pytest

from testing import figures
from testing.harness import base
from testing.harness import nfv_hosts

REQUESTS = int(os.environ.get('REQUESTS', '300' if figures.FULL else '12'))
#: Servers that there are at once: they leave less room to the next ones.
SERVERS = 10

GOLD = 'CUSTOM_GOLD'

#: Extra specs of the flavors, with '__' for ':'; each has some sizes.
FLAVORS: tuple[dict[str, str], ...] = (
    {}, {}, {'hw__mem_page_size': 'any'}, {'hw__mem_page_size': 'any'},
    {'hw__cpu_policy': 'dedicated'}, {f'trait__{GOLD}': 'forbidden'},
    {'pci_passthrough__alias': 'nic:1'}, {'hw__numa_nodes': '2'})
SIZES = (1, 512), (2, 2048), (4, 4096), (6, 6144)

#: Values of overrides; None leaves it out.
VALUES: dict[str, tuple[str | None, ...]] = {
    'hw_numa_nodes': (None, None, None, '1', '2', '3'),
    'hw_mem_page_size': (None, None, 'small', 'large', '2MB', '1GB'),
    'hw_cpu_policy': (None, None, 'dedicated', 'shared'),
    'hw_cpu_thread_policy': (None, None, None, 'isolate', 'require'),
    f'trait:{GOLD}': (None, None, None, 'required'),
    'trait:HW_CPU_X86_AVX512F': (*[None] * 9, 'required'),
    'img_hv_type': (*[None] * 6, 'qemu', 'xen'),
    'hw_architecture': (*[None] * 6, 'x86_64', 'aarch64'),
    'hw_tpm_version': (*[None] * 9, '2.0'),
}


class Cloud(base.Cloud):
    """Six hosts: no two have the same CPUs, pages, devices, traits, zone."""

    HOSTS = ('smt', 'no-smt', 'device', 'gold', 'zone', 'plain')
    ADDITIONAL_FILTERS: typing.ClassVar = [
        *base.Cloud.ADDITIONAL_FILTERS, 'PciPassthroughFilter']

    def setUp(self) -> None:
        self.flags(group='compute', **nfv_hosts.CPU_SETS)
        self.flags(group='pci', **nfv_hosts.PCI)
        super().setUp()
        self._create_trait(GOLD)
        provider = self.compute_rp_uuids['gold']
        self._set_provider_traits(
            provider, [*self._get_provider_traits(provider), GOLD])
        aggregate = self.admin_api.post_aggregate({'aggregate': {
            'name': 'az1', 'availability_zone': 'az1'}})['id']
        self.admin_api.add_host_to_aggregate(aggregate, 'zone')

    def hardware(self, host: str) -> dict[str, typing.Any]:
        found = nfv_hosts.hardware(
            threads=1 if host == 'no-smt' else 2, devices=host == 'device')
        if host == 'plain':
            found['host_info'].mempages = {}
        return found


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[Cloud]:
    with Cloud.running() as running:
        yield running


def body_of(cloud: Cloud, draw: random.Random, flavors: list[str],
            groups: list[str]) -> dict[str, typing.Any]:
    """Return the body of a random create."""
    body = cloud.server_body({
        name: value for name, values in VALUES.items()
        if (value := draw.choice(values)) is not None},
        flavor=draw.choice(flavors))
    if draw.random() < .2:
        body['server']['availability_zone'] = 'az1'
    if draw.random() < .1:
        body['os:scheduler_hints'] = {'group': draw.choice(groups)}
    return body


def outcome(cloud: Cloud, body: dict[str, typing.Any]) -> tuple[str, str]:
    """Return the ID of a server, and what has become of it."""
    answer = cloud.http('POST', '/servers', body, admin=True)
    assert answer.status == 202, answer.text
    server = answer.body['server']['id']
    cloud.commits.until(lambda: cloud._state(server) in (
        ('ACTIVE', None), ('ERROR', None)), True)
    found = cloud.show(server)
    if found['status'] == 'ERROR':
        message = found['fault']['message']
        return server, 'NoValidHost' if message.startswith(
            'No valid host was found') else message
    return server, found['status']


def test_what_is_possible_becomes_active_and_nothing_else(cloud):
    draw = random.Random(  # noqa: S311
        int(os.environ.get('SEED', '52')))
    flavors = [cloud.flavor(*size, **specs)
               for specs in FLAVORS for size in SIZES]
    groups = [cloud.http('POST', '/os-server-groups', {'server_group': {
        'name': policy, 'policy': policy}}, admin=True).body[
            'server_group']['id']
        for policy in ('affinity', 'anti-affinity')]
    counted: collections.Counter[str] = collections.Counter()
    differ, servers = [], []
    while counted['possible'] + counted['not possible'] < REQUESTS:
        body = body_of(cloud, draw, flavors, groups)
        checked = cloud.http('POST', '/image-props-override/check',
                             {**body, 'hosts': True}, admin=True)
        if checked.status != 200:
            counted['refused by the check itself'] += 1
            continue
        told = checked.body[base.PARAMETER]['hosts']
        assert told['not_asked'] == []
        server, became = outcome(cloud, body)
        counted['possible' if told['possible'] else 'not possible'] += 1
        counted['not possible, with what is in the way'] += bool(
            told['in_the_way'])
        expected = {True: 'ACTIVE', False: 'NoValidHost'}
        if became != expected.get(told['possible']):
            differ.append((body, told, became))
        servers.append(server)
        if became != 'ACTIVE' or len(servers) > SERVERS:
            cloud.delete(servers.pop(
                -1 if became != 'ACTIVE' else draw.randrange(SERVERS)))
    for server in servers:
        cloud.delete(server)
    assert not differ, differ[:5]
    assert counted['possible'] and counted['not possible'], counted
    if figures.FULL:
        figures.record('hosts', {'requests': REQUESTS, **counted})
    print(dict(counted))
