"""The guest's operating system, and the agents that run in it."""

from nova_image_override.properties.book.vocabulary import (
    LIBVIRT, Reader, Record, records, unread, VMWARE)

RECORDS = records(
    Record(
        'hw_qemu_guest_agent',
        'Add the channel that the QEMU guest agent talks through.'),
    unread('img_use_agent', 'Talk to an agent inside the guest.'),
    Record(
        'os_admin_user',
        'Name of the guest\'s administrator account, whose password libvirt '
        'sets on request. KVM and QEMU need hw_qemu_guest_agent for that.'),
    Record(
        'os_distro', 'Distribution of the guest\'s operating system.',
        billed=True, readers=(LIBVIRT, VMWARE, Reader('zvm'))),
    Record(
        'os_require_quiesce',
        'Refuse snapshots when the guest\'s file systems cannot be frozen.'),
    unread(
        'os_skip_agent_inject_files_at_boot',
        'Do not inject files through an agent at boot.'),
    unread(
        'os_skip_agent_inject_ssh',
        'Do not inject an SSH key through an agent.'),
    Record(
        'os_type', 'Family of the guest\'s operating system.', billed=True),
)
