"""``KEY=VALUE`` on a command line, as all our clients read it."""
from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

#: The options, and the names under which parsed arguments have their values.
SET = '--image-prop-override'
DROP = '--no-image-prop-override'
DEST = 'nova_image_override'
PRESET = '--image-prop-override-preset'
PRESET_DEST = f'{DEST}_preset'


class Override(argparse.Action):
    """Collects ``KEY=VALUE`` into name -> value; ``KEY=`` is name -> None.

    For an option that takes one of them, and for an argument that takes many.
    """

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace,
        values: Any, option_string: str | None = None,
    ) -> None:
        """Take one more ``KEY=VALUE``, or several, split at the first ``=``."""
        try:
            overrides = take([values] if isinstance(values, str) else values,
                             getattr(namespace, self.dest))
        except ValueError as exc:
            raise argparse.ArgumentError(self, str(exc)) from None
        setattr(namespace, self.dest, overrides)


class Once(argparse.Action):
    """Takes one value: a second one is refused, and does not replace it."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace,
        values: Any, option_string: str | None = None,
    ) -> None:
        """Take the value."""
        if getattr(namespace, self.dest, None) is not None:
            raise argparse.ArgumentError(self, 'is given twice')
        setattr(namespace, self.dest, values)


def take(
    words: Iterable[str], before: Mapping[str, str | None] | None = None,
) -> dict[str, str | None]:
    """Return WORDS, each ``KEY=VALUE`` or ``KEY=``, and those from BEFORE.

    :raises ValueError: one is neither, or has the name of another
    """
    overrides = dict(before or {})
    for word in words:
        name, equals, value = word.partition('=')
        if not (name and equals):
            raise ValueError(f'write {word!r} as KEY=VALUE')
        if name in overrides:
            raise ValueError(f'{name} is given twice')
        overrides[name] = value or None
    return overrides


def name(word: str) -> str:
    """Return WORD, which must be a name without a value."""
    if not word.strip():
        raise argparse.ArgumentTypeError(
            'takes the name of a property, which is not empty')
    key, equals, _ = word.partition('=')
    if equals:
        raise argparse.ArgumentTypeError(
            f'takes the name of a property, {key}, without a value')
    return word


def asked(parsed_args: argparse.Namespace) -> tuple[Any, ...]:
    """Return the values of SET and PRESET, or nothing if neither is given."""
    values = (getattr(parsed_args, DEST, None),
              getattr(parsed_args, PRESET_DEST, None))
    return () if values == (None, None) else values


#: The options of every tool.
OPTION: dict[str, Any] = {
    'metavar': '<key=value>', 'dest': DEST, 'action': Override,
    'help': 'Override an image property for this server (repeat to override '
            'several); KEY= with nothing removes the image\'s property'}
#: The first of them, where it names properties without values.
NAMES: dict[str, Any] = {
    'metavar': '<key>', 'dest': DEST, 'action': 'append', 'type': name}
PRESET_OPTION: dict[str, Any] = {
    'metavar': '<name>', 'dest': PRESET_DEST, 'action': Once,
    'help': 'Use one of the cloud\'s presets; overrides given with it take '
            'precedence'}
