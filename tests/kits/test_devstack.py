"""The plugin's functions under bash.

With DEVSTACK, the path of a checkout of DevStack, in the environment, iniset
and start_nova_compute are DevStack's own.
"""

import configparser
import os
import subprocess

import pytest

from testing import paste_config
from tests import environments
from tests.kits import kit

PLUGIN = environments.ROOT / 'devstack' / 'plugin.sh'
SETTINGS = environments.ROOT / 'devstack' / 'settings'

#: If no checkout is given: what the plugin calls, and a start_nova_compute that
#: starts it in the two ways of DevStack's lib/nova, with and without a group.
SUBSTITUTES = r'''
function iniset {
    python3 - "$@" <<'END'
import configparser, sys
path, section, option, value = sys.argv[1:]
parser = configparser.RawConfigParser()
parser.optionxform = str
parser.read(path)
if not parser.has_section(section):
    parser.add_section(section)
parser.set(section, option, value)
with open(path, 'w') as file:
    parser.write(file)
END
}
function start_nova_compute {
    if [[ "$VIRT_DRIVER" = 'libvirt' ]]; then
        run_process n-cpu \
            "$NOVA_BIN_DIR/nova-compute --config-file $NOVA_CPU_CONF" \
            $LIBVIRT_GROUP
    else
        run_process n-cpu \
            "$NOVA_BIN_DIR/nova-compute --config-file $NOVA_CPU_CONF"
    fi
}
'''

DEVSTACK = r'''
source "$DEVSTACK/inc/ini-config"
eval "$(sed -n '/^function start_nova_compute /,/^}/p' "$DEVSTACK/lib/nova")"
'''

COMMON = r'''
set -e
function define_plugin { :; }
function die { shift; echo "$*" >&2; exit 1; }
function is_service_enabled { [[ " $ENABLED " == *" $1 "* ]]; }
function setup_develop { echo "install $1"; }
function run_process { echo "run $2"; }
'''


@pytest.fixture
def stack(tmp_path):
    """Source the plugin as stack.sh does; return what it prints."""
    def stack(script, enabled='n-api n-cpu', code='', status=0, **variables):
        checkout = os.environ.get('DEVSTACK')
        paste_config.write(tmp_path, paste_config.NOVA_APP)
        (tmp_path / 'nova.conf').touch()
        done = subprocess.run(
            ['bash', '-c', COMMON + (DEVSTACK if checkout else SUBSTITUTES)
             + code + f'source {SETTINGS}\n' + script],
            capture_output=True, text=True, check=False, env={
                **os.environ, 'ENABLED': enabled, 'VIRT_DRIVER': 'libvirt',
                'LIBVIRT_GROUP': 'libvirt', 'NOVA_BIN_DIR': '/opt/bin',
                'NOVA_CPU_CONF': '/etc/nova/nova-cpu.conf',
                'NOVA_CONF': str(tmp_path / 'nova.conf'),
                'NOVA_API_PASTE_INI': str(tmp_path / 'api-paste.ini'),
                **variables})
        assert done.returncode == status, done.stderr
        return done.stderr if status else done.stdout
    return stack


def phase(name):
    return f'source {PLUGIN} stack {name}\n'


def ini(path):
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(path)
    return parser


@pytest.mark.parametrize('path', [PLUGIN, SETTINGS], ids=lambda path: path.name)
def test_the_plugin_is_bash_that_shellcheck_accepts(path):
    kit.run('bash', '-n', path)
    # 2034, 2154: DevStack sets and reads variables.
    kit.run(kit.program('shellcheck'), '--shell=bash',
            '--exclude=SC2034,SC2154', path)


@pytest.mark.parametrize(('enabled', 'installed'), [
    ('n-api', True), ('n-cpu', True), ('n-sch', False)])
def test_the_package_is_installed_where_nova_api_or_nova_compute_is(
        stack, enabled, installed):
    assert stack(phase('install'), enabled) == (
        f'install {environments.ROOT}\n' if installed else '')


def test_nova_api_gets_the_line_and_the_lists(stack, tmp_path):
    allowed = 'hw_disk_bus=virtio|scsi, hw_scsi_model=virtio-scsi'
    stack(phase('post-config'), IMAGE_OVERRIDE_ALLOWED=allowed)
    assert ini(tmp_path / 'api-paste.ini').get(
        kit.SECTION, kit.KEY) == paste_config.APP
    group = ini(tmp_path / 'nova.conf')['image_override']
    assert group['allowed_properties'] == allowed
    kit.assert_a_list_that_nova_api_takes(group['allowed_properties'])


def test_a_host_with_nova_compute_only_keeps_its_files(stack, tmp_path):
    stack(phase('post-config'), 'n-cpu')
    assert not (tmp_path / 'nova.conf').read_text()


def test_nova_compute_is_started_by_the_other_command(stack):
    assert ('run /opt/bin/nova-compute-image-override --config-file '
            '/etc/nova/nova-cpu.conf\n') in stack(
                phase('post-config') + 'start_nova_compute')


def test_the_compute_part_can_be_left_out(stack):
    assert 'run /opt/bin/nova-compute --config-file' in stack(
        phase('post-config') + 'start_nova_compute',
        IMAGE_OVERRIDE_COMPUTE='False')


def test_a_devstack_of_another_shape_stops_stack_sh(stack):
    assert 'in another way than this plugin knows' in stack(
        phase('post-config'), status=1,
        code='function start_nova_compute { run_process n-cpu other; }\n')
