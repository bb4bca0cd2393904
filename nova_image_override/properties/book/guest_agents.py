"""The guest's operating system, and the agents that run in it."""

from nova_image_override.properties.book.vocabulary import (
    ANEW, checks, GUEST, libvirt, Reader, Record, records, UNREAD, vmware)

RECORDS = records(
    Record(
        'hw_qemu_guest_agent',
        'Add the channel that the QEMU guest agent talks through.',
        readers=(
            libvirt(
                'LibvirtDriver._set_qemu_guest_agent',
                (*GUEST, 'snapshot', 'password')),)),
    Record('img_use_agent', 'Talk to an agent inside the guest. ' + UNREAD),
    Record(
        'os_admin_user',
        'Name of the guest\'s administrator account, whose password libvirt '
        'sets on request. KVM and QEMU need hw_qemu_guest_agent for that.',
        readers=(libvirt('LibvirtDriver.set_admin_password', ('password',)),)),
    Record(
        'os_distro', 'Distribution of the guest\'s operating system.',
        billed=True,
        readers=(
            libvirt(
                'LibvirtGenericVIFDriver.get_vif_model',
                note='the default disk bus and network card, on hosts that '
                     'have libosinfo'),
            vmware(
                'VMwareImage.from_image',
                note='the guest id, in vSphere\'s own names, such as '
                     'centos64Guest'),
            Reader(
                'zvm', 'ZVMDriver.spawn', ANEW,
                note='z/VM imports an image once, with the value of the '
                     'first boot'))),
    Record(
        'os_require_quiesce',
        'Refuse snapshots when the guest\'s file systems cannot be frozen.',
        readers=(libvirt('LibvirtDriver._requires_quiesce', ('snapshot',)),)),
    Record(
        'os_skip_agent_inject_files_at_boot',
        'Do not inject files through an agent at boot. ' + UNREAD),
    Record(
        'os_skip_agent_inject_ssh',
        'Do not inject an SSH key through an agent. ' + UNREAD),
    Record(
        'os_type', 'Family of the guest\'s operating system.', billed=True,
        readers=(
            libvirt('LibvirtDriver._get_guest_config', (*GUEST, 'password')),
            checks('API._inherit_properties_from_image', 'create', 'rebuild'))),
)
