"""What the commands load, and what they say where Nova is not installed."""

import subprocess
import sys

import pytest

#: Simulates an environment that has nothing of Nova.
WITHOUT_NOVA = "sys.modules['nova'] = None; "


def run(*arguments, main='main', before='', after=''):
    """Run a command in a process; return status, output and errors."""
    done = subprocess.run(
        [sys.executable, '-c',
         f'import sys; {before}'
         'from nova_image_override.cmd import shell; '
         f'status = shell.{main}(); {after}sys.exit(status)',
         *arguments],
        capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def test_what_asks_nothing_of_nova_does_not_load_it():
    status, out, err = run(
        '--version', after="assert 'nova' not in sys.modules; ")
    assert (status, err) == (0, '')
    assert out


@pytest.mark.process
def test_bash_completes_commands_and_options_with_what_complete_prints():
    _, printed, _ = run('complete', '--name', 'nova-image-override')
    assert completed(printed, 'ex') == 'explain'
    assert completed(printed, 'explain', '--im') == '--image'
    assert completed(printed, 'servers', '--no') == (
        '--noindent --no-longer-allowed')


def completed(printed, *words):
    """Return what bash, with what was PRINTED, makes of WORDS."""
    done = subprocess.run(
        ['bash', '--norc', '-c', """
            eval "$1"; shift
            COMP_WORDS=("$@")
            # Of the package bash-completion.
            _get_comp_words_by_ref() {
                words=("${COMP_WORDS[@]}"); cur=${words[-1]}
            }
            _nova_image_override
            echo "${COMPREPLY[*]}" """,
         'bash', printed, 'nova-image-override', *words],
        capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize('command', ['check', 'list', 'computes'])
def test_without_nova_one_line_says_where_to_run_it(command):
    status, out, err = run(command, before=WITHOUT_NOVA)
    assert (status, out) == (1, '')
    (line,) = err.splitlines()
    assert line.startswith('nova is not installed in ')


def test_without_nova_nothing_is_said_of_an_upgrade():
    status, out, err = run(
        'upgrade', 'check', main='status', before=WITHOUT_NOVA)
    assert (status, out) == (255, '')
    (line,) = err.splitlines()
    assert ' is not installed in ' in line
