"""``KEY=VALUE`` on a command line, as all our clients read it."""

import argparse
import typing

#: The options, and the name under which parsed arguments have their values.
SET = '--image-prop-override'
DROP = '--no-image-prop-override'
DEST = 'nova_image_override'


class Override(argparse.Action):
    """Collects ``KEY=VALUE`` into name -> value; ``KEY=`` is name -> None.

    For an option that takes one of them, and for an argument that takes many.
    """

    def __call__(
        self, parser: argparse.ArgumentParser,
        namespace: argparse.Namespace, values: typing.Any,
        option_string: str | None = None,
    ) -> None:
        """Take one more ``KEY=VALUE``, or several."""
        for each in [values] if isinstance(values, str) else values:
            self._take(namespace, each)

    def _take(self, namespace: argparse.Namespace, word: str) -> None:
        """Take one ``KEY=VALUE``, split at the first ``=``."""
        name, equals, value = word.partition('=')
        if not (name and equals):
            raise argparse.ArgumentError(
                self, f'write {word!r} as KEY=VALUE')
        overrides = getattr(namespace, self.dest) or {}
        if name in overrides:
            raise argparse.ArgumentError(self, f'{name} is given twice')
        setattr(namespace, self.dest, {**overrides, name: value or None})


class Name(Override):
    """Collects ``KEY`` into a list of names."""

    def _take(self, namespace: argparse.Namespace, word: str) -> None:
        setattr(namespace, self.dest, [
            *(getattr(namespace, self.dest) or []), word])


#: Help text of the option, the same in every tool.
HELP = ('Override an image property for this server (repeat to override '
        'several); KEY= with nothing removes the image\'s property')
