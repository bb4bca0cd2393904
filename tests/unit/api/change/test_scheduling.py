"""What the scheduler and placement are asked, and whom a refusal names."""

from nova import objects
import pytest

from nova_image_override import errors
from nova_image_override.api.change import scheduling


@pytest.mark.parametrize(('missing', 'names', 'told'), [
    ('A', ['trait:A'], {'trait:A': 'the trait A'}),
    ('A', ['trait:A', 'trait:B', 'os_secure_boot'],
     {'trait:A': 'the trait A'}),
    ('ABC', ['os_secure_boot'], {'os_secure_boot': 'the trait A, B, C'}),
    ('ABCD', ['os_secure_boot'],
     {'os_secure_boot': 'the trait A, B, C and 1 more'}),
    ('AB', ['trait:A', 'os_secure_boot', 'hw_tpm_version'], {
        'trait:A': 'the trait A', 'os_secure_boot': 'the trait B',
        'hw_tpm_version': 'the trait B'}),
    # Of a new image.
    ('B', ['trait:A'], {errors.PARAMETER: 'the trait B'}),
    ('B', [], {errors.PARAMETER: 'the trait B'})])
def test_each_override_is_told_which_traits_the_host_lacks(
        missing, names, told):
    assert dict(scheduling._lacking({*missing}, names)) == told


def properties(**properties):
    return scheduling.properties_of(objects.ImageMeta.from_dict(
        {'properties': properties}))


def test_the_order_of_traits_makes_no_difference():
    one, other = (objects.ImageMeta.from_dict({'properties': {
        f'trait:{name}': 'required' for name in names}})
        for names in ('AB', 'BA'))
    assert one.properties.traits_required != other.properties.traits_required
    assert scheduling.properties_of(one) == scheduling.properties_of(other)


@pytest.mark.parametrize('other', [
    {'trait:A': 'required'}, {'trait:B': 'required'},
    {'hw_disk_bus': 'ide'}])
def test_each_property_does(other):
    assert properties(**other) != properties()
    assert properties(**other) != properties(
        **{'trait:A': 'required', 'hw_disk_bus': 'ide'})


@pytest.mark.parametrize('image', [None, objects.ImageMeta(id='x')])
def test_what_is_not_known_of_an_image_differs_from_all(image):
    assert scheduling.properties_of(image) == {} != properties()
