"""What has become of servers: what is stored, and what guests are built of."""
from __future__ import annotations

import typing
import xml.etree.ElementTree as ET

from nova import context as nova_context
from nova import objects
from nova.cmd import manage

from nova_image_override import metadata_keys
from nova_image_override.server_record import ServerRecord


class Seen:
    """Where the properties of a server must have arrived."""

    def instance(self, server_id: str) -> objects.Instance:
        context = nova_context.get_admin_context()
        mapping = objects.InstanceMapping.get_by_instance_uuid(
            context, server_id)
        with nova_context.target_cell(
                context, mapping.cell_mapping) as cell:
            return objects.Instance.get_by_uuid(
                cell, server_id,
                expected_attrs=['system_metadata', 'numa_topology'])

    def system_metadata(self, server_id: str) -> dict[str, str]:
        """Return the image properties of the instance's system metadata."""
        return self.properties(self.instance(server_id))

    @staticmethod
    def properties(instance: objects.Instance) -> dict[str, str]:
        """Return the image properties of a server that was read."""
        return {name: value for key, value in instance.system_metadata.items()
                if (name := key.removeprefix(metadata_keys.IMAGE_PREFIX)) != key
                and not metadata_keys.is_property(name)}

    def change(self, server_id: str, **fields: typing.Any) -> None:
        """Set fields of a server, as one of Nova's services would."""
        instance = self.instance(server_id)
        for name, value in fields.items():
            setattr(instance, name, value)
        instance.save()

    def set_property(self, server_id: str, name: str, value: str) -> None:
        """Run nova-manage image_property set on a stopped server."""
        self.do(server_id, 'os-stop', 'SHUTOFF')
        assert manage.ImagePropertyCommands().set(
            server_id, [f'{name}={value}']) == 0
        self.do(server_id, 'os-start')

    def record(self, server_id: str) -> dict[str, str | None]:
        """Return the image's own value of each property that is overridden."""
        return ServerRecord.of(self.instance(server_id)).image_values

    @staticmethod
    def spec(server_id: str) -> objects.RequestSpec:
        return objects.RequestSpec.get_by_instance_uuid(
            nova_context.get_admin_context(), server_id)

    def request_spec(self, server_id: str) -> dict[str, typing.Any]:
        """Return the image properties of the stored request spec."""
        properties = self.spec(server_id).image.properties
        return {field: getattr(properties, field)
                for field in properties.fields
                if properties.obj_attr_is_set(field)}

    def guest(self, server_id: str) -> ET.Element:
        """Return the XML that the libvirt driver gave the hypervisor."""
        return ET.fromstring(self.built[server_id])

    def disk_bus(self, server_id: str) -> str | None:
        """Return the bus of the guest's first disk."""
        return self.guest(server_id).find('devices/disk/target').get('bus')

    def video(self, server_id: str) -> str | None:
        """Return the model of the guest's video device."""
        return self.guest(server_id).find('devices/video/model').get('type')

    def numa_nodes(self, server_id: str) -> list[tuple[str, int]]:
        """Return vCPUs and MiB of each of the guest's NUMA nodes."""
        return [(cell.get('cpus'), int(cell.get('memory')) // 1024)
                for cell in self.guest(server_id).findall('cpu/numa/cell')]
