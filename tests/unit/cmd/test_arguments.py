"""What the operator's commands refuse before they read any file."""

from importlib import metadata

import pytest

COMMANDS = [
    each for each in metadata.distribution('nova-image-override').entry_points
    if each.group == 'nova_image_override.cli']


@pytest.mark.parametrize(('command', 'option'), [
    ('hosts', '--server'), ('hosts', '--flavor'),
    *((command.name, name) for command in COMMANDS
      for name, option in command.load().options.items()
      if name.startswith('--') and 'action' not in option)])
def test_an_option_takes_one_value_which_is_not_empty(
        deployment, command, option):
    for words, why in (([option, 'a', option, 'a'], 'is given twice'),
                       ([option, ''], 'must not be empty')):
        status, out, err = deployment.run(command, *words)
        assert (status, out) == (2, '')
        assert err.endswith(f'error: argument {option}: {why}\n')


@pytest.mark.parametrize(('words', 'line'), [
    (['hw_numa_nodes'], "write 'hw_numa_nodes' as KEY=VALUE"),
    (['hw_boot_menu=true', 'hw_boot_menu='], 'hw_boot_menu is given twice')])
def test_overrides_that_cannot_be_asked_about_are_one_line(
        deployment, words, line):
    assert deployment.run('hosts', '--flavor', 'plain', *(
        f'--image-prop-override={each}' for each in words)) == (
            2, '', f'{line}\n')
