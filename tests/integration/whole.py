"""Changes of servers, sent to a nova-api of one's choice, and what they leave.
"""

import contextlib
import xml.etree.ElementTree as ET

from keystoneauth1 import exceptions
from nova import config
from nova import context as nova_context
from nova import objects
import yaml

from nova_image_override import errors
from nova_image_override.server_record import ServerRecord
from testing import examples
from testing.deployment import guest
from testing.deployment import processes
from testing.deployment import state
from testing.deployment import tenants

PARAMETER = 'image_props_override'

#: What the image has.
OWN = {'hw_boot_menu': 'true'}

#: Two sets in which everything differs, the bus and what is removed too.
ONE = {'hw_video_model': 'vga', 'hw_disk_bus': 'sata', 'hw_boot_menu': None}
OTHER = {'hw_video_model': 'cirrus', 'hw_machine_type': 'q35',
         'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi'}

#: A preset, and another such set.
PRESET = 'legacy-bios-ide'
OF_PRESET = yaml.safe_load(examples.PRESETS.read_text())[PRESET]['properties']

_DEVICES = {'virtio': '/dev/vda', 'scsi': '/dev/sda', 'sata': '/dev/sda',
            'ide': '/dev/hda'}

#: Where the guest's XML has what a property asks for.
_GUEST = {
    'hw_video_model': ('devices/video/model', 'type'),
    'hw_machine_type': ('os/type', 'machine'),
    'hw_disk_bus': ("devices/disk[@device='disk']/target", 'bus')}


def body(image, flavor, **more):
    """Return a request for a server without ports."""
    return {'server': {
        'name': 'test-whole', 'imageRef': image, 'flavorRef': flavor,
        'networks': 'none', **more}}


@contextlib.contextmanager
def image_with(deployment, properties):
    """Have one of the guest with more properties, and return its id."""
    images = deployment.operator.image
    plain = images.find_image('guest')
    image = tenants.upload(
        images, 'test-whole', guest.Guest(deployment.state).disk,
        kernel_id=plain.kernel_id, ramdisk_id=plain.ramdisk_id, **properties)
    yield image
    images.delete_image(image)


class Client:
    """One user of the nova-api of that name."""

    def __init__(self, deployment, who='nfv', service='nova-api'):
        self._session = tenants.connect(deployment.state, who).session
        self._url = state.url(service, '/v2.1/servers')

    def send(self, method, path, body=None, expected=None, **headers):
        """Return the answer; None if there is none."""
        try:
            answer = self._session.request(
                f'{self._url}{path}', method, json=body, raise_exc=False,
                headers={
                    'OpenStack-API-Version':
                        'compute 2.93, image-props-override 1.0',
                    'Connection': 'close', **headers})
        except exceptions.ConnectFailure:
            return None
        assert expected in (None, answer.status_code), answer.text
        return answer

    def update(self, server, overrides, expected=None, **headers):
        return self.send('PUT', f'/{server}', {
            'server': _asked(overrides)}, expected, **headers)

    def act(self, server, action, body=None, expected=None, **headers):
        return self.send('POST', f'/{server}/action', {action: body},
                         expected, **headers)

    def rebuild(self, server, image, overrides=None, **headers):
        return self.act(server, 'rebuild', {
            'imageRef': image, **({} if overrides is None else _asked(
                overrides))}, **headers)

    def show(self, server):
        return self.send('GET', f'/{server}', expected=200).json()['server']

    def settled(self, server, *statuses):
        """Wait until nothing is done to it, and it has one of the statuses."""
        def shown():
            found = self.show(server)
            status = found['status']
            assert status != 'ERROR' or status in statuses, found
            return found['OS-EXT-STS:task_state'] is None and (
                status in statuses or (not statuses and status != 'BUILD')
            ) and found

        return processes.wait_for(shown, f'{server} {statuses}', 300)

    def do(self, server, action, status, body=None):
        """Do what is accepted, and wait for the end."""
        self.act(server, action, body, 202)
        return self.settled(server, status)

    def boot(self, image, flavor, zone='nova'):
        server = self.send('POST', '', body(
            image, flavor, availability_zone=zone, image_props_override=ONE,
        ), 202).json()['server']['id']
        self.settled(server, 'ACTIVE')
        return server

    def delete(self, server):
        self.send('DELETE', f'/{server}', expected=204)
        self.gone(server)

    def gone(self, server):
        processes.wait_for(
            lambda: self.send('GET', f'/{server}').status_code == 404,
            f'the end of {server}')


class Everywhere:
    """All that is stored of servers, and what libvirt was given."""

    def __init__(self, deployment):
        self._deployment = deployment
        config.parse_args(['nova'], default_config_files=[
            str(deployment.nova_api.config)])
        objects.register_all()

    def instance(self, server):
        context = nova_context.get_admin_context()
        mapping = objects.InstanceMapping.get_by_instance_uuid(context, server)
        nova_context.set_target_cell(context, mapping.cell_mapping)
        return objects.Instance.get_by_uuid(context, server, expected_attrs=[
            'flavor', 'system_metadata', 'numa_topology'])

    def is_taken_up(self, server):
        """Return whether a service is at work on the server, or is done.

        nova-conductor and nova-compute note when they begin with a rebuild
        (nova.compute.utils.EventReporter); nova-api does not.
        """
        instance = self.instance(server)
        action, = objects.InstanceActionList.get_by_instance_uuid(
            instance._context, server, limit=1)
        events = objects.InstanceActionEventList.get_by_action(
            instance._context, action.id)
        return instance.task_state is None or any(
            each.finish_time is None for each in events)

    def spec(self, server):
        """Return the request spec, by which a server is scheduled."""
        return objects.RequestSpec.get_by_instance_uuid(
            nova_context.get_admin_context(), server)

    def agree(self, shown, is_built=True):
        """Assert that all places say the same, and return the overrides.

        :param shown: the server, as the API shows it
        :param is_built: whether its guest, if it has one, is built from them
        """
        overrides = shown[PARAMETER]
        preset = shown[errors.PRESET]
        assert (preset and preset['name']) == (
            PRESET if overrides == OF_PRESET else None)
        instance = self.instance(shown['id'])
        record = ServerRecord.of(instance)
        assert instance.task_state is None
        assert record.unfinished == {}
        assert record.image_values == {
            name: OWN.get(name) for name in overrides}
        merged = {name: value for name, value in {**OWN, **overrides}.items()
                  if value is not None}
        stored = record.stored
        assert {name: stored.get(name) for name in merged} == merged
        spec = self.spec(shown['id'])
        # The image has nothing else, and nova-compute's defaults, which are
        # stored with the server, are not in the request spec.
        assert _set(spec.image.properties) == _set(
            objects.ImageMetaProps.from_dict(merged))
        assert _cells(spec.numa_topology) == _cells(instance.numa_topology)
        assert len(_cells(spec.numa_topology)) == int(
            merged.get('hw_numa_nodes', 0))
        root, = instance.get_bdms()
        bus = merged.get('hw_disk_bus', 'virtio')
        assert (root.disk_bus, root.device_name, instance.root_device_name) \
            == (bus, _DEVICES[bus], _DEVICES[bus])
        if is_built:
            self.built(shown, merged)
        return overrides

    def built(self, shown, properties):
        """Assert that a server's guest, if it has one, is built from them."""
        host = self._deployment.hosts.get(self.instance(shown['id']).host)
        if shown['status'] == 'ACTIVE' and host is not None:
            guest = ET.fromstring(host.virsh('dumpxml', shown['id']))
            for name, (path, attribute) in _GUEST.items():
                if name in properties:
                    assert properties[name] in guest.find(path).get(attribute)


def _asked(overrides):
    """Ask for overrides, and for those of the preset by its name."""
    return {errors.PRESET: PRESET} if overrides is OF_PRESET else {
        PARAMETER: overrides}


def _set(properties):
    return {name: getattr(properties, name) for name in properties.fields
            if properties.obj_attr_is_set(name)}


def _cells(topology):
    return [(sorted(cell.cpuset), cell.memory)
            for cell in (topology.cells if topology else [])]
