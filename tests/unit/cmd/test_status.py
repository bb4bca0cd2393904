"""``nova-image-override-status upgrade check``."""

import nova.conf
from oslo_upgradecheck import upgradecheck
import pytest

from nova_image_override.cmd import shell
from nova_image_override.cmd import upgrade_checks
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.nova_interfaces import compute as compute_interfaces
from nova_image_override.nova_interfaces import interface


@pytest.fixture
def check(deployment, monkeypatch, capsys):
    """Run the check on a nova.conf; return the exit status and the output."""
    def check(text, word='check'):
        path = deployment.write('nova.conf', text)
        nova.conf.CONF.reset()
        monkeypatch.setattr('sys.argv', [
            'nova-image-override-status', '--config-file', path,
            'upgrade', word])
        result = shell.status()
        captured = capsys.readouterr()
        return result, captured.out or captured.err
    yield check
    nova.conf.CONF.reset()
    nova.conf.CONF.unregister_opts(
        [opt['opt'] for name, opt in list(nova.conf.CONF._opts.items())
         if name == 'command'])


def test_all_is_well(check):
    result, out = check(
        '[image_override]\nallowed_properties = hw_disk_bus\n')
    assert result == 0
    assert out.count('Result: Success') == 3


def test_a_name_that_the_new_nova_lacks_is_a_warning(check):
    result, out = check('[image_override]\nallowed_properties = hw_gone\n')
    assert result == 1
    assert 'hw_gone' in out


def test_rules_that_stop_nova_api_are_a_failure(check):
    result, out = check(
        '[image_override]\nproperty_protection_file = /nowhere\n')
    assert result == 2
    assert '/nowhere' in out


def test_no_other_word_is_taken_for_a_check(check):
    assert check('[image_override]\n', word='chekc') == (
        255, "there is no upgrade 'chekc': write upgrade check\n")


def test_a_file_that_is_not_utf_8_is_named(check, deployment):
    result, err = check('[image_override]\nallowed_properties = hw_\udce9\n')
    assert result == 255
    assert err.startswith(f"{deployment.folder}/nova.conf: 'utf-8' codec ")


def test_without_nova_conf_the_rules_are_a_failure(monkeypatch):
    class Conf:
        config_file: list[str] = []
        config_dir: list[str] = []

    monkeypatch.setattr(upgrade_checks.nova.conf, 'CONF', Conf())
    result = upgrade_checks.Checks()._result(upgrade_checks.unknown_names)
    assert result.code == upgradecheck.Code.FAILURE
    assert '--config-file' in result.details


@pytest.mark.parametrize('service', [api_interfaces, compute_interfaces])
def test_a_nova_of_another_shape_is_a_failure(check, monkeypatch, service):
    monkeypatch.setattr(
        service, 'INTERFACES', interface.called('nova', 'a test', missing=''))
    result, out = check('[image_override]\n')
    assert result == 2
    assert 'This Nova has no nova.missing' in out
