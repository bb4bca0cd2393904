"""Changes of servers, sent to a nova-api of one's choice, and what they leave.
"""

import contextlib
import dataclasses
import http.client
import json
import typing
import xml.etree.ElementTree as ET

from nova import config
from nova import context as nova_context
from nova import objects

from nova_image_override import record
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

#: What a device is called on each bus.
_DEVICES = {'virtio': '/dev/vda', 'scsi': '/dev/sda', 'sata': '/dev/sda',
            'ide': '/dev/hda'}

#: Where the guest's XML has what a property asks for.
_GUEST = {
    'hw_video_model': ('devices/video/model', 'type'),
    'hw_machine_type': ('os/type', 'machine'),
    'hw_disk_bus': ("devices/disk[@device='disk']/target", 'bus')}


@dataclasses.dataclass
class Answer:
    """What nova-api says; status 0 if it says nothing any more."""

    status: int
    text: str = ''
    headers: typing.Any = None

    @property
    def body(self):
        return json.loads(self.text)

    def __str__(self):
        return f'{self.status}: {self.text[:500]}'


class Client:
    """One user of one nova-api.

    :param service: its name
    """

    def __init__(self, deployment, who, service='nova-api'):
        self._deployment = deployment
        self._session = tenants.connect(deployment.state, who).session
        self._port = state.PORTS[service]

    def send(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(
            '127.0.0.1', self._port, timeout=180)
        with contextlib.closing(connection):
            try:
                connection.request(
                    method, f'/v2.1{path}', body and json.dumps(body), {
                        'Content-Type': 'application/json',
                        'X-Auth-Token': self._session.get_token(),
                        'OpenStack-API-Version':
                            'compute 2.93, image-props-override 1.0',
                        **headers})
                answer = connection.getresponse()
                return Answer(
                    answer.status, answer.read().decode(), answer.headers)
            except ConnectionResetError:
                return Answer(0)

    def update(self, server, overrides, **headers):
        return self.send('PUT', f'/servers/{server}', {
            'server': {PARAMETER: overrides}}, **headers)

    def act(self, server, action, *expected, **headers):
        """Send an action, which has to be answered so, if that is known."""
        answer = self.send('POST', f'/servers/{server}/action', action,
                           **headers)
        assert answer.status in (expected or [answer.status]), answer
        return answer

    def show(self, server):
        answer = self.send('GET', f'/servers/{server}')
        assert answer.status == 200, answer
        return answer.body['server']

    def settled(self, server, *statuses, seconds=300):
        """Wait until nothing is done to it, and it has one of the statuses."""
        def shown():
            found = self.show(server)
            status = found['status']
            assert status != 'ERROR' or status in statuses, found
            return found['OS-EXT-STS:task_state'] is None and (
                status in statuses or (not statuses and status != 'BUILD')
            ) and found

        return processes.wait_for(shown, f'{server} {statuses}', seconds)

    def gone(self, server):
        processes.wait_for(
            lambda: self.send('GET', f'/servers/{server}').status == 404,
            f'the end of {server}')

    def boot(self, image, flavor, overrides, **server):
        answer = self.send('POST', '/servers', {'server': {
            'name': 'test-whole', 'imageRef': image, 'flavorRef': flavor,
            'networks': 'none', 'availability_zone': 'nova',
            PARAMETER: overrides, **server}})
        assert answer.status == 202, answer
        return answer.body['server']['id']


class Everywhere:
    """All that is stored of servers, and what libvirt was given."""

    def __init__(self, deployment):
        self._deployment = deployment
        config.parse_args(['nova'], default_config_files=[
            str(deployment.nova_api.folder / 'nova.conf')])
        objects.register_all()

    def instance(self, server):
        context = nova_context.get_admin_context()
        mapping = objects.InstanceMapping.get_by_instance_uuid(context, server)
        nova_context.set_target_cell(context, mapping.cell_mapping)
        return objects.Instance.get_by_uuid(context, server, expected_attrs=[
            'flavor', 'system_metadata', 'numa_topology'])

    def agree(self, shown, is_built=True, own=OWN):
        """Assert that all places say the same, and return the overrides.

        :param shown: the server, as the API shows it
        :param is_built: whether its guest, if it has one, is built from them
        """
        overrides = shown[PARAMETER]
        instance = self.instance(shown['id'])
        metadata = instance.system_metadata
        assert instance.task_state is None
        assert record.still_to_store(metadata) == {}
        assert record.image_values(metadata) == {
            name: own.get(name) for name in overrides}
        merged = {name: value for name, value in {**own, **overrides}.items()
                  if value is not None}
        stored = record.image_properties(metadata)
        assert {name: stored.get(name) for name in merged} == merged
        spec = objects.RequestSpec.get_by_instance_uuid(
            nova_context.get_admin_context(), shown['id'])
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
        host = self._deployment.hosts.get(instance.host)
        if is_built and shown['status'] == 'ACTIVE' and host is not None:
            guest = ET.fromstring(host.virsh('dumpxml', shown['id']))
            for name, (path, attribute) in _GUEST.items():
                if name in merged:
                    assert merged[name] in guest.find(path).get(attribute)
        return overrides


def _set(properties):
    return {name: getattr(properties, name) for name in properties.fields
            if properties.obj_attr_is_set(name)}


def _cells(topology):
    return [(sorted(cell.cpuset), cell.memory)
            for cell in (topology.cells if topology else [])]
