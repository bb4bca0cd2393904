"""How the command shows what becomes of a property."""

from nova_image_override.client import osc_check

SAID = {'value': 'true', 'image_value': None}


def drivers(**more):
    ((_, _, _, cell),) = osc_check._property_rows(
        {'hw_boot_menu': 'true'}, {'hw_boot_menu': {**SAID, **more}})
    return cell


def test_drivers_are_told_where_some_hosts_ignore_a_property():
    assert drivers() == ''
    assert drivers(drivers={
        'ironic': 'ignored', 'libvirt': 'acts', 'vmwareapi': 'error'}) == (
        'libvirt')
