"""Each limit of a number comes from what Nova, libvirt or a format says."""

import ctypes
import struct
import zlib

from nova import exception
from nova import objects
from nova.db import constants
from nova.objects import image_meta
from nova.pci import devspec
from nova.virt import hardware
from nova.virt.libvirt import driver
from oslo_utils import units
import pytest

from nova_image_override.properties import book
from nova_image_override.properties import property as property_module

objects.register_all()
FLAVOR = objects.Flavor(vcpus=1, memory_mb=1, extra_specs={})


def image(**properties):
    return image_meta.ImageMeta.from_dict({'properties': properties})


def topology(dimension):
    """Nova's own limit, where neither flavor nor image has one."""
    _, most = hardware.get_cpu_topology_constraints(FLAVOR, image())
    return 1, getattr(most, dimension)


def usb_ports():
    """The numbers that Nova's own function takes."""
    def taken(number):
        try:
            return hardware.get_redirected_usb_ports(
                FLAVOR, image(hw_redirected_usb_ports=number)) == number
        except exception.Invalid:
            return False
    return 0, max(filter(taken, range(100)))


#: Property -> its smallest and its largest value, by the source.
SOURCES = {
    **{f'hw_cpu_{limit}{dimension}': lambda each=dimension: topology(each)
       for limit in ('', 'max_') for dimension in
       ('sockets', 'cores', 'threads')},
    # PCI's field, 16 bits wide.
    'hw_device_id': lambda: (1, devspec.MAX_PRODUCT_ID),
    # The number of address bits: at least those of i386; a guest's address has
    # no more bits than a pointer (libvirt, formatdomain: CPU, maxphysaddr).
    'hw_maxphysaddr_bits': lambda: (32, 8 * struct.calcsize('<Q')),
    # In MiB, as flavors have memory.
    'hw_numa_mem': lambda: (1, constants.MAX_INT),
    'hw_numa_nodes': lambda: (1, image_meta.ImageMetaProps.NUMA_NODES_MAX),
    'hw_redirected_usb_ports': usb_ports,
    # Nova takes 0 for unset; a serial console takes one of QEMU's four.
    'hw_serial_port_count': lambda: (1, driver.ALLOWED_QEMU_SERIAL_PORTS),
    # Nova hands KiB to libvirt, for which they are an unsigned int
    # (LibvirtDriver._add_video_driver, libvirt's virDomainVideoDef).
    'hw_video_ram': lambda: (
        1, ctypes.c_uint(-1).value * units.Ki // units.Mi),
    'img_compression_level': lambda: (
        zlib.Z_BEST_SPEED, zlib.Z_BEST_COMPRESSION),
    # VMware's product version is a number of 16 bits; no code of Nova reads it.
    'img_version': lambda: (1, ctypes.c_uint16(-1).value),
}


def test_every_number_has_a_source(catalog):
    assert SOURCES.keys() >= {
        field for field, prop in catalog.items()
        if isinstance(prop, property_module.Integer)}
    assert SOURCES.keys() <= book.RECORDS.keys()


@pytest.mark.parametrize('name', SOURCES)
def test_its_limits_are_those_of_the_source(name, catalog):
    if name not in catalog:
        pytest.skip('this Nova has no such property')
    limits = book.RECORDS[name].limits
    assert (limits.minimum, limits.maximum) == SOURCES[name]()
