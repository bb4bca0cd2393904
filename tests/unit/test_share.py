"""share/ matches the current commands and options; the wheel has all of it."""

import configparser
import importlib.util
import pathlib
import pkgutil
import subprocess
import sys
import zipfile

from nova import version
import pytest

from tests.unit import checkout
from tools import share

EXAMPLES = share.SHARE / share.NAME

#: The release that it is made with: older ones have fewer properties.
NEWEST = version.version_string().startswith('34.')


def parsed(name):
    # systemd's units may have an option twice, uWSGI's paths may have "%".
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(EXAMPLES / name)
    return parser


@pytest.mark.process
@pytest.mark.skipif(not NEWEST, reason='made with the newest Nova')
def test_what_is_made_is_up_to_date():
    stale = [name for name, text in share.made().items()
             if (share.SHARE / name).read_text() != text]
    assert not stale, 'run "make share"'


def test_the_wheel_brings_every_file(tmp_path):
    # setuptools before 70.1 leaves it to another package.
    pytest.importorskip('setuptools.command.bdist_wheel')
    made = checkout.built(tmp_path, 'wheel')
    brought = {name.partition('.data/data/share/')[2]
               for name in zipfile.ZipFile(made).namelist()
               if '.data/data/' in name}
    assert brought == checkout.files(share.SHARE)


@pytest.mark.parametrize(
    'name', ['nova-compute-image-override.service', 'nova-compute.conf'])
def test_a_unit_starts_a_command_that_is_installed(name):
    command = parsed(name)['Service']['ExecStart'].split()[0]
    assert pathlib.Path(command).name in checkout.scripts()


def test_uwsgi_is_given_what_nova_ships():
    uwsgi = parsed('nova-api-uwsgi.ini')['uwsgi']
    module, _, name = uwsgi['module'].partition(':')
    if not importlib.util.find_spec('nova.wsgi').submodule_search_locations:
        script = pathlib.Path(sys.executable).with_name('nova-api-wsgi')
        assert f'/{script.name}"' in (
            EXAMPLES / 'nova-api-uwsgi.ini').read_text()
        assert f'\n    {name} = ' in script.read_text()
        return
    spec = importlib.util.find_spec(module)
    assert f'\n{name} = None' in pathlib.Path(spec.origin).read_text()


def test_uwsgi_names_the_file_that_nova_reads_for_the_pipeline():
    value = parsed('nova-api-uwsgi.ini')['uwsgi']['env']
    name, _, value = value.partition('=')
    wsgi_app = pkgutil.resolve_name('nova.api.openstack.wsgi_app')
    files = wsgi_app._get_config_files({name: value})
    # init_application takes the first.
    assert files == ['/etc/nova/api-paste-image-override.ini',
                     '/etc/nova/nova.conf']


def test_what_a_cloud_answers_is_neither_run_nor_offered_if_it_could_be(
        tmp_path):
    """Whoever completes ``$(id)`` runs it with the command."""
    pwned = tmp_path / 'pwned'
    run = f'$(touch {pwned})'
    listed = '\n'.join([
        f"hw_disk_bus ['ide', 'scsi', '{run}', '`touch {pwned}`', 'a;id',"
        " 'a\x1b[2J', '*', '~root', '\u00e4', '$PWD', 'virtio-1.0']",
        f"{run.replace(' ', '${IFS}')} ['x']", 'hw_x;id []', 'hw_$(id) []',
        'windows',
        'hw_numa_cpus.N a list', '`id`N []'])
    done = subprocess.run(
        ['bash', '--norc', '-c', """
            listed=$2
            openstack() { printf '%s\n' "$listed"; }
            source "$1"
            for asked in ' ' ' hw_' ' hw_disk_bus=' ' hw_disk_bus=v' ' $' ' `' \
                    '-preset ' '-preset $'; do
                COMP_LINE="openstack server create --image-prop-override"
                COMP_LINE+=$asked COMP_POINT=1000
                _openstack_image_prop_override
                echo "${COMPREPLY[*]}"
            done""", 'bash', share.SHARE / 'nova-image-override/openstack.bash',
         listed], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines() == [
        'hw_disk_bus= windows= hw_numa_cpus.', 'hw_disk_bus= hw_numa_cpus.',
        'ide scsi virtio-1.0', 'virtio-1.0', '', '', 'windows', '']
    assert list(tmp_path.iterdir()) == []


def test_every_command_has_its_manual():
    for script in checkout.scripts():
        assert (share.SHARE / 'man/man1' / f'{script}.1').exists()
