"""What a check costs that asks for hosts: bounded, however many there are.

With ``HOSTS=1000`` and ``-s`` it prints how long that takes, too, compared with
a create.
"""

import collections
import functools
import os
import re
import time
from unittest import mock

from nova import context as nova_context
from nova import objects
from nova.scheduler.client import report
from oslo_utils import timeutils
from oslo_utils import uuidutils

from nova_image_override import versions
from nova_image_override.hosts import answer
from nova_image_override.hosts import scheduler
from testing.cost import overrides
from testing.harness import base
from testing.harness import statements

HOSTS = int(os.environ.get('HOSTS', '120'))

#: No host has one of them, with ten others: without each alone there is none.
NEITHER = {**overrides.TEN, 'img_hv_type': 'xen', 'hw_architecture': 'aarch64'}
TRAITS = {**overrides.TEN, 'trait:CUSTOM_NOBODY': 'required',
          'trait:HW_CPU_X86_AVX512F': 'required'}

_TABLE = re.compile(r'\bFROM (compute_nodes|instances)\b')


class Cloud(base.Cloud):
    SHARED = False
    # Nobody would, on the copies.
    BUILD = False

    def copy_host(self, number):
        """Store as many hosts that are like the one that runs."""
        context = nova_context.get_admin_context()
        mapping = objects.HostMapping.get_by_host(context, 'compute1')
        running = self.compute_rp_uuids['compute1']
        inventories = self._get_provider_inventory(running)
        traits = self._get_provider_traits(running)
        with nova_context.target_cell(context, mapping.cell_mapping) as cell:
            node, *_ = objects.ComputeNodeList.get_all(cell)
            fields = {name: getattr(node, name) for name in node.fields
                      if name in node and name not in (
                          'id', 'created_at', 'updated_at', 'deleted_at',
                          'deleted')}
            for _ in range(number):
                host = uuid = uuidutils.generate_uuid()
                objects.HostMapping(
                    context, host=host,
                    cell_mapping=mapping.cell_mapping).create()
                objects.Service(
                    cell, host=host, binary='nova-compute', topic='compute',
                    report_count=1, last_seen_up=timeutils.utcnow()).create()
                objects.ComputeNode(cell, **{
                    **fields, 'uuid': uuid, 'host': host,
                    'hypervisor_hostname': host}).create()
                self.placement.post('/resource_providers', {
                    'name': host, 'uuid': uuid}, version='1.20')
                self._update_inventory(uuid, {
                    'resource_provider_generation': 0,
                    'inventories': inventories})
                self._set_provider_traits(uuid, traits)

    def counted(self, asked, flavor):
        """Return what a check says of hosts, what that read, and how long."""
        read = collections.Counter()
        get = report.SchedulerReportClient.get

        def count(statement):
            if found := _TABLE.search(statement.text):
                read[found[1]] += 1

        @functools.wraps(get)
        def call(client, *args, **kwargs):
            read['placement'] += 1
            return get(client, *args, **kwargs)

        with statements.Statements(count), mock.patch.object(
                report.SchedulerReportClient, 'get', call):
            for hosts in (False, True):
                read, before = collections.Counter(), read
                began = time.perf_counter()
                checked = self.http('POST', versions.CHECK_PATH, {
                    **self.server_body(asked, flavor=flavor), 'hosts': hosts,
                }, admin=True)
                took = time.perf_counter() - began
                checked.expect(200)
        return (checked.body[base.PARAMETER]['hosts'], dict(read - before),
                took)


def test_a_check_asks_eleven_times_for_fifty_hosts_at_most(cloud):
    flavor = cloud.flavor(4)
    cloud.copy_host(answer.MOST - 1)
    times = 1 + scheduler.QUESTIONS_MAX
    told, read, _ = cloud.counted(NEITHER, flavor)
    assert sorted(told['in_the_way']) == sorted(NEITHER)
    assert read == {'placement': times, 'compute_nodes': times,
                    'instances': times * answer.MOST}

    cloud.copy_host(HOSTS - answer.MOST)
    once = {'placement': 1, 'compute_nodes': 1, 'instances': answer.MOST}
    told, read, one = cloud.counted(overrides.TEN, flavor)
    assert (told['possible'], read) == (True, once)
    told, read, _ = cloud.counted(NEITHER, flavor)
    assert (told['possible'], read) == ('unknown', once)
    told, read, most = cloud.counted(TRAITS, flavor)
    assert (told['possible'], read) == (False, {**once, 'placement': times})

    began = time.perf_counter()
    assert cloud.create(overrides.TEN, flavor=flavor).status == 202
    create = time.perf_counter() - began
    print(f'{HOSTS} hosts: as long as {one / create:.1f} creates until 202, '
          f'{most / create:.1f} with {times} questions')
