"""Serial ports, USB, random numbers and the watchdog."""

from typing import Any

from nova_image_override.properties.book.vocabulary import (
    at_most, Flavor, no_usb, number, PPC, Record, records, same, unread,
    without)


def _usb_model(guest: Any) -> Any:
    """Follow LibvirtDriver._guest_add_usb_root_controller.

    Guests that need USB have libvirt's own model of controller, ''. Of input
    devices, only those count that the image asks for: on a host without
    graphical consoles there are none, and then they are what does nothing.
    """
    pointer = guest.prop('hw_pointer_model') and 'usb'
    return '' if guest.architecture in PPC \
        or 'usb' in (guest.prop('hw_disk_bus'), guest.prop('hw_cdrom_bus'),
                     guest.prop('hw_input_bus') or pointer
                     ) else guest.ask('get_usb_model')


RECORDS = records(
    unread(
        'hw_device_id', 'Guest ABI version of the Xen PV tools.',
        limits=number(65535)),
    Record(
        'hw_redirected_usb_ports', 'USB redirection ports.',
        # nova.virt.hardware.get_redirected_usb_ports
        limits=number(15, 0),
        # Each is a spicevmc channel, which libvirt wants SPICE graphics for.
        hosts={'1': 'hosts with SPICE graphics'},
        gets=lambda guest: guest.ask('get_redirected_usb_ports'),
        # Nova compares the flavor's text with the image's number.
        flavor=without('hw:redirected_usb_ports'),
        # virDomainRedirdevDefValidate
        excludes=no_usb('set hw_usb_model=qemu-xhci', '[1-9]*'),
        checked_by=('get_redirected_usb_ports',)),
    # LibvirtDriver._add_rng_device does not read it: virtio, the only value,
    # is what guests have anyway.
    Record(
        'hw_rng_model',
        'Model of the random number generator. Flavors can forbid it with '
        'hw_rng:allowed.', readers=(), has_anyway=True,
        gets=lambda guest: guest.only(
            'hw_rng_model', guest.flag('hw_rng:allowed', True)),
        flavor=Flavor(('hw_rng:allowed',), 'with {spec}=True')),
    Record(
        'hw_serial_port_count',
        'Serial ports; at most the flavor\'s hw:serial_port_count. Acts where '
        'hosts have serial consoles.',
        # LibvirtDriver._check_number_of_serial_console: with more, kvm and
        # qemu build no guest.
        limits=number(3),
        flavor=at_most('hw:serial_port_count'),
        checked_by=('get_number_of_serial_ports',)),
    Record(
        'hw_usb_model',
        'Model of the USB controller. Libvirt chooses it where a disk or an '
        'input device is on the USB bus, as the pointer is by default, and on '
        'PPC.',
        idle='it needs disks, CD-ROMs and input devices on another bus than '
             'usb, such as hw_input_bus=virtio, and no PPC guest',
        gets=_usb_model, flavor=same('hw:usb_model'),
        checked_by=('get_usb_model',)),
    Record(
        'hw_watchdog_action',
        'What the watchdog device does when the guest stops feeding it.'),
)
