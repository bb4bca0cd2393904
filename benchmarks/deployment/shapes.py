"""Twenty shapes of one image, which overrides, images and flavors can set."""

import dataclasses
import xml.etree.ElementTree as ET

#: vCPUs of every shape, which each divides into sockets, cores and threads.
VCPUS = 8


class WrongShape(Exception):
    """A guest is not what was asked for."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """How one guest is built.

    :ivar topology: its sockets, cores and threads
    :ivar menu: whether its firmware shows a boot menu
    """

    topology: tuple[int, int, int]
    menu: bool

    @property
    def name(self) -> str:
        """A name for what is made for this shape only."""
        return f'{"-".join(map(str, self.topology))}-{self.menu}'.lower()

    @property
    def properties(self) -> dict[str, str]:
        """The shape as image properties."""
        sockets, cores, threads = map(str, self.topology)
        return {'hw_cpu_sockets': sockets, 'hw_cpu_cores': cores,
                'hw_cpu_threads': threads,
                'hw_boot_menu': str(self.menu).lower()}

    @property
    def extra_specs(self) -> dict[str, str]:
        """The shape as extra specs of a flavor."""
        return {name.replace('hw_', 'hw:', 1): value
                for name, value in self.properties.items()}

    def check(self, domain: ET.Element) -> None:
        """Check that libvirt gives the guest this shape.

        :raises WrongShape: it does not
        """
        topology = domain.find('cpu/topology')
        menu = domain.find('os/bootmenu')
        if topology is None or self.topology != tuple(
                int(topology.get(name, '0'))
                for name in ('sockets', 'cores', 'threads')) \
                or (menu is not None) != self.menu:
            raise WrongShape(f'{self}: {ET.tostring(domain, "unicode")}')


SHAPES = [
    Shape((VCPUS // cores // threads, cores, threads), menu)
    for threads in (1, 2, 4, 8) for cores in (1, 2, 4, 8)
    if cores * threads <= VCPUS for menu in (False, True)]
