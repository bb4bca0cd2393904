"""What is measured with overrides, images and flavors is the same thing."""

import xml.etree.ElementTree as ET

from nova.api.validation.extra_specs import validators
import pytest

from benchmarks.deployment import shapes

MENU = '<bootmenu enable="yes"/>'


def domain(topology, menu):
    sockets, cores, threads = topology
    return ET.fromstring(
        f'<domain><os>{MENU if menu else ""}</os><cpu>'
        f'<topology sockets="{sockets}" cores="{cores}" threads="{threads}"/>'
        '</cpu></domain>')


def test_there_are_twenty_shapes_that_use_every_vcpu():
    assert len(set(shapes.SHAPES)) == len(shapes.SHAPES) == 20
    assert len({shape.name for shape in shapes.SHAPES}) == 20
    for sockets, cores, threads in (
            shape.topology for shape in shapes.SHAPES):
        assert sockets * cores * threads == shapes.VCPUS


@pytest.mark.parametrize('shape', shapes.SHAPES, ids=lambda shape: shape.name)
def test_overrides_and_flavors_can_both_say_a_shape(parser, shape):
    assert parser.parse(shape.properties) == shape.properties
    assert len(shape.extra_specs) == len(shape.properties)
    for name, value in shape.extra_specs.items():
        assert name in validators.VALIDATORS
        validators.validate(name, value)


def test_a_guest_of_another_shape_is_noticed():
    shape = shapes.Shape((2, 4, 1), menu=True)
    shape.check(domain((2, 4, 1), menu=True))
    for other in (domain((4, 2, 1), menu=True), domain((2, 4, 1), menu=False),
                  ET.fromstring('<domain/>')):
        with pytest.raises(shapes.WrongShape):
            shape.check(other)
