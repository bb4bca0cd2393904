"""``make demo`` tells the truth, and nothing else."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, '-m', 'demo', *arguments], cwd=ROOT,
        capture_output=True, text=True, timeout=300)


@pytest.fixture(scope='module')
def story() -> subprocess.CompletedProcess[str]:
    return demo()


def test_succeeds_and_says_nothing_beside_the_story(story):
    assert story.returncode == 0
    assert story.stderr == ''
    assert not re.search('Warning|[Dd]eprecat|DEBUG|INFO|Traceback',
                         story.stdout)


def test_is_plain_text_when_it_is_not_on_a_terminal(story):
    assert '\033' not in story.stdout


def test_shows_the_properties_in_force_side_by_side(story):
    rows = [line.split() for line in story.stdout.splitlines()]
    assert ['hw_boot_menu', '-', 'true', 'overridden'] in rows
    assert ['hw_disk_bus', 'virtio', 'scsi', 'overridden'] in rows
    assert ['hw_numa_nodes', '-', '2', 'overridden'] in rows
    # Without it, the kernel of a cloud image does not find its disk.
    assert ['hw_scsi_model', '-', 'virtio-scsi', 'overridden'] in rows
    assert ['os_distro', 'debian', 'debian'] in rows


def test_shows_what_is_stored_and_the_image_s_own_values(story):
    rows = [line.split() for line in story.stdout.splitlines()]
    assert ['image_hw_disk_bus', 'scsi'] in rows
    assert ['image_os_glance_override:hw_disk_bus', 'virtio'] in rows
    assert ['image_os_glance_override:hw_numa_nodes'] in rows


def test_shows_how_the_guests_differ(story):
    changed = [re.sub(r'\s+', ' ', line) for line in story.stdout.splitlines()
               if line[:1] in '+-']
    assert '+ <bootmenu enable="yes" />' in changed
    assert '- <target dev="vda" bus="virtio" />' in changed
    assert '+ <target dev="sda" bus="scsi" />' in changed
    assert '+ <cell id="1" cpus="2-3" memory="1048576" />' in changed
    assert not [line for line in changed if '<uuid>' in line]


def test_shows_a_refusal_that_names_every_offending_property(story):
    answer = story.stdout.split('400 Bad Request')[1]
    for problem in ('hw_boot_menu: invalid_value', 'vm_mode: legacy_name',
                    'hw_cpu_sockets: invalid_value', 'hw_disk_bus: invalid_',
                    'hw_os_command_line: unknown'):
        assert problem in answer


def test_tries_the_reader_s_own_overrides_split_at_the_first_equals_sign():
    told = demo('hw_cpu_sockets=2', 'os_command_line=console=ttyS0')
    assert told.returncode == 0, told.stdout + told.stderr
    assert '+    <cmdline>console=ttyS0</cmdline>' in told.stdout
    assert '+    <topology sockets="2" cores="2" threads="1" />' \
        in told.stdout
    assert '400 Bad Request' not in told.stdout


def test_fails_and_shows_the_answer_when_the_reader_s_own_are_refused():
    told = demo('hw_machine_type=q35', 'hw_boot_menu=true')
    assert told.returncode == 1
    assert '403 Forbidden' in told.stdout
    assert 'hw_machine_type: denied' in told.stdout
    assert 'hw_boot_menu: ' not in told.stdout


def test_fails_and_says_why_when_the_server_cannot_be_built():
    told = demo('trait:CUSTOM_NOWHERE=required')
    assert told.returncode == 1
    assert 'No valid host was found' in told.stdout


def test_refuses_an_argument_that_is_no_override():
    told = demo('hw_boot_menu')
    assert told.returncode == 2
    assert told.stderr.endswith('write hw_boot_menu as NAME=VALUE\n')
