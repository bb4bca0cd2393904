"""``KEY=VALUE`` on command lines."""

import argparse
import string

import hypothesis
from hypothesis import strategies
import pytest

from nova_image_override.client import arguments

NAMES = strategies.text(
    string.ascii_lowercase + string.digits + '_.:', min_size=1)


def parsed(*words):
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument(arguments.SET, dest=arguments.DEST,
                        action=arguments.Override, default=None)
    given = [f'{arguments.SET}={word}' for word in words]
    return getattr(parser.parse_args(given), arguments.DEST)


@hypothesis.given(strategies.dictionaries(
    NAMES, strategies.none() | strategies.text(min_size=1)))
def test_every_set_of_overrides_can_be_written(overrides):
    words = [f'{name}={value or ""}' for name, value in overrides.items()]
    assert parsed(*words) == (overrides or None)


def listed(*words):
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument('overrides', nargs='*', default={},
                        action=arguments.Override)
    return parser.parse_args(words).overrides


def test_an_argument_takes_as_many_as_there_are():
    assert listed('a=1', 'b=', 'c=x=y') == {'a': '1', 'b': None, 'c': 'x=y'}
    assert listed() == {}
    assert listed('a=2') == {'a': '2'}


def test_no_option_is_no_override_and_not_an_empty_set():
    assert parsed() is None


def test_two_command_lines_share_nothing():
    assert parsed('a=1') == {'a': '1'}
    assert parsed('a=2') == {'a': '2'}


@pytest.mark.parametrize('word', ['', 'hw_disk_bus', '=', '=scsi'])
def test_what_names_nothing_is_refused(word):
    with pytest.raises(argparse.ArgumentError, match='as KEY=VALUE'):
        parsed(word)


@pytest.mark.parametrize('second', ['a=1', 'a=2', 'a='])
def test_a_name_given_twice_is_refused(second):
    with pytest.raises(argparse.ArgumentError, match='a is given twice'):
        parsed('a=1', 'b=2', second)


def test_a_second_preset_is_refused():
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument(arguments.PRESET, **arguments.PRESET_OPTION)
    words = [arguments.PRESET, 'windows']
    assert getattr(parser.parse_args(words), arguments.PRESET_DEST) == 'windows'
    with pytest.raises(argparse.ArgumentError, match='is given twice'):
        parser.parse_args([*words, arguments.PRESET, 'legacy-bios-ide'])


def test_a_name_is_taken_without_a_value():
    assert arguments.name('trait:CUSTOM_GOLD') == 'trait:CUSTOM_GOLD'


@pytest.mark.parametrize('word', ['', ' ', '\t'])
def test_an_empty_name_is_refused(word):
    with pytest.raises(argparse.ArgumentTypeError, match='is not empty'):
        arguments.name(word)


@pytest.mark.parametrize('word', ['hw_disk_bus=scsi', 'hw_disk_bus='])
def test_a_name_with_a_value_is_refused(word):
    with pytest.raises(argparse.ArgumentTypeError, match=(
            'takes the name of a property, hw_disk_bus, without a value')):
        arguments.name(word)
