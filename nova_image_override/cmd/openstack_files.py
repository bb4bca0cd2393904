"""Image and flavor, as ``openstack image show`` and ``flavor show`` print them.

The operator's commands read nova-api's files and ask no service; what Glance
and Nova have is given to them in JSON files.
"""

import json
from typing import Any

from nova import objects


def read_image(path: str) -> dict[str, Any]:
    """Return metadata of an image, as Nova gets it from Glance.

    :param path: file with what ``openstack image show -f json`` has printed
    :raises OSError: the file cannot be read
    :raises ValueError: the file holds something else
    """
    said = _read(path)
    image = {name: said[name] for name in (
        'name', 'status', 'size', 'min_ram', 'min_disk')
        if said.get(name) is not None}
    # openstacksdk knows some properties, and turns them into numbers and
    # booleans; Glance has text.
    image['properties'] = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in _properties(path, said).items()
        if value is not None}
    return image


def read_flavor(path: str) -> Any:
    """Return a flavor.

    :param path: file with what ``openstack flavor show -f json`` has printed
    :returns: ``nova.objects.Flavor``, with its extra specs
    :raises OSError: the file cannot be read
    :raises ValueError: the file holds something else
    """
    said = _read(path)
    specs = _properties(path, said)
    try:
        return objects.Flavor(
            name=said['name'], vcpus=said['vcpus'], memory_mb=said['ram'],
            root_gb=said['disk'],
            ephemeral_gb=said.get('OS-FLV-EXT-DATA:ephemeral') or 0,
            # Before compute 2.75, no swap is ''.
            swap=said.get('swap') or 0,
            extra_specs={name: str(value) for name, value in specs.items()})
    except KeyError as exc:
        raise _wrong(path, f'it has no {exc}') from None
    except (TypeError, ValueError) as exc:
        raise _wrong(path, exc) from None


def _properties(path: str, said: dict[str, Any]) -> dict[str, Any]:
    properties = said.get('properties') or {}
    if not isinstance(properties, dict):
        raise _wrong(path, '"properties" is no object')
    return properties


def _read(path: str) -> dict[str, Any]:
    with open(path, encoding='utf-8') as file:
        try:
            said = json.load(file)
        except ValueError as exc:
            raise _wrong(path, exc) from None
    if not isinstance(said, dict):
        raise _wrong(path, 'it is no object')
    return said


def _wrong(path: str, why: object) -> ValueError:
    return ValueError(
        f'{path} is not what openstack image show, or flavor show, prints '
        f'with -f json: {why}')
