"""What nova-api answers is what was generated, or there are no figures."""

import collections.abc
import typing

import webob

from benchmarks.scale import servers as servers_module
from nova_image_override import errors


class Wrong(Exception):
    """An answer is not the one that is to be measured."""


def check(
    answer: webob.Response,
    expected: collections.abc.Sequence[servers_module.Server],
    *, overrides: bool = False,
) -> None:
    """Compare the servers in an answer, one or a list, with EXPECTED.

    :param overrides: compare their overrides, too
    :raises Wrong: they differ, in their order or otherwise
    """
    if answer.status_int != 200:
        raise Wrong(f'{answer.status}: {answer.text}')
    body = answer.json
    listed = body['servers'] if 'servers' in body else [body['server']]
    _compare([server['id'] for server in listed],
             [server.uuid for server in expected])
    if overrides:
        _compare([server[errors.PARAMETER] for server in listed],
                 [server.overrides for server in expected])


def check_pages(
    get: collections.abc.Callable[[str], webob.Response], path: str,
    expected: collections.abc.Sequence[servers_module.Server], limit: int,
) -> int:
    """Follow the links of a list from its first page on.

    :param get: requests a path
    :param limit: how many servers a page has
    :returns: how many pages there are
    :raises Wrong: the pages are not those of EXPECTED
    """
    pages = 0
    while True:
        answer = get(path)
        check(answer, expected[:limit])
        expected, pages = expected[limit:], pages + 1
        links = answer.json.get('servers_links')
        if not links:
            break
        path = f'{path.partition("?")[0]}?{links[0]["href"].partition("?")[2]}'
    _compare([], [server.uuid for server in expected])
    return pages


def _compare(answered: list[typing.Any], expected: list[typing.Any]) -> None:
    if answered != expected:
        raise Wrong(f'answered: {answered}; generated: {expected}')
