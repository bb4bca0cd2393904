"""What comes of an image property on the hosts of a virt driver."""

import collections.abc
import dataclasses
import typing

from nova_image_override.properties import driver_matrix as matrix


def acting(field: str) -> list[str]:
    """Return the parts of Nova that act on some value of FIELD.

    Empty for a property that no code of Nova reads, and for one that the
    matrix does not know.
    """
    return [part for part in matrix.PARTS
            if (cell := matrix.ROWS.get(field, {}).get(part)) is not None
            and cell.outcome == matrix.ACTS]


def can_act(driver: str, field: str, value: str | None = None) -> bool:
    """Return whether hosts of DRIVER can act on a property, or on one value.

    What else it needs is ignored, because it may be there.
    """
    if any(part not in matrix.DRIVERS for part in acting(field)):
        return True
    cell = matrix.ROWS.get(field, {}).get(driver)
    return cell is not None and cell.outcome == matrix.ACTS and (
        None in (value, cell.values) or value in (cell.values or ()))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What comes of one value with one driver.

    :ivar kind: ACTS, IGNORED or ERROR of the matrix
    :ivar why: for the latter two: what the driver would need
    """

    kind: str
    why: str = ''


def outcome(
    driver: str, field: str, value: str | None,
    properties: collections.abc.Mapping[str, object],
) -> Outcome:
    """Return what comes of one property on hosts of one driver.

    :param driver: one of :data:`.driver_matrix.DRIVERS`
    :param value: the canonical value; None if it could be any
    :param properties: the server's properties, with VALUE among them
    """
    if any(part not in matrix.DRIVERS for part in acting(field)):
        # The scheduler picks hosts by it, or nova-api acts on it.
        return Outcome(matrix.ACTS)
    cell = matrix.ROWS[field].get(driver)
    if cell is None:
        return Outcome(matrix.IGNORED, f'{driver} does not read it')
    kind = cell.outcome if value is None \
        else cell.comes_of(value, properties)
    return Outcome(kind, '' if kind == matrix.ACTS else _why(driver, cell))


def _why(driver: str, cell: matrix.Cell) -> str:
    said: list[typing.Any] = []
    if cell.values:
        said.append(f'takes {", ".join(cell.values)}')
    said += [
        f'needs {name}{"=" * bool(wanted)}{wanted}'
        f'{" for " * bool(value)}{value}'
        for value, (name, wanted) in cell.needs.items()]
    return f'{driver} ' + (', and '.join(said) or f'cannot: {cell.note}')
