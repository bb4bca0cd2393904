"""Presets: named sets of overrides, which the operator offers in a file.

A request that names one asks for its properties. From there on they are
overrides like any others: they only need no entry in ``allowed_properties``.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
import dataclasses
import difflib
import functools
import hashlib
import json
import re
from typing import Any

import yaml

from nova_image_override import errors
from nova_image_override import override_record as record
from nova_image_override.authorization import config_files
from nova_image_override.authorization import watched_files
from nova_image_override.override import Overrides, Parser
from nova_image_override.properties.catalog import Catalog

#: The option of ``[image_override]`` that names the file.
OPTION = 'presets_file'

_NAME = re.compile('[A-Za-z0-9][A-Za-z0-9._-]{0,63}')

_KEYS = ('description', 'properties', 'flavors')


@dataclasses.dataclass(frozen=True)
class Preset:
    """One preset.

    :ivar properties: name -> canonical value, or None to remove the image's
    :ivar description: for whoever chooses one
    :ivar flavors: names of the flavors that it is meant for; told, not enforced
    """

    name: str
    properties: Overrides
    description: str = ''
    flavors: tuple[str, ...] = ()

    @functools.cached_property
    def used(self) -> record.UsedPreset:
        """What is recorded of it: its name, and a digest of its properties."""
        return record.UsedPreset(self.name, hashlib.sha256(json.dumps(
            self.properties, sort_keys=True).encode()).hexdigest())

    def covers(self, name: str, value: str | None) -> bool:
        """Return whether it gives the property called NAME this VALUE."""
        return name in self.properties and self.properties[name] == value


class Presets:
    """The presets of one deployment, as its file has them now.

    :param catalog: the properties that can be named
    :param path: the file; None if there is none
    :raises errors.StartupError: with a line for each thing that is wrong
    """

    def __init__(self, catalog: Catalog, path: str | None = None) -> None:
        self._watched = path and watched_files.WatchedFiles(
            lambda: [path], lambda: _read(catalog, path),
            f'[image_override] {OPTION}')

    def now(self) -> Mapping[str, Preset]:
        """Return the presets by name."""
        return self._watched.said() if self._watched else {}

    def named(self, name: object) -> Preset | errors.Problem:
        """Return the preset that a request names, or what is wrong.

        :param name: as Nova's JSON parser made it
        """
        if not isinstance(name, str):
            return errors.Problem(
                errors.PRESET, errors.INVALID_TYPE,
                'must be a string, the name of a preset')
        presets = self.now()
        if name in presets:
            return presets[name]
        folded = {each.lower(): each for each in presets}
        near = difflib.get_close_matches(
            name[:64].lower(), folded, n=1, cutoff=0.5)
        return errors.Problem(
            errors.PRESET, errors.UNKNOWN_PRESET,
            f'this cloud has no preset {errors.printable(name)}' + ''.join(
                f', did you mean {folded[each]}?' for each in near))


def is_name(text: str) -> bool:
    """Return whether a preset can be called TEXT."""
    return _NAME.fullmatch(text) is not None


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # It has no types.
    """Reads everything but null as it is written: ``true``, ``2.0``, ``0-3``.

    A key that is there twice is an error: YAML's last one would win.
    """

    yaml_implicit_resolvers = {
        first: [each for each in resolvers if each[0].endswith(':null')]
        for first, resolvers
        in yaml.SafeLoader.yaml_implicit_resolvers.items()}

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False,
    ) -> dict[Any, Any]:
        """Return the mapping of NODE."""
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(made) < len(node.value):
            raise yaml.constructor.ConstructorError(
                problem='a key is there twice', problem_mark=node.start_mark)
        return made


def _read(catalog: Catalog, path: str) -> dict[str, Preset]:
    """Read the presets of a file.

    :raises errors.StartupError: with a line for each thing that is wrong
    """
    try:
        said = _Loader(config_files.read(OPTION, path)).get_single_data()
    except (yaml.YAMLError, RecursionError) as exc:
        raise config_files.failure(OPTION, path, exc) from None
    if not isinstance(said, dict):
        raise config_files.failure(
            OPTION, path, 'must be a mapping of names to presets')
    parser = Parser(catalog)
    made, wrong = {}, []
    for name, entry in said.items():
        faults = list(_faults(catalog, name, entry))
        if not faults:
            try:
                made[name] = Preset(
                    name, parser.parse(entry['properties']),
                    entry['description'], tuple(entry.get('flavors') or ()))
            except errors.OverrideError as exc:
                faults += map(str, exc.problems)
        wrong += [errors.Fault(OPTION, path, f'preset {name}: {each}')
                  for each in faults]
    if wrong:
        raise errors.StartupError(*wrong)
    return made


def _faults(catalog: Catalog, name: object, entry: Any) -> Iterator[str]:
    """Find what is wrong with an entry beside the values of its properties."""
    if not isinstance(name, str) or not is_name(name):
        yield ('a name is 1 to 64 letters, digits, ".", "_" and "-", the first '
               'of them a letter or digit')
    if not isinstance(entry, dict):
        yield 'must be a mapping with description and properties'
        return
    yield from (f'unknown key {each}, the keys are {", ".join(_KEYS)}'
                for each in entry if each not in _KEYS)
    description, properties, flavors = map(entry.get, _KEYS)
    if not isinstance(description, str) or not description.strip():
        yield 'the description is missing, or is not text'
    if flavors is not None and not (isinstance(flavors, list) and all(
            isinstance(each, str) for each in flavors)):
        yield 'flavors must be a list of names'
    if not isinstance(properties, dict) or not properties:
        yield 'properties are missing: a mapping of names to values'
        return
    for each, value in properties.items():
        field = catalog.field_of(str(each))
        if not isinstance(each, str) or not isinstance(
                value, (str, type(None))):
            yield f'{each} must be a name with text or null'
        elif field is not None and catalog[field].never:
            yield (f'{each}: {errors.NEVER}: describes the image itself and '
                   'can never be overridden')
