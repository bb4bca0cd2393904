"""Options of nova.conf, as a deployer writes them."""

from oslo_config import cfg
import pytest

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.authorization.glance import property_protections


@pytest.fixture
def options(tmp_path):
    """Return a function that reads what is in ``[image_override]``."""
    def read(text=''):
        path = tmp_path / 'nova.conf'
        path.write_text(f'[image_override]\n{text}\n')
        conf = cfg.ConfigOpts()
        conf(['--config-file', str(path)])
        override_conf.register_opts(conf)
        return conf.image_override
    return read


@pytest.mark.parametrize(('option', 'value'), [
    ('allowed_properties', []), ('denied_properties', []),
    ('accept_scheduler_hint', False), ('compute_microversion', None),
    ('virt_drivers', ['libvirt'])])
def test_by_default_nothing_is_open_and_hosts_run_libvirt(
        options, option, value):
    assert options()[option] == value


def test_lists_are_separated_by_commas_and_may_go_over_lines(options):
    read = options('allowed_properties = os_command_line, hw_*,\n'
                   '    hw_disk_bus=virtio|scsi\n'
                   'denied_properties = hw_machine_type')
    assert read.allowed_properties == [
        'os_command_line', 'hw_*', 'hw_disk_bus=virtio|scsi']
    assert read.denied_properties == ['hw_machine_type']


@pytest.mark.parametrize('text', [
    'hw_pmu,,hw_boot_menu', 'hw_pmu hw_boot_menu', 'hw_disk_bus=', '= ide',
    'vm_mode', 'hw_[pmu'])
def test_a_malformed_list_is_not_started_with(options, catalog, text):
    read = options(f'denied_properties = {text}')
    with pytest.raises(errors.StartupError, match='denied_properties'):
        enforcer_module.Enforcer(catalog, denied=read.denied_properties)


@pytest.mark.parametrize('rule_format', [
    property_protections.ROLES, property_protections.POLICIES])
def test_protections_have_one_of_glances_formats(options, rule_format):
    assert options(
        f'property_protection_rule_format = {rule_format}'
    ).property_protection_rule_format == rule_format


def test_hosts_may_run_several_drivers_or_be_unknown(options):
    assert options('virt_drivers = libvirt, ironic').virt_drivers == [
        'libvirt', 'ironic']
    assert options('virt_drivers =').virt_drivers == []


def test_registering_twice_changes_nothing():
    conf = cfg.ConfigOpts()
    override_conf.register_opts(conf)
    override_conf.register_opts(conf)
    conf([])
    assert conf.image_override.allowed_properties == []


def test_the_sample_configuration_lists_every_option_with_help():
    ((group, opts),) = override_conf.list_opts()
    assert group.name == 'image_override'
    assert {'allowed_properties', 'denied_properties'} <= {
        opt.name for opt in opts}
    for opt in opts:
        assert opt.help
