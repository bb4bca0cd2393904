"""Guests as Nova's own libvirt driver writes them, defined by libvirt.

Nothing of a cloud is behind the driver: no database, no disk, no switch. The
host of which it writes has whatever properties ask for.
"""
from __future__ import annotations

import functools
import logging
import pathlib
import re
import typing
import uuid

import libvirt
from nova import conf
from nova import config
from nova import exception
from nova import objects
from nova import utils as nova_utils
from nova.console import serial
from nova.network import model as network_model
from nova.virt import fake
from nova.virt import hardware
from nova.virt.libvirt import blockinfo
from nova.virt.libvirt import driver as libvirt_driver
from nova.virt.libvirt import host as libvirt_host
from nova.virt.libvirt import vif
import os_vif

#: Memory and vCPUs of every guest.
MEMORY, VCPUS = 1024, 4

_ID = str(uuid.UUID(int=1))

#: Barbican's, for a TPM.
SECRET = str(uuid.UUID(int=5))

_NOTES = re.compile('  <metadata>.*</metadata>\n', re.DOTALL)


class Host(libvirt_host.Host):
    """Nova's host, which asks libvirt once what does not change."""

    get_connection = functools.lru_cache(None)(
        libvirt_host.Host.get_connection)
    get_hostname = functools.lru_cache(None)(libvirt_host.Host.get_hostname)
    _check_machine_type = functools.lru_cache(None)(
        libvirt_host.Host._check_machine_type)
    has_min_version = functools.lru_cache(None)(
        libvirt_host.Host.has_min_version)


class Driver(libvirt_driver.LibvirtDriver):
    """Nova's driver, on a host with many CPUs and large pages."""

    def __init__(self, uri: str) -> None:
        super().__init__(fake.FakeVirtAPI())
        self._host = Host(uri)
        self.vif_driver = vif.LibvirtGenericVIFDriver(self._host)

    def _get_host_numa_topology(self) -> objects.NUMATopology:
        return objects.NUMATopology(cells=[_cell(0), _cell(1)])

    def _check_vtpm_support(self) -> None:
        """Leave out the search for swtpm's user on this machine."""


def _cell(number: int) -> objects.NUMACell:
    """Return a node of the host, with eight CPUs."""
    first = 8 * number
    cpus = range(first, first + 8)
    return objects.NUMACell(
        id=number, cpuset=set(cpus[:4]), pcpuset=set(cpus[4:]),
        memory=65536, cpu_usage=0, memory_usage=0, socket=0,
        pinned_cpus=set(), siblings=[{first + 4, first + 5},
                                     {first + 6, first + 7}],
        mempages=[objects.NUMAPagesTopology(
            size_kb=size, total=total, used=0, reserved=0)
            for size, total in ((4, 1 << 24), (2048, 16384), (1 << 20, 32))],
        network_metadata=objects.NetworkMetadata(
            physnets=set(), tunneled=False))


def folder(instances: pathlib.Path) -> pathlib.Path:
    """Return where the files of every guest are."""
    return instances / _ID


def prepare(uri: str, instances: pathlib.Path) -> None:
    """Read no file of Nova's, and say what its host is like."""
    logging.disable(logging.CRITICAL)
    libvirt.registerErrorHandler(lambda *said: None, None)
    objects.register_all()
    os_vif.initialize()
    config.parse_args(['pairs', '--config-file', '/dev/null'],
                      default_config_files=[], configure_db=False,
                      init_rpc=False)
    overridden: dict[str | None, dict[str, typing.Any]] = {
        None: {'state_path': str(instances),
               'instances_path': str(instances),
               'pointer_model': 'ps2mouse', 'force_raw_images': False,
               'my_ip': '127.0.0.1', 'host': 'pairs'},
        'libvirt': {'virt_type': 'qemu', 'connection_uri': uri,
                    'swtpm_enabled': True, 'images_type': 'qcow2'},
        'serial_console': {'enabled': True}}
    for group, options in overridden.items():
        for name, value in options.items():
            conf.CONF.set_override(name, value, group)


class Refused(Exception):
    """Nova's driver or libvirt does not make the guest."""


class Drives(typing.NamedTuple):
    """The drives that a guest is to have.

    :ivar disks: how many disks, the root among them
    :ivar beside: 'config drive', or 'ISO root' if the root is one; or ''
    """

    disks: int = 1
    beside: str = ''

    @property
    def has_config_drive(self) -> bool:
        return self.beside == 'config drive'

    @property
    def format(self) -> str:
        return 'iso' if self.beside == 'ISO root' else 'qcow2'

    @property
    def block_devices(self) -> dict[str, typing.Any]:
        """What nova-compute gives the driver, before names are chosen."""
        return {'root_device_name': None, 'image': [], 'swap': None,
                'block_device_mapping': [], 'ephemerals': [
                    {'device_name': None, 'disk_bus': None, 'size': 1,
                     'device_type': 'disk', 'guest_format': None}
                    for _ in range(self.disks - 1)]}

    @property
    def mappings(self) -> list[objects.BlockDeviceMapping]:
        """The same as nova-api has it."""
        return [objects.BlockDeviceMapping(
            boot_index=-bool(place), device_type='disk', disk_bus=None)
            for place in range(self.disks)]


def port(kind: str) -> network_model.VIF:
    """Return a port of one of Neutron's types."""
    return network_model.VIF(
        id=str(uuid.UUID(int=2)), address='fa:16:3e:00:00:01',
        type=kind, devname='tap0', active=True,
        vnic_type=network_model.VNIC_TYPE_NORMAL,
        details={network_model.VIF_DETAILS_OVS_HYBRID_PLUG: False},
        network=network_model.Network(
            id=str(uuid.UUID(int=3)), bridge='br-int', label='net',
            subnets=[], mtu=1500))


class Bench:
    """Defines one guest after the other, and undefines each."""

    _port = port(network_model.VIF_TYPE_OVS)

    def __init__(self, uri: str) -> None:
        self._driver = Driver(uri)
        self._connection = libvirt.open(uri)
        # XML -> what libvirt says of it; '' if it takes it.
        self._known: dict[str, str] = {}

    def define(
        self, flavor: objects.Flavor, image: dict[str, typing.Any],
        drives: Drives,
    ) -> str:
        """Return the XML of a guest that libvirt takes.

        :param image: boot metadata
        :raises Refused: with the sentence of Nova or libvirt
        """
        try:
            xml = self._xml(flavor, image, drives)
        except exception.NovaException as exc:
            raise Refused(f'Nova: {exc.format_message()}') from None
        except (ValueError, NotImplementedError) as exc:
            raise Refused(f'Nova: {type(exc).__name__}: {exc}') from None
        finally:
            # Each guest is the host's only one.
            serial.ALLOCATED_PORTS.clear()
        # Nova's notes for people cite the image.
        xml = _NOTES.sub('', xml)
        if xml not in self._known:
            self._known[xml] = self._define(xml)
        if said := self._known[xml]:
            raise Refused(f'libvirt: {said}')
        return xml

    def _define(self, xml: str) -> str:
        try:
            domain = self._connection.defineXML(xml)
            domain.undefineFlags(libvirt.VIR_DOMAIN_UNDEFINE_NVRAM
                                 | libvirt.VIR_DOMAIN_UNDEFINE_TPM)
        except libvirt.libvirtError as exc:
            return str(exc)
        return ''

    @property
    def defined(self) -> int:
        """The number of guests that libvirt has been given."""
        return len(self._known)

    def _xml(
        self, flavor: objects.Flavor, image: dict[str, typing.Any],
        drives: Drives,
    ) -> str:
        instance = _instance(flavor, image)
        if drives.has_config_drive:
            instance.config_drive = 'True'
        devices = drives.block_devices
        image_meta = instance.image_meta
        if instance.numa_topology:
            topology = hardware.numa_fit_instance_to_host(
                self._driver._get_host_numa_topology(), instance.numa_topology,
                {})
            if topology is None:
                raise Refused('Nova: no host has this NUMA topology')
            instance.numa_topology = topology
        disks = blockinfo.get_disk_info(
            conf.CONF.libvirt.virt_type, instance, image_meta, devices)
        return str(self._driver._get_guest_xml(
            None, instance, network_model.NetworkInfo([self._port]), disks,
            image_meta, block_device_info=devices))


def _instance(
    flavor: objects.Flavor, image: dict[str, typing.Any],
) -> objects.Instance:
    """Return a server as nova-api creates it, and the scheduler places it."""
    properties = image['properties']
    image_meta = objects.ImageMeta.from_dict(image)
    metadata = nova_utils.get_system_metadata_from_image(
        {**image, 'properties': dict(properties)}, flavor)
    metadata['vtpm_secret_uuid'] = SECRET
    return objects.Instance(
        id=1, uuid=_ID, display_name='pairs',
        project_id='p', user_id='u', image_ref=str(uuid.UUID(int=4)),
        kernel_id=properties.get('kernel_id', ''), ramdisk_id='',
        os_type=properties.get('os_type'),
        vm_mode=properties.get('vm_mode'),
        config_drive=str(properties.get('img_config_drive') == 'mandatory'
                         or ''),
        launched_at=None, vm_state='building', host='pairs', node='pairs',
        root_device_name=None, default_ephemeral_device=None,
        default_swap_device=None, ephemeral_key_uuid=None, vcpu_model=None,
        metadata={}, system_metadata=metadata, flavor=flavor,
        old_flavor=None, new_flavor=None, device_metadata=None,
        resources=None, pci_devices=objects.PciDeviceList(objects=[]),
        pci_requests=objects.InstancePCIRequests(requests=[]),
        trusted_certs=None, keypairs=objects.KeyPairList(objects=[]),
        migration_context=None, ephemeral_gb=0,
        numa_topology=hardware.numa_get_constraints(flavor, image_meta))
