"""Servers in Nova's databases, and what these say of them."""

from nova import context as nova_context
from nova import objects
from nova.compute import vm_states
from oslo_utils import uuidutils

from nova_image_override.api.change import store
from tests.unit.api.change.plans import stored
from tests.unit.api.guest import guests
from tests.unit.strategies import overrides_of

IMAGE = {'hw_video_model': 'vga'}
OVERRIDES = {'hw_disk_bus': 'virtio', 'hw_boot_menu': 'true'}


def server(overrides=OVERRIDES, **fields):
    """Store a stopped server, with its request spec and two disks."""
    context = nova_context.get_admin_context()
    found = objects.Instance(context, **{
        'uuid': uuidutils.generate_uuid(), 'project_id': 'p', 'user_id': 'u',
        'host': 'compute1', 'vm_state': vm_states.STOPPED, 'task_state': None,
        'instance_type_id': 1, 'flavor': guests.flavor(), 'image_ref': 'a',
        'root_device_name': '/dev/vda', 'os_type': 'linux',
        'system_metadata': {
            **stored(overrides, IMAGE), 'image_base_image_ref': 'a'}, **fields})
    found.create()
    spec = objects.RequestSpec(
        context, instance_uuid=found.uuid, flavor=guests.flavor(),
        image=guests.image(**overrides_of(overrides).merge(IMAGE)),
        numa_topology=None)
    spec.create()
    add_disk(found, '/dev/vda', boot_index=0, disk_bus='virtio')
    add_disk(found, '/dev/vdb', disk_bus='virtio')
    return store.stored(found)


def add_disk(instance, name, **fields):
    objects.BlockDeviceMapping(instance._context, **{
        'instance_uuid': instance.uuid, 'boot_index': -1, 'device_name': name,
        'device_type': 'disk', 'source_type': 'blank',
        'destination_type': 'local', **fields}).create()


def change(server, **fields):
    """Store something else of a server, as another request does."""
    other = store.stored(server)
    other.update(fields)
    other.save()


def topology(memory_mb=512):
    return objects.InstanceNUMATopology(cells=[objects.InstanceNUMACell(
        id=0, cpuset={0}, pcpuset=set(), memory=memory_mb)])


def spec(instance):
    return objects.RequestSpec.get_by_instance_uuid(
        instance._context, instance.uuid)


def set_image(instance, image):
    """Store another image in a server's request spec."""
    present = spec(instance)
    present.image = image
    present.save()


def image(instance):
    """Return the image properties in a server's request spec."""
    found = spec(instance).image.properties
    return {name: getattr(found, name) for name in found.fields
            if found.obj_attr_is_set(name)}


def everything(instance):
    """Return all that a change may store."""
    present = store.stored(instance)
    return (present.task_state, dict(present.system_metadata), present.os_type,
            present.numa_topology, image(present),
            [(each.disk_bus, each.device_name)
             for each in present.get_bdms()])


class Scheduler:
    """In place of scheduling.HostScheduler.

    :ivar required: names and image properties of each that it was asked for
    """

    def __init__(self, numa=(), by_nova=False):
        self.numa, self.by_nova, self.required = numa, by_nova, []

    def changing_numa(self, instance, record, plan):
        return self.numa

    def is_asked_by_nova(self, context, instance, image):
        return self.by_nova

    def require(self, context, instance, spec, wanted, names, remedy):
        self.required.append((sorted(names), wanted.properties))
