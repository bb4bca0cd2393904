"""The deployment ends what it started, and touches nothing else.

Needs no cloud: a deployment of its own in a folder of its own.
"""

import json
import pathlib
import signal
import socket
import subprocess
import sys

import pytest

from testing.deployment import hugepages
from testing.deployment import machine
from testing.deployment import processes
from testing.deployment import state as state_module

#: A shell that starts another process, and makes both ignore SIGTERM.
STUBBORN = ['sh', '-c', "trap '' TERM; sleep 1000 & wait; wait"]


@pytest.fixture
def state(tmp_path):
    return state_module.State(tmp_path / 'state')


@pytest.fixture
def stranger():
    """A process that the deployment did not start."""
    process = subprocess.Popen(['sleep', '1000'], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_services_find_the_checkout_where_they_start():
    assert (state_module.ROOT / 'setup.cfg').is_file()


def group(pid):
    """Return the processes of a group that are alive."""
    listed = subprocess.run(
        ['ps', '-e', '-o', 'pid=,pgid=,stat='], capture_output=True,
        text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines()
            if int(line.split()[1]) == pid and line.split()[2][0] != 'Z']


def test_what_does_not_end_when_asked_is_ended_with_all_it_started(state):
    process = processes.Process(state, 'stubborn')
    process.start(STUBBORN)
    pid = process.pid
    processes.wait_for(lambda: len(group(pid)) == 2, 'its child', 10)
    process.stop(signal.SIGTERM, seconds=0.5)
    assert group(pid) == []
    assert process.pid is None


def test_a_process_runs_as_long_as_one_of_its_threads(state):
    process = processes.Process(state, 'threads')
    # exit(2) ends the thread that calls it, exit_group(2) the process.
    process.start([sys.executable, '-c', """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).syscall(60, 0)
"""])
    pid = process.pid
    stat = pathlib.Path(f'/proc/{pid}/stat')
    processes.wait_for(lambda: ') Z ' in stat.read_text(), 'the exit', 10)
    assert process.pids == [process.pid] == [pid]
    process.kill()
    assert process.pid is None


def test_what_outlived_its_leader_is_ended_too(state):
    process = processes.Process(state, 'orphan')
    process.start(STUBBORN)
    pid = process.pid
    processes.wait_for(lambda: len(group(pid)) == 2, 'its child', 10)
    subprocess.run(['kill', '-KILL', str(pid)], check=True)
    processes.wait_for(lambda: process.pid is None, 'the end', 10)
    assert len(group(pid)) == 1
    process.kill()
    assert group(pid) == []


def test_a_process_that_has_the_id_of_a_recorded_one_is_left_alone(
        state, stranger):
    state.write(json.dumps({'pid': stranger.pid, 'started': '1'}),
                'processes', 'reused.json')
    process, = processes.recorded(state)
    assert process.pid is None
    process.kill()
    assert stranger.poll() is None


def test_a_record_that_was_half_written_ends_nothing(state):
    state.write('{"pid": ', 'processes', 'torn.json')
    process, = processes.recorded(state)
    assert process.pid is None
    process.kill()
    assert processes.recorded(state) == []


def test_the_end_of_the_log_tells_why_a_service_does_not_start(state):
    process = processes.Process(state, 'broken')
    process.start(['sh', '-c', 'echo no such table; exit 1'])
    with pytest.raises(processes.NotReady, match='no such table'):
        process.wait_until(lambda: False)


def test_a_port_of_somebody_else_is_named(monkeypatch):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        monkeypatch.setattr(
            state_module, 'PORTS', {'glance': taken.getsockname()[1]})
        with pytest.raises(machine.Unable, match='for glance is in use'):
            state_module.check_ports()


def test_nobody_else_can_read_the_state(state):
    state.secret('mariadb')
    assert state.folder.stat().st_mode & 0o077 == 0


def test_a_folder_too_deep_for_sockets_is_refused(tmp_path):
    with pytest.raises(machine.Unable, match='CLOUD_STATE'):
        state_module.State(tmp_path / ('x' * 100))


@pytest.mark.skipif(not pathlib.Path('/usr/bin/dpkg-query').exists(),
                    reason='needs Debian')
def test_a_missing_package_is_named():
    assert machine.missing(('libc6', 'no-such-package')) == ['no-such-package']


def test_a_package_that_is_not_installed_is_missing(monkeypatch, tmp_path):
    """Fakes what dpkg-query answers, to run on any machine."""
    query = tmp_path / 'dpkg-query'
    query.write_text('#!/bin/sh\n'
                     'echo here installed\necho removed config-files\n')
    query.chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path), prepend=':')
    assert machine.missing(('here', 'removed', 'unknown')) == [
        'removed', 'unknown']


def test_other_users_than_root_are_told(monkeypatch):
    monkeypatch.setattr('os.geteuid', lambda: 1000)
    with pytest.raises(machine.Unable, match='needs root'):
        machine.check()


def test_who_cannot_install_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(machine, 'missing', lambda packages: packages)
    monkeypatch.setattr('os.geteuid', lambda: 1000)
    with pytest.raises(machine.Unable, match=r'root on Debian .* go, curl'):
        machine.install(['go', 'curl'])


@pytest.fixture
def pool(tmp_path):
    """The kernel's pool of huge pages, of which others have 7."""
    path = tmp_path / 'nr_hugepages'
    path.write_text('7\n')
    return path


def test_huge_pages_are_added_to_those_of_others_and_taken_away_again(
        state, pool):
    pages = hugepages.HugePages(state, pool)
    assert not pages.there
    assert pages.take(512)
    assert pages.there
    assert pool.read_text() == '519'
    # Given back by another process of this cloud.
    hugepages.HugePages(state, pool).give_back()
    assert pool.read_text() == '7'
    assert not pages.there
    pages.give_back()
    assert pool.read_text() == '7'


def test_huge_pages_that_others_add_or_remove_meanwhile_are_theirs(
        state, pool):
    pages = hugepages.HugePages(state, pool)
    pages.take(512)
    pool.write_text('529')
    pages.give_back()
    assert pool.read_text() == '17'
    pages.take(512)
    pool.write_text('5')
    pages.give_back()
    assert pool.read_text() == '5'


def test_huge_pages_of_a_start_that_was_cut_off_are_not_taken_twice(
        state, pool):
    hugepages.HugePages(state, pool).take(512)
    assert hugepages.HugePages(state, pool).take(256)
    assert pool.read_text() == '263'


def test_a_kernel_that_gives_too_few_huge_pages_has_them_back(
        state, pool, monkeypatch):
    count = hugepages.HugePages._count
    monkeypatch.setattr(hugepages.HugePages, '_count', lambda pages: min(
        count(pages), 300))
    pages = hugepages.HugePages(state, pool)
    assert not pages.take(512)
    assert not pages.there
    assert pool.read_text() == '7'


def test_a_kernel_without_huge_pages_gives_none(state, tmp_path):
    pages = hugepages.HugePages(state, tmp_path / 'nothing')
    assert not pages.take(512)
    assert not pages.there
    assert not (tmp_path / 'nothing').exists()


def test_huge_pages_of_another_boot_are_gone_by_themselves(
        state, pool, monkeypatch, tmp_path):
    pages = hugepages.HugePages(state, pool)
    pages.take(512)
    boot = tmp_path / 'boot_id'
    boot.write_text('another')
    monkeypatch.setattr(hugepages, '_BOOT', boot)
    assert not pages.there
    pages.give_back()
    assert pool.read_text() == '519'


#: Calls ``run`` with a cloud that only prints what it is asked to do.
RUN = """
import sys
from testing.deployment import __main__ as commands

class Cloud:
    def up(self):
        print('up', flush=True)
        {up}

    def down(self):
        print('down', flush=True)

sys.exit(commands.run(Cloud(), {command!r}))
"""


def start_run(command, up='pass'):
    return subprocess.Popen(
        [sys.executable, '-c', RUN.format(command=command, up=up)],
        cwd=state_module.ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)


def test_what_runs_on_the_cloud_has_its_status_and_the_cloud_ends():
    process = start_run(['sh', '-c', 'echo test; exit 3'])
    said, _ = process.communicate(timeout=60)
    assert said.split() == ['up', 'test', 'down']
    assert process.returncode == 3


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_the_cloud_ends_with_what_runs_on_it_when_interrupted(number):
    process = start_run(['sh', '-c', 'echo $$; exec sleep 1000'])
    assert process.stdout.readline() == 'up\n'
    child = int(process.stdout.readline())
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert said.split() == ['down']
    assert process.returncode == 130
    assert not pathlib.Path(f'/proc/{child}').exists()


def test_a_cloud_that_does_not_start_is_ended():
    process = start_run(['echo', 'never'], 'raise ValueError')
    said, _ = process.communicate(timeout=60)
    assert said.split() == ['up', 'down']
    assert process.returncode == 1
