"""The matrix says what Nova's source says, in each supported release."""

import pytest

from nova_image_override.properties import driver_matrix as matrix
from tests.unit import nova_reads
from tests.unit.properties import test_schema

#: Mentions that do not read the property -> why.
NO_READS = {
    ('os_type', 'vmwareapi'): 'VMwareImage\'s own word for os_distro',
    ('os_type', 'ironic'): 'of the volume connector',
    ('hw_firmware_type', 'scheduler'): 'for a message about encrypted memory',
    ('hw_machine_type', 'scheduler'): 'for a message about encrypted memory',
}

CELLS = [(field, part, cell) for field, row in matrix.ROWS.items()
         for part, cell in row.items()]


def test_every_field_of_this_nova_has_its_row():
    assert nova_reads.FIELDS - matrix.ROWS.keys() == set()


def test_no_row_is_of_what_no_supported_release_has(catalog):
    known = catalog.keys() | test_schema.copy()['properties'].keys()
    assert matrix.ROWS.keys() - known == set()


def test_every_function_that_is_named_reads_its_property():
    found = nova_reads.found()
    assert [(field, part, cell.reads) for field, part, cell in CELLS
            if field in found and not found[field][part].intersection(
                (cell.reads, cell.formerly))] == []


def test_no_driver_and_no_scheduler_reads_what_the_matrix_does_not_know():
    parts = {*matrix.DRIVERS, matrix.SCHEDULER}
    assert {
        (field, part): names
        for field, readers in nova_reads.found().items()
        for part, names in readers.items() if names and part in parts
        and part not in matrix.ROWS[field]
        and (field, part) not in NO_READS} == {}


def test_what_is_no_read_is_still_mentioned():
    found = nova_reads.found()
    assert [key for key in NO_READS if not found[key[0]][key[1]]] == []


@pytest.mark.parametrize(
    ('field', 'part', 'cell'), CELLS,
    ids=[f'{field}-{part}' for field, part, _ in CELLS])
def test_a_cell_says_when_and_of_a_column_that_there_is(field, part, cell):
    assert part in matrix.PARTS
    assert cell.at
    assert cell.outcome in (matrix.ACTS, matrix.REQUIRES, matrix.CHECKS,
                            matrix.IGNORED, matrix.ERROR)
    assert cell.outcome not in (matrix.IGNORED, matrix.ERROR) or cell.note


def test_the_values_of_a_cell_are_the_property_s(catalog):
    for field, part, cell in CELLS:
        if cell.values and field in catalog and catalog[field].values:
            assert {*cell.values} < {*catalog[field].values}, (field, part)


def test_what_a_cell_needs_is_a_property():
    for _, _, cell in CELLS:
        for name, _ in cell.needs.values():
            assert name in matrix.ROWS
