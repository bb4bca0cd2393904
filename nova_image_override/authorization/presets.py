"""Presets: named sets of overrides, which the operator offers in a file.

A request that names one asks for its properties. From there on they are
overrides like any others: they only need no entry in ``allowed_properties``.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
import dataclasses
import hashlib
import json
import re
from typing import Any

import yaml

from nova_image_override import errors
from nova_image_override.authorization import config_files
from nova_image_override.authorization.watched_files import UNREADABLE
from nova_image_override.authorization.watched_files import WatchedFiles
from nova_image_override.override import Overrides, Parser, UsedPreset
from nova_image_override.properties.catalog import Catalog

#: The option of ``[image_override]`` that names the file.
OPTION = 'presets_file'

_NAME = re.compile('[A-Za-z0-9][A-Za-z0-9._-]{0,63}')

_KEYS = ('description', 'properties', 'flavors')

#: Limits of a file. Each request for discovery judges every preset, and
#: answers with those that are left; a file is parsed while requests wait.
PRESETS_MAX = 100
PROPERTIES_MAX = 1000
BYTES_MAX = 2**17


@dataclasses.dataclass(frozen=True)
class Preset:
    """One preset.

    :ivar digest: of the overrides, which shows whether they have changed
    :ivar description: for users who choose a preset
    :ivar flavors: names of the flavors that it is meant for; not enforced
    """

    name: str
    overrides: Overrides
    digest: str
    description: str
    flavors: tuple[str, ...]

    @classmethod
    def of(
        cls, name: str, overrides: Overrides, description: str = '',
        flavors: tuple[str, ...] = (),
    ) -> Preset:
        """Return the preset called NAME, with OVERRIDES marked as its own."""
        digest = hashlib.sha256(json.dumps(
            overrides.values, sort_keys=True).encode()).hexdigest()
        return cls(name, Overrides(
            tuple(dataclasses.replace(each, preset=name)
                  for each in overrides),
            UsedPreset(name, digest)), digest, description, flavors)


class Presets:
    """The presets of one deployment, as its file has them now.

    :param path: the file; None if there is none
    :raises errors.StartupError: with a line for each fault
    """

    def __init__(self, catalog: Catalog, path: str | None = None) -> None:
        self._watched = path and WatchedFiles(
            lambda: [path], lambda: _read(catalog, path),
            f'[image_override] {OPTION}')

    def now(self) -> Mapping[str, Preset]:
        """Return the presets by name."""
        return self._watched.content() if self._watched else {}

    @property
    def last_read(self) -> Mapping[str, Preset]:
        """The presets in force, as :attr:`WatchedFiles.last_read`."""
        return self._watched.last_read if self._watched else {}

    def then(self, call: Callable[[], object]) -> None:
        """Call CALL each time the file has changed."""
        if self._watched:
            self._watched.then = call

    def named(
        self, name: object,
        may_use: Callable[[str], bool] = lambda name: True,
    ) -> Preset:
        """Return the preset that a request names.

        :param name: as Nova's JSON parser made it
        :param may_use: whether the caller may use the preset of a name
        :raises errors.Invalid: there is none, or none for the caller
        """
        presets = self.now()
        if not isinstance(name, str):
            raise errors.Invalid.of([errors.PRESET], errors.INVALID_TYPE,
                                    'must be a string, the name of a preset')
        if name not in presets or not may_use(name):
            raise errors.Invalid.of(
                [errors.PRESET], errors.UNKNOWN_PRESET,
                f'this cloud has no preset {errors.printable(name)}'
                + errors.did_you_mean(
                    name[:64], filter(may_use, presets), 0.5))
        return presets[name]


def is_name(text: str) -> bool:
    """Return whether a preset can be called TEXT."""
    return _NAME.fullmatch(text) is not None


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # It has no types.
    """Reads everything but null as it is written: ``true``, ``2.0``, ``0-3``.

    A key that is there twice is an error: YAML's last one would win. So is a
    tag, such as ``!!bool``: PyYAML fails in many ways where it does not fit. So
    is an alias, with which a short file would make long answers.
    """

    yaml_implicit_resolvers = {
        first: [each for each in resolvers if each[0].endswith(':null')]
        for first, resolvers
        in yaml.SafeLoader.yaml_implicit_resolvers.items()}

    def compose_node(
        self, parent: yaml.Node | None, index: object,
    ) -> yaml.Node | None:
        """Return the node that comes next."""
        event = self.peek_event()
        if getattr(event, 'tag', None) is not None:
            raise yaml.constructor.ConstructorError(
                problem='tags, such as !!str, have no meaning here',
                problem_mark=event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            raise yaml.constructor.ConstructorError(
                problem=f'aliases are not read: write out what *{event.anchor} '
                'stands for', problem_mark=event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False,
    ) -> dict[Any, Any]:
        """Return the mapping of NODE."""
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(made) < len(node.value):
            keys = [self.construct_object(key) for key, _ in node.value]
            first, *_ = [at for at, key in enumerate(keys) if key in keys[:at]]
            raise yaml.constructor.ConstructorError(
                problem=f'{keys[first]} is there twice',
                problem_mark=node.value[first][0].start_mark)
        return made


def _read(catalog: Catalog, path: str) -> dict[str, Preset]:
    """Read the presets of a file, or raise StartupError with all its faults."""
    def failure(why: object) -> errors.StartupError:
        return config_files.failure(OPTION, path, why)

    try:
        entries = _Loader(
            config_files.read(OPTION, path, BYTES_MAX)).get_single_data()
    except (yaml.YAMLError, *UNREADABLE) as exc:
        raise failure(exc) from None
    if not isinstance(entries, dict):
        raise failure('must be a mapping of names to presets')
    if len(entries) > PRESETS_MAX:
        raise failure(f'at most {PRESETS_MAX} presets, not {len(entries)}')
    parser = Parser(catalog)
    # MariaDB takes such rows of the record for the same.
    if len({str(name).lower() for name in entries}) < len(entries):
        raise failure('names of presets differ in case only')
    wrong = [errors.Fault(
        OPTION, path, f'preset {errors.printable(str(name))}: {fault}')
             for name, entry in entries.items()
             for fault in _faults(catalog, parser, name, entry)]
    if wrong:
        raise errors.StartupError(*wrong)
    named = sum(len(entry['properties']) for entry in entries.values())
    if named > PROPERTIES_MAX:
        raise failure(f'at most {PROPERTIES_MAX} properties in all presets '
                      f'together, not {named}')
    return {name: Preset.of(
        name, parser.parse(entry['properties']), entry['description'],
        tuple(entry.get('flavors') or ())) for name, entry in entries.items()}


def _faults(
    catalog: Catalog, parser: Parser, name: object, entry: Any,
) -> Iterator[str]:
    """Yield the faults of an entry of the file."""
    if not isinstance(name, str) or not is_name(name):
        yield ('a name is 1 to 64 letters, digits, ".", "_" and "-", the first '
               'of them a letter or digit')
    others = [str(key) for key in entry if key not in _KEYS] \
        if isinstance(entry, dict) else ['it']
    if others:
        yield (f'must be a mapping with no other keys than {", ".join(_KEYS)}'
               + ''.join(f'; {errors.printable(key)}{near}' for key in others
                         if (near := errors.did_you_mean(key[:64], _KEYS))))
        return
    description, properties, flavors = map(entry.get, _KEYS)
    if not isinstance(description, str) or not description.strip():
        yield 'description must be a text'
    if flavors is not None and not _is_of(list, flavors):
        yield 'flavors must be a list of names'
    if not properties or not _is_of(dict, properties) or not _is_of(
            list, [each for each in properties.values() if each is not None]):
        yield 'properties must be a mapping of names to texts, or null'
        return
    try:
        parser.parse(properties)
    except errors.OverrideError as exc:
        yield from map(str, exc.problems)
    for each in filter(catalog.field_of, properties):
        if catalog.resolve(each).record.never:
            yield (f'{each}: {errors.NEVER}: describes the image itself and '
                   'can never be overridden')


def _is_of(kind: Any, value: Any) -> bool:
    """Return whether VALUE is a list of texts, or a mapping of them."""
    return isinstance(value, kind) and all(
        isinstance(each, str) for each in value)
