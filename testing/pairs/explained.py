"""What is neither a pair nor a mistake, each with its reason."""
from __future__ import annotations

import collections.abc

from testing.pairs import values

#: Part of what driver or libvirt say -> why nova-api cannot know it.
_HOSTS: collections.abc.Mapping[str, str] = {
    'no host has this NUMA topology': 'free CPUs, and their threads',
    'No PCI buses available': 'virt without an architecture is for Arm hosts',
    'exceed the number supported by the host CPU': 'the width of its addresses',
    'not supported without spice graphics': 'it has VNC',
    'does not support video model': 'what QEMU was built with',
    'does not support TPM model tpm-crb': 'QEMU for Arm lacks it so far',
    "doesn't support additional attributes": 'a newer libvirt takes them',
    "Unable to find 'efi' firmware": 'what firmware is installed',
    'cannot be specified when firmware autoselection': 'libvirt 9.0 takes no '
                                                       'guest of Nova 34\'s '
                                                       'with UEFI',
    "mode='emulate', bits= must be specified": 'newer libvirts do without',
}

#: Part of our reasons -> why the guest is defined all the same.
_REFUSED: collections.abc.Mapping[str, str] = {
    'it needs hw_video_model=vga, qxl, vmvga or bochs':
        'QEMU gives no other device this memory',
}

#: A value, part of what is said of it -> why it takes more than the pair.
_MORE: collections.abc.Mapping[tuple[values.Value, str], str] = {
    (('img_config_drive', 'mandatory'), 'IDE controllers are unsupported'):
        'Nova goes by hw_architecture, and not by the emulated one, when it '
        'chooses the bus of the drive: it is hw_cdrom_bus that is missing',
    (('os_distro', 'ubuntu22.04'), 'packed driver option is only supported'):
        'it is the host\'s libosinfo, if it has one, that chooses e1000e for '
        'the port: it is hw_vif_model that is missing',
}


def by_host(failed: str, *chosen: values.Value) -> bool:
    """Return whether it is a host, or a third property, that decides."""
    return any(part in failed for part in _HOSTS) or any(
        value in chosen and part in failed for value, part in _MORE)


def refusal(refused: dict[str, tuple[str, str]]) -> bool:
    """Return whether a guest that can be defined is rightly refused."""
    return any(part in reason for _, reason in refused.values()
               for part in _REFUSED)
