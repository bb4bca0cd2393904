"""What a check says is what the create then gets, refusal or server."""

import collections
import collections.abc
import json
import os
import typing

import hypothesis
from hypothesis import strategies as st
from nova import context as nova_context
from nova import objects
import pytest

from nova_image_override import metadata_keys
from nova_image_override import versions
from nova_image_override.server_record import ServerRecord
from testing import figures
from testing.harness import base
from tests.proof import api
from tests.proof import bodies
from tests.unit import strategies

EXAMPLES = 10_000 if figures.FULL else 300

#: Extra specs of the flavors, with '__' for ':'.
FLAVORS: tuple[dict[str, str], ...] = (
    {}, {'hw__mem_page_size': 'any'}, {'hw__mem_page_size': 'large'},
    {'hw__cpu_policy': 'dedicated', 'hw__mem_page_size': '2048'},
    {'hw__cpu_policy': 'dedicated', 'hw__cpu_realtime': 'yes',
     'hw__cpu_realtime_mask': '^0'},
    {'hw__cpu_policy': 'mixed', 'hw__cpu_dedicated_mask': '0-1'},
    {'hw__cpu_policy': 'shared'}, {'hw__numa_nodes': '2'},
    {'hw__cpu_max_sockets': '2', 'hw__pci_numa_affinity_policy': 'legacy'},
    {'hw__mem_page_size': 'any', 'hw__locked_memory': 'true',
     'hw__vif_multiqueue_enabled': 'true', 'hw__watchdog_action': 'reset'},
    {'trait__CUSTOM_A': 'forbidden', 'hw_video__ram_max_mb': '16'},
)

#: Properties of the images.
IMAGES: tuple[dict[str, str], ...] = (
    {}, {'hw_numa_nodes': '2'}, {'hw_cpu_policy': 'dedicated'},
    {'hw_disk_bus': 'virtio', 'os_distro': 'debian'},
    {'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
     'hw_numa_mem.0': '1024', 'hw_numa_mem.1': '3072'},
    {'hw_mem_page_size': 'large', 'vmware_adaptertype': 'lsiLogic'},
    {'kernel_id': base.IMAGE, 'hw_video_ram': '4096'},
)

#: What NFV users ask for, sense and nonsense, with a flavor of 4 vCPUs and
#: 4 GiB.
_NFV = st.fixed_dictionaries({}, optional={
    'hw_numa_nodes': st.sampled_from(['1', '2', '3', '4', '5']),
    'hw_numa_cpus.0': st.sampled_from(['0', '0-1', '0-3', '0,2']),
    'hw_numa_cpus.1': st.sampled_from(['1-3', '2-3', '1,3', '4']),
    'hw_numa_mem.0': st.sampled_from(['1024', '2048', '4096']),
    'hw_numa_mem.1': st.sampled_from(['3072', '2048', '1']),
    'hw_mem_page_size': st.sampled_from(
        ['small', 'large', 'any', '2048', '1GB', '4']),
    'hw_cpu_policy': st.sampled_from(['dedicated', 'shared', 'mixed']),
    'hw_cpu_thread_policy': st.sampled_from(['isolate', 'prefer', 'require']),
    'hw_cpu_realtime_mask': st.sampled_from(['^0', '^0-1', '2-3', '0-3']),
    'hw_cpu_max_sockets': st.sampled_from(['1', '2', '4']),
    'hw_cpu_sockets': st.sampled_from(['1', '2', '3']),
    'hw_pci_numa_affinity_policy': st.sampled_from(
        ['required', 'preferred', 'legacy', 'socket']),
    'hw_locked_memory': st.sampled_from(['true', 'false']),
    'hw_vif_multiqueue_enabled': st.sampled_from(['true', 'false']),
})

#: Only a few, or hardly any would be accepted together.
_SOME = _NFV.flatmap(lambda said: st.sets(
    st.sampled_from(sorted(said)), max_size=5).map(
        lambda names: {name: said[name] for name in names}) if said
    else st.just({}))
_NULLS = st.dictionaries(
    st.sampled_from(['hw_numa_nodes', 'hw_disk_bus', 'hw_cpu_policy']),
    st.none(), max_size=1)
_OVERRIDES = st.builds(
    lambda *parts: {name: value for part in parts
                    for name, value in part.items()},
    _NFV | _SOME | _SOME, _NULLS,
    st.lists(strategies.pairs(), max_size=2).map(dict))


class Cloud(api.Api):
    OPTIONS: typing.ClassVar[dict[str, typing.Any]] = {
        'allowed_properties': ['*'],
        'denied_properties': ['hw_vif_model', 'trait:CUSTOM_GOLD']}


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[Cloud]:
    with Cloud.running() as running:
        running.flavor_ids = [
            running.flavor(vcpus=4, ram=4096, **specs) for specs in FLAVORS]
        running.image_ids = [
            running.image(**{name.replace('.', '__'): value
                             for name, value in properties.items()})
            for properties in IMAGES]
        yield running


def requests(cloud: Cloud) -> st.SearchStrategy[bytes]:
    """Bodies of creates: half with overrides that mostly make sense."""
    def body(flavor: str, image: str, overrides: typing.Any) -> bytes:
        return json.dumps(
            cloud.server_body(overrides, image, flavor)).encode()

    sense = st.builds(
        body, st.sampled_from(cloud.flavor_ids),
        st.sampled_from(cloud.image_ids), _OVERRIDES)
    anything = st.sampled_from(cloud.flavor_ids).flatmap(
        bodies.overrides).map(lambda case: case.body)
    return st.one_of(sense, sense, anything)


def topology_of(instance: objects.Instance) -> typing.Any:
    topology = instance.numa_topology
    return topology and [
        (cell.id, cell.cpuset | cell.pcpuset, cell.pcpuset, cell.memory,
         {-1: 'small', -2: 'large', -3: 'any'}.get(
             cell.pagesize, cell.pagesize),
         cell.cpu_policy, cell.cpu_thread_policy) for cell in topology.cells]


def topology_told(told: typing.Any) -> typing.Any:
    return told and [
        (node['id'], set(node['cpus']), set(node['dedicated_cpus']),
         node['memory_mb'], node['page_size'], node['cpu_policy'],
         node['cpu_thread_policy']) for node in told['nodes']]


def test_generated_requests_get_what_was_told(cloud: Cloud) -> None:
    counted: collections.Counter[str] = collections.Counter()

    @hypothesis.seed(0 if not figures.FULL else os.urandom(8))
    @hypothesis.settings(
        max_examples=EXAMPLES, deadline=None, database=None, print_blob=True,
        suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(requests(cloud))
    def run(body: bytes) -> None:
        writes = cloud.writes
        checked = cloud.ask('POST', f'/v2.1{versions.CHECK_PATH}', body)
        assert cloud.writes == writes, 'a check has left something'
        created = cloud.ask('POST', '/v2.1/servers', body)
        counted[str(created.status_int)] += 1
        if created.status_int != 202:
            assert (checked.status, checked.text) == (
                created.status, created.text)
            return
        assert checked.status_int == 200, checked.text
        instance = objects.BuildRequest.get_by_instance_uuid(
            nova_context.get_admin_context(),
            created.json['server']['id']).instance
        metadata = instance.system_metadata
        told = checked.json[base.PARAMETER]
        stored = cloud.properties(metadata)
        for name, value in told['properties'].items():
            assert stored.pop(name) == value
        # What Nova itself adds.
        assert {name for name in stored
                if not metadata_keys.is_property(name)} <= {
            'base_image_ref', 'container_format', 'disk_format', 'min_disk',
            'min_ram', 'name', 'owner_project_name'}
        record = ServerRecord.read(metadata)
        assert record.in_force == {
            name: each['value'] for name, each in told['overridden'].items()}
        assert record.image_values == {
            name: each['image_value']
            for name, each in told['overridden'].items()}
        if told['numa_topology'] is not None:
            counted['NUMA topologies'] += 1
        assert topology_told(told['numa_topology']) == topology_of(instance)

    run()
    assert counted['202'] and counted['400'] and counted['403']
    assert counted['NUMA topologies']
