"""What the commands load, and what they say where they cannot run."""

import subprocess
import sys

import pytest

from nova_image_override.cmd import shell

#: Simulates an environment that has nothing of Nova.
WITHOUT_NOVA = "sys.modules['nova'] = None; "


def run(*arguments, before='', after=''):
    """Run a command in a process; return status, output and errors."""
    done = subprocess.run(
        [sys.executable, '-c',
         f'import sys; {before}'
         'from nova_image_override.cmd import shell; '
         f'status = shell.main(sys.argv[1:]); {after}sys.exit(status)',
         *arguments],
        capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize('command', ['paste', 'sample-config'])
def test_what_asks_nothing_of_nova_does_not_load_it(command):
    status, out, err = run(
        command, after="assert 'nova' not in sys.modules; ")
    assert (status, err) == (0, '')
    assert out


def test_every_command_is_known_before_any_is_loaded():
    commands = dict(shell.Commands('nova_image_override.cli'))
    assert {'check', 'explain', 'sample-config'} <= set(commands)


def test_nothing_but_the_answer_is_printed(deployment):
    path = deployment.write(
        'nova.conf', '[image_override]\nallowed_properties = hw_boot_menu\n')
    status, out, err = run('check', '--config-file', path)
    assert (status, out.strip()) == (0, '')
    (line,) = err.splitlines()
    assert line.startswith('0 findings; 1 property may be overridden')


@pytest.mark.parametrize('command', ['check', 'list', 'computes'])
def test_without_nova_one_line_says_where_to_run_it(command):
    status, out, err = run(command, before=WITHOUT_NOVA)
    assert (status, out) == (1, '')
    (line,) = err.splitlines()
    assert line.startswith('nova is not installed in ')


def test_a_file_that_is_missing_is_one_line():
    status, out, err = run('check', '--config-file', '/nowhere.conf')
    assert (status, out) == (1, '')
    assert err == 'Failed to find some config files: /nowhere.conf\n'


def test_a_wrong_argument_has_a_status_of_its_own():
    status, out, err = run('check', '--glance-config', '/x', '--nothing')
    assert (status, out) == (2, '')
    assert 'unrecognized arguments: --nothing' in err
