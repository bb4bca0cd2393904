"""Screen, keyboard, pointer and sound."""

from nova_image_override.properties.book.vocabulary import (
    at_most, ERROR, LIBVIRT, no_usb, number, PPC, Reader, Record, records, same)

RECORDS = records(
    Record(
        'hw_input_bus', 'Bus of the pointer and keyboard devices.'),
    Record(
        'hw_pointer_model',
        'Model of the pointer device. hw_input_bus, where it is set, decides '
        'in its place.', idle='it needs hw_input_bus=usb',
        # LibvirtDriver._get_pointer_bus_and_model
        gets=lambda guest: guest.only(
            'hw_pointer_model',
            (guest.prop('hw_input_bus') or 'usb') == 'usb')),
    Record(
        'hw_sound_model', 'Model of the sound device.',
        # LibvirtDriver's MIN_VIRTIO_SOUND_*
        hosts={'virtio': 'hosts with libvirt 10.4 and QEMU 8.2'},
        excludes=no_usb('choose another model', 'usb'),
        gets=lambda guest: guest.ask('get_sound_model'),
        flavor=same('hw:sound_model'), checked_by=('get_sound_model',)),
    Record(
        'hw_video_model', 'Model of the video adapter (graphics card).',
        hosts={'qxl': 'hosts whose QEMU has SPICE'},
        readers=(
            # Xen and bhyve, which have the others, Nova no longer knows.
            Reader(
                'libvirt', values=(
                    'bochs', 'cirrus', 'none', 'qxl', 'vga', 'virtio', 'vmvga'),
                otherwise=ERROR),)),
    Record(
        'hw_video_ram',
        'Video memory, in MiB; at most the flavor\'s hw_video:ram_max_mb, '
        'which is 0 when unset.',
        needs='hw_video_model=vga, qxl, vmvga or bochs, and a host with '
              'graphical consoles',
        # libvirt, qemuBuildDeviceVideoCmd: QEMU's other devices are built
        # without it. LibvirtDriver._get_video_type has vga for PPC.
        gets=lambda guest: guest.only('hw_video_ram', (
            guest.prop('hw_video_model')
            or ('vga' if guest.architecture in PPC else 'virtio')
        ) in ('bochs', 'qxl', 'vga', 'vmvga')),
        flavor=at_most('hw_video:ram_max_mb'),
        # libvirt takes the size in KiB as an unsigned int.
        limits=number((2**32 - 1) // 1024),
        readers=(LIBVIRT, Reader(
            'vmwareapi', ERROR, note='Nova sends vSphere 32768.0 where it '
                                     'takes whole numbers of KiB only'))),
)
