"""A server whose overrides are updated, and what is reported about it."""

import os

import fixtures
from nova import objects
from nova.virt.libvirt import driver

from nova_image_override.server_record import ServerRecord
from testing.harness import base

VGA = {'hw_video_model': 'vga'}
NETWORK = {'hw_vif_model': 'e1000'}
NUMA = {
    'hw_numa_nodes': '2',
    'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1',
    'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768',
}


class Cloud(base.Cloud):
    EXTENDED_HOSTS = ('compute1',)

    def move_without_copies(self):
        """Let servers move, which would copy files to the other host."""
        self.useFixture(fixtures.MockPatch(
            'nova.virt.libvirt.driver.LibvirtDriver.'
            'migrate_disk_and_power_off', return_value='{}'))

    def update(self, server, overrides, *, body=None, **kwargs):
        """PUT /servers/{id}."""
        return self.http('PUT', f'/servers/{server}', {
            'server': {base.PARAMETER: overrides, **(body or {})}}, **kwargs)

    def put(self, server, overrides, **kwargs):
        """Return what sends an update that has to succeed."""
        def send():
            self.update(server, overrides, **kwargs).expect(200)
        return send

    def stop(self, server):
        self.do(server, 'os-stop', 'SHUTOFF')

    def stopped(self, overrides=None, **kwargs):
        server = self.boot(overrides, **kwargs)
        self.stop(server)
        return server

    def rescue(self, server, **how):
        """Rescue a server, after making the folder that its disks made."""
        os.makedirs(os.path.join(base.CONF.instances_path, server),
                    exist_ok=True)
        return self.act(server, {'rescue': how})

    def offloaded(self, overrides=None, **kwargs):
        """Return a server without a host; from an image by default."""
        server = self.boot(overrides, **kwargs)
        self.offload(server)
        return server

    def offload(self, server):
        self.flags(shelved_offload_time=0)
        self.do(server, 'shelve', 'SHELVED_OFFLOADED')
        self.wait_until_given_up(server)
        for image in self.glance.images.values():
            if image['properties'].get('instance_uuid') == server:
                image['status'] = 'active'

    def wait_until_given_up(self, server):
        """Wait until an offloaded server has no host.

        That comes after its status (ComputeManager._shelve_offload_instance).
        """
        self.commits.until(lambda: self.instance(server).host, None)

    def state(self, server):
        """Return everything that a refusal must leave as it was."""
        instance = self.instance(server)
        return {
            'name': instance.display_name,
            'updated': instance.updated_at,
            'system metadata': dict(instance.system_metadata),
            'NUMA': instance.numa_topology
            and instance.numa_topology.obj_to_primitive(),
            'request spec': self.spec(server).obj_to_primitive(),
            'state': (instance.vm_state, instance.task_state)}

    def assert_changed(self, server, *possible):
        """Assert that answer, metadata and request spec say the same.

        :param possible: the overrides that the server may have
        :returns: those that it has
        """
        shown = self.show(server)
        overrides = shown[base.PARAMETER]
        assert overrides in possible
        assert shown['OS-EXT-STS:task_state'] is None
        instance = self.instance(server)
        stored = self.properties(instance)
        assert {name: stored.get(name) for name in overrides} == overrides
        assert ServerRecord.of(instance).image_values.keys() \
            == overrides.keys()
        spec = self.request_spec(server)
        expected = objects.ImageMetaProps.from_dict(dict(stored))
        differing = {
            field for field in {*expected.fields}
            if spec.get(field) != (
                getattr(expected, field)
                if expected.obj_attr_is_set(field) else None)}
        # What nova-compute stores with the server, and not in its request spec.
        assert differing <= {
            *driver.REGISTER_IMAGE_PROPERTY_DEFAULTS} - overrides.keys()
        return overrides

    def assert_refused_unchanged(self, server, status, problems, overrides,
                                 **kwargs):
        before = self.state(server)
        answer = self.update(server, overrides, **kwargs).expect(
            status, problems)
        assert self.state(server) == before
        return answer

    def assert_disks_agree(self, server):
        """Assert that the root disk is where the properties say."""
        instance = self.instance(server)
        root, = (each for each in instance.get_bdms() if each.boot_index == 0)
        assert root.disk_bus == self.properties(instance).get(
            'hw_disk_bus', 'virtio')
        assert root.device_name == instance.root_device_name

    def assert_numa_agrees(self, server):
        """Assert that server and request spec have one topology."""
        instance = self.instance(server)
        topologies = [
            each.numa_topology and [
                (cell.id, sorted(cell.cpuset), cell.memory)
                for cell in each.numa_topology.cells]
            for each in (self.spec(server), instance)]
        assert topologies[0] == topologies[1]
        assert bool(topologies[0]) == (
            'hw_numa_nodes' in self.properties(instance))
