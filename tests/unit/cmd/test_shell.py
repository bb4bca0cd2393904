"""What the commands load, and what they say where Nova is not installed."""

import subprocess

import pytest

from tests.unit.cmd import processes

#: Simulates an environment that has nothing of Nova.
WITHOUT_NOVA = "sys.modules['nova'] = None; "


def run(*arguments, main='main', before='', after=''):
    """Run a command in a process, and what comes before and after it."""
    return processes.run(
        'python', '-c', f'import sys; {before}'
        'from nova_image_override.cmd import shell; '
        f'status = shell.{main}(); {after}sys.exit(status)', *arguments)


def test_what_asks_nothing_of_nova_does_not_load_it():
    done = run('--version', after="assert 'nova' not in sys.modules; ")
    assert (done.status, done.lines) == (0, [])
    assert done.out


@pytest.mark.process
def test_bash_completes_commands_and_options_with_what_complete_prints():
    printed = run('complete', '--name', 'nova-image-override').out
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


@pytest.mark.parametrize(('main', 'arguments', 'status'), [
    ('main', ['check'], 1), ('main', ['list'], 1), ('main', ['computes'], 1),
    # 1 would be a warning about an upgrade.
    ('status', ['upgrade', 'check'], 255)])
def test_without_nova_one_line_says_where_to_run_it(main, arguments, status):
    done = run(*arguments, main=main, before=WITHOUT_NOVA)
    assert (done.status, done.out) == (status, '')
    (line,) = done.lines
    assert line.startswith('nova is not installed in ')
