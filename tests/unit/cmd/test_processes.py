"""Every command does its work, or says in one line why not, as a process.

What each command finds and shows in detail is tested without processes, which
take seconds each.
"""

import csv
import importlib.metadata
import json
import os
import signal
import sqlite3
import subprocess
import uuid

from nova import version as nova_version
import pytest

from testing import paste_config
from tests.unit.cmd import nova_databases
from tests.unit.cmd import processes

pytestmark = pytest.mark.process

COMMAND = 'nova-image-override'
STATUS = 'nova-image-override-status'
COMPUTE = 'nova-compute-image-override'


@pytest.mark.parametrize('script', [COMMAND, STATUS, COMPUTE])
def test_help_is_printed(script, monkeypatch):
    # Where Nova's services are told to use threads, releases 32 and 33 choose
    # at import, and once; the tests below leave the choice to Nova.
    monkeypatch.setenv('OS_NOVA_DISABLE_EVENTLET_PATCHING', 'true')
    done = processes.run(script, '--help')
    assert done.status == 0, done.lines
    assert done.out.startswith('usage: ')
    # Up to release 33 Nova itself warns that it uses eventlet.
    assert not done.lines or script == COMPUTE


@pytest.mark.parametrize('name', ['nova.conf', 'nova-compute.conf'])
def test_the_compute_command_reads_the_files_that_nova_compute_does(
        name, tmp_path, monkeypatch):
    monkeypatch.setenv('HOME', str(tmp_path))
    path = tmp_path / '.nova' / name
    path.parent.mkdir()
    path.write_text('unreadable')
    done = processes.run(COMPUTE)
    assert done.status
    assert f'Failed to parse {path}' in ' '.join(done.lines)


# --- beside Nova's files -----------------------------------------------------

@pytest.fixture
def conf(tmp_path):
    path = tmp_path / 'nova.conf'
    path.write_text('[image_override]\n'
                    'allowed_properties = hw_boot_menu, hw_disk_bus=scsi\n')
    paste_config.write(tmp_path, paste_config.APP)
    return path


def answer(status, *arguments):
    """Run a subcommand; return what it prints as JSON."""
    done = processes.run(COMMAND, *arguments, '-f', 'json')
    assert done.status == status, done.lines
    return json.loads(done.out)


@pytest.mark.smoke
def test_check_finds_a_mistake(conf):
    conf.write_text('[image_override]\nallowed_properties = hw_boot_menue\n')
    (found,) = answer(1, 'check', '--config-file', conf)
    assert (found['Code'], found['Subject']) == ('L1', 'hw_boot_menue')


def test_explain_tells_what_the_rules_say(conf):
    rules = answer(0, 'explain', 'hw_disk_bus=scsi', '--config-file', conf)
    assert rules[2]['Reason'] == 'entry hw_disk_bus=scsi'
    assert rules[-1]['Verdict'] == 'permits'


def test_list_lists_what_may_be_overridden(conf):
    rows = answer(0, 'list', '--config-file', conf)
    assert [(row['Property'], row['Values']) for row in rows] == [
        ('hw_boot_menu', ['true', 'false']), ('hw_disk_bus', ['scsi'])]


@pytest.mark.smoke
def test_status_reports_a_rule_that_stops_nova_api(conf):
    conf.write_text('[image_override]\nallowed_properties = vm_mode\n')
    done = processes.run(STATUS, '--config-file', conf, 'upgrade', 'check')
    assert done.status == 2
    assert 'vm_mode' in done.out


@pytest.mark.smoke
def test_nova_compute_is_the_first_that_imports_nova():
    # nova.cmd.compute chooses native threads or eventlet, and gives up if
    # anything of Nova was imported before.
    done = processes.run(COMPUTE, '--version')
    assert f'Nova {nova_version.version_string()}' in done.out, done.lines


# --- beside Nova's databases -------------------------------------------------

def test_computes_tells_which_hosts_lack_the_compute_part(databases):
    rows = answer(1, 'computes', '--config-file', databases)
    assert [(row['Cell'], row['Host'], row['Compute part'])
            for row in rows] == [
        ('cell1', 'compute1', '1.0'), ('cell1', 'compute2', None)]


@pytest.mark.smoke
def test_servers_lists_what_is_overridden(databases):
    asked = (COMMAND, 'servers', '--config-file', databases, '-f', 'csv')
    done = processes.run(*asked, '--server', nova_databases.SERVER)
    assert (done.status, done.lines) == (0, [])
    assert [row[3:] for row in csv.reader(done.out.splitlines())] == [
        ['Property', 'Image value', 'Value', 'Preset'],
        ['hw_disk_bus', 'virtio', 'scsi', 'null'],
        ['hw_pmu', 'false', 'null', 'null']]


def in_api_database(databases, *statement):
    with sqlite3.connect(databases.parent / 'api.sqlite') as database:
        database.execute(*statement)


@pytest.mark.parametrize(('command', 'connection'), [
    ('servers', 'sqlite:///{}/none/cell.sqlite'),
    ('computes', 'sqlite:///{}/none/cell.sqlite'),
    # A driver that is not installed, one that nobody has, and no URL.
    ('servers', 'mysql+oursql://nova@127.0.0.1/nova'),
    ('computes', 'no+such://nova@127.0.0.1/nova'), ('servers', 'nosuch')])
def test_a_cell_that_cannot_be_read_is_named_and_the_rest_is_there(
        databases, command, connection, tmp_path):
    in_api_database(
        databases, 'INSERT INTO cell_mappings (uuid, name, transport_url, '
        'database_connection) VALUES (?, "cell0", "fake:/", ?)',
        (str(uuid.uuid4()), connection.format(tmp_path)))
    try:
        done = processes.run(
            COMMAND, command, '--config-file', databases, '-f', 'json')
    finally:
        in_api_database(
            databases, 'DELETE FROM cell_mappings WHERE name = "cell0"')
    assert done.status == 2, done.lines
    assert [row['Cell'] for row in json.loads(done.out)] == ['cell1', 'cell1']
    assert len(done.lines) == 1
    assert 'database of cell cell0 cannot be read' in done.lines[0]


#: What prints something in each script.
PRINTING = pytest.mark.parametrize('arguments', [
    (COMMAND, '--config-file', 'servers'),
    (STATUS, '--config-file', 'upgrade', 'check')])


@PRINTING
def test_a_closed_pipe_ends_it_in_silence(databases, arguments):
    script, option, *rest = arguments
    with subprocess.Popen(
            [processes.FOLDER / script, option, databases, *rest],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        command.stdout.close()
        assert command.stderr.read() == b''
    assert command.returncode == 128 + signal.SIGPIPE


def on_a_full_disk(script, *arguments, buffered=''):
    with open('/dev/full', 'wb') as full:
        done = subprocess.run(
            [processes.FOLDER / script, *arguments], stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, 'PYTHONUNBUFFERED': buffered})
    assert done.returncode == (255 if script == STATUS else 1)
    assert done.stderr == b'[Errno 28] No space left on device\n'


@PRINTING
@pytest.mark.parametrize('buffered', ['', '1'])
def test_a_full_disk_is_one_line(databases, arguments, buffered):
    script, option, *rest = arguments
    on_a_full_disk(script, option, databases, *rest, buffered=buffered)


@pytest.mark.parametrize('arguments', [
    (COMMAND, '--version'), (COMMAND, 'hosts', '--help'),
    (STATUS, '--version'), (STATUS, '--help'), (COMPUTE, '--version')])
def test_a_full_disk_is_one_line_of_version_and_help_too(arguments):
    on_a_full_disk(*arguments)


def test_what_the_locale_lacks_is_escaped(conf, monkeypatch):
    conf.write_text('[image_override]\nallowed_properties = os_command_line=é')
    monkeypatch.setenv('PYTHONIOENCODING', 'ascii')
    done = processes.run(COMMAND, 'explain', 'os_command_line=é', '-f', 'csv',
                         '--config-file', conf)
    assert (done.status, done.lines) == (0, [])
    assert r'entry os_command_line=\xe9' in done.out


def test_without_a_command_there_is_help():
    done = processes.run(COMMAND, '--quiet')
    assert (done.status, done.lines) == (0, [])
    assert '  servers  ' in done.out


@pytest.mark.parametrize('closed', ['>&-', '2>&-'])
def test_a_stream_that_is_closed_does_not_matter(databases, closed):
    done = subprocess.run(
        ['sh', '-c', f'"$@" {closed}', 'sh', processes.FOLDER / COMMAND,
         'servers', '--config-file', databases], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b'')
    assert bool(done.stdout) == (closed == '2>&-')


def test_a_closed_output_makes_no_warning_of_what_stops_a_status():
    done = subprocess.run(
        ['sh', '-c', '"$@" >&-', 'sh', processes.FOLDER / STATUS,
         '--config-file', '/', 'upgrade', 'check'], capture_output=True)
    assert done.returncode == 255
    assert done.stderr == b"[Errno 21] Is a directory: '/'\n"


@pytest.mark.parametrize(('arguments', 'why'), [
    (('explain', ''), 'must not be empty'),
    (('check', '--nothing'), 'unrecognized arguments: --nothing')])
def test_wrong_arguments_have_a_status_of_their_own(
        databases, arguments, why):
    done = processes.run(COMMAND, *arguments, '--config-file', databases)
    assert (done.status, done.out) == (2, '')
    assert done.lines[-1].endswith(why)


def test_a_terminal_shows_the_progress(databases):
    ours, theirs = os.openpty()
    with open(ours, 'rb', 0) as terminal, os.fdopen(theirs, 'wb') as stderr:
        done = subprocess.run(
            [processes.FOLDER / COMMAND, 'servers', '--config-file',
             databases], stdout=subprocess.PIPE, stderr=stderr, check=True)
        shown = terminal.read(4096)
    assert b'0 of 1 cells, 1 read' in shown
    assert shown.endswith(b'\r\x1b[K')
    assert b'\x1b' not in done.stdout


# --- where it cannot be done -------------------------------------------------

#: Arguments of each command -> the end of its line.
WHY_NOT = [
    (('check', '--config-file', '/nowhere.conf'),
     'Failed to find some config files: /nowhere.conf'),
    (('computes', '--config-file', '{conf}'),
     'nova.conf has no [api_database] connection'),
    (('explain', 'hw_boot_menue=', '--config-file', '{conf}'),
     'hw_boot_menue: unknown: '),
    (('hosts', '--flavor', 'plain', '--config-file', '{conf}'),
     'nova.conf has no [api_database] connection'),
    (('metadefs', '--config-file', '{conf}', '--glance', '/nowhere'),
     '/nowhere'),
    (('list', '--config-file', '{wrong}'), 'entry \'vm_mode\': legacy name'),
    (('servers', '--config-file', '{conf}'),
     'nova.conf has no [api_database] connection'),
]


def test_each_script_and_command_is_here():
    found = importlib.metadata.distribution(COMMAND).entry_points
    assert {each.name for each in found.select(group='console_scripts')} == {
        COMMAND, STATUS, COMPUTE}
    assert {each.name for each in found.select(
        group='nova_image_override.cli')} == {name for (name, *_), _ in WHY_NOT}


@pytest.mark.parametrize(
    ('arguments', 'line'), WHY_NOT,
    ids=lambda value: value[0] if isinstance(value, tuple) else '')
def test_why_not_is_one_line(arguments, line, conf, tmp_path):
    wrong = tmp_path / 'wrong.conf'
    wrong.write_text('[image_override]\nallowed_properties = vm_mode\n')
    done = processes.run(COMMAND, *(
        each.format(conf=conf, wrong=wrong) for each in arguments))
    # 1 would say that there is no host.
    assert (done.status, done.out) == (1 + (arguments[0] == 'hosts'), '')
    (told,) = done.lines
    assert line in told


#: Runs the command with a Nova that is changed first.
CHANGED = '''
import sys
from nova.cmd import compute
from nova_image_override.cmd import run_nova_compute
{}
run_nova_compute.main()
'''


def run_changed(change, databases, tmp_path):
    conf = tmp_path / 'compute.conf'
    conf.write_text(f'[DEFAULT]\nlog_file = {tmp_path / "log"}\n'
                    f'[oslo_concurrency]\nlock_path = {tmp_path}\n')
    return processes.run(
        'python', '-c', CHANGED.format(change),
        '--config-file', databases, '--config-file', conf)


@pytest.mark.parametrize(('change', 'line'), [
    ('sys.modules["nova.virt.ironic.driver"] = None',
     'lacks something (import of nova.virt.ironic.driver halted'),
    ('sys.modules["nova.virt.libvirt.driver"] = None',
     'lacks something (import of nova.virt.libvirt.driver halted'),
    ('from nova.compute import manager;'
     'del manager.ComputeManager._get_rescue_image',
     'has no nova.compute.manager.ComputeManager._get_rescue_image')])
def test_why_nova_compute_does_not_start_is_one_line(
        change, line, databases, tmp_path):
    done = run_changed(change, databases, tmp_path)
    assert done.status == 1
    assert done.lines[-1].startswith('This Nova ')
    assert line in done.lines[-1]
    # Up to release 33 Nova itself warns that it uses eventlet.
    assert not any('Traceback' in each for each in done.lines)


def test_nova_compute_reads_nova_conf_before_its_manager_is_imported(
        databases, tmp_path):
    # It has the intervals of periodic tasks from there.
    done = run_changed(
        'compute.main = lambda: print(*sys.modules)', databases, tmp_path)
    assert 'nova.cmd.compute' in done.out.split()
    assert 'nova.compute.manager' not in done.out.split()


def test_a_status_that_cannot_be_checked_is_no_result():
    # 2 would be a failed check.
    for arguments, line in (
            (('--config-file', '/nowhere.conf', 'upgrade', 'check'),
             'Failed to find some config files: /nowhere.conf'),
            (('--config-file', '/', 'upgrade', 'check'), 'Is a directory'),
            (('upgrade', 'check', '--jsn'),
             'unrecognized arguments: --jsn')):
        done = processes.run(STATUS, *arguments)
        assert (done.status, done.out) == (255, '')
        assert line in done.lines[-1]
