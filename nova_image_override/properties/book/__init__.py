"""The book: one record per image property, and one file per purpose.

It adds what Nova's ``ImageMetaProps`` does not say, and imports nothing of
Nova, so that tenants' tools can read it too.
"""

from nova_image_override.properties.book import (
    boot, cpus, devices, disks, encryption, guest_agents, hosts, network, numa,
    screen, the_image)
from nova_image_override.properties.book.vocabulary import Record

#: Title of a group of properties -> their records.
PURPOSES: dict[str, dict[str, Record]] = {
    'CPUs': cpus.RECORDS,
    'NUMA and memory': numa.RECORDS,
    'Encryption and trust': encryption.RECORDS,
    'Firmware and boot': boot.RECORDS,
    'Disks': disks.RECORDS,
    'Network': network.RECORDS,
    'Screen, keyboard, sound': screen.RECORDS,
    'Other devices': devices.RECORDS,
    'Guest and its agents': guest_agents.RECORDS,
    'The image itself': the_image.RECORDS,
    # Last in forms: most of what it refuses is a server without a host.
    'Which host': hosts.RECORDS,
}

#: Field of ``ImageMetaProps`` -> its record.
RECORDS: dict[str, Record] = {
    name: record for purpose in PURPOSES.values()
    for name, record in purpose.items()}


def field_of(name: str) -> str:
    """Return the field of a property, or of a family or one of its members."""
    return 'traits_required' if name.startswith('trait:') \
        else name.partition('.')[0]


def purpose_of(field: str) -> str:
    """Return the title of the group that a property is in.

    One that only a newer cloud knows is among the other devices.
    """
    return next((title for title, purpose in PURPOSES.items()
                 if field in purpose), 'Other devices')
