"""Families of image properties, whose members differ in a part of the name.

``ImageMetaProps`` reads ``hw_numa_cpus.0`` and so on into the one field
``hw_numa_cpus``, and ``trait:HW_CPU_X86_AVX`` into ``traits_required``.
"""

from collections.abc import Callable
import dataclasses
import functools
import re

from nova.objects import image_meta

from nova_image_override import metadata_keys

#: Number of NUMA nodes that ``ImageMetaProps.from_dict`` reads.
NUMA_NODES_MAX: int = image_meta.ImageMetaProps.NUMA_NODES_MAX

_TRAIT_LENGTH_MAX = metadata_keys.NAME_LENGTH_MAX - len('trait:')


@dataclasses.dataclass(frozen=True)
class Family:
    """One family.

    :ivar field: the field of ``ImageMetaProps`` that its members set
    :ivar placeholder: the word for the rest of the name in messages
    :ivar rest: regular expression of the rest
    :ivar limits: allowed values of the placeholder, in words
    """

    field: str
    prefix: str
    placeholder: str
    rest: str
    limits: str

    @property
    def spelling(self) -> str:
        """The name of the family in messages and documentation."""
        return self.prefix + self.placeholder

    @property
    def pattern(self) -> str:
        """Regular expression of the members' names, anchored."""
        return f'^{re.escape(self.prefix)}{self.rest}$'

    @functools.cached_property
    def has(self) -> Callable[[str], object]:
        """Whether a name is that of a member."""
        return re.compile(self.pattern).fullmatch

    def member(self, rest: object) -> str:
        """Return the name of a member."""
        return f'{self.prefix}{rest}'

    def rest_of(self, name: str) -> str:
        """Return the part of NAME after the prefix."""
        return name.removeprefix(self.prefix)


def _indexed(field: str) -> Family:
    return Family(
        # An index as ImageMetaProps._set_numa_cpus spells it ("%d"), below
        # 128.
        field, f'{field}.', 'N', '(?:0|[1-9][0-9]?|1[01][0-9]|12[0-7])',
        f'N from 0 to {NUMA_NODES_MAX - 1}, no leading zeros')


NUMA_CPUS = _indexed('hw_numa_cpus')
NUMA_MEM = _indexed('hw_numa_mem')
TRAITS = Family(
    'traits_required', 'trait:', 'NAME', f'[A-Z0-9_]{{1,{_TRAIT_LENGTH_MAX}}}',
    f'up to {_TRAIT_LENGTH_MAX} of A-Z, 0-9 and _')

#: By the field that they set.
FAMILIES = {family.field: family for family in (NUMA_CPUS, NUMA_MEM, TRAITS)}
