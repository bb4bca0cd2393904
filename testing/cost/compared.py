"""Requests: unmodified Nova and the extension, in one process."""
from __future__ import annotations

import collections.abc
import typing

import webob

from testing import paste_config
from testing.cost import cloud as cloud_module
from testing.cost import measure
from testing.cost import overrides

#: Name of a variant -> prepares one request.
Variants = dict[str, measure.Prepare]

#: Is called with the answer.
After = collections.abc.Callable[[typing.Any], None]

#: What the others are compared with.
NOVA = 'unmodified Nova'
NOVA_AGAIN = 'unmodified Nova, once more'
NOT_NAMED = 'extension, service not named'
NAMED = 'extension, service named'
TEN = 'extension, 10 overrides'
NOVA_TEN = 'unmodified Nova, image with the 10'


def create(cloud: cloud_module.Cloud) -> Variants:
    """Return POST /servers with and without the extension.

    Nova is there once more, so that the ratio of Nova to itself shows how far
    ratios can be trusted; and with images that have the properties themselves,
    because what those cost Nova is not the extension's doing.
    """
    flavor = cloud.flavor(vcpus=4)
    plain = cloud.image(**overrides.IMAGE)
    ten, most = (cloud.image(**overrides.IMAGE | chosen)
                 for chosen in (overrides.TEN, overrides.MOST))

    def prepare(
        app: str, chosen: dict[str, str] | None = None, image: str = plain,
    ) -> measure.Prepare:
        body = cloud.server_body(chosen, image, flavor)
        return lambda: cloud.call(
            app, 'POST', '/servers', body, named=chosen is not None)

    return {
        NOVA: prepare(paste_config.NOVA_APP),
        NOVA_AGAIN: prepare(paste_config.NOVA_APP),
        NOT_NAMED: prepare(paste_config.APP),
        'extension, no override': prepare(paste_config.APP, {}),
        TEN: prepare(paste_config.APP, overrides.TEN),
        'extension, 128 overrides': prepare(paste_config.APP, overrides.MOST),
        NOVA_TEN: prepare(paste_config.NOVA_APP, image=ten),
        'unmodified Nova, image with the 128':
            prepare(paste_config.NOVA_APP, image=most),
    }


def detail(cloud: cloud_module.Cloud, compute: str) -> Variants:
    """Return GET /servers/detail of servers with ten overrides each.

    :param compute: Nova's microversion
    """
    def prepare(app: str, named: bool = False) -> measure.Prepare:
        return lambda: cloud.call(
            app, 'GET', '/servers/detail', compute=compute, named=named)

    return {
        NOVA: prepare(paste_config.NOVA_APP),
        NOVA_AGAIN: prepare(paste_config.NOVA_APP),
        NOT_NAMED: prepare(paste_config.APP),
        NAMED: prepare(paste_config.APP, True),
    }


def forget(cloud: cloud_module.Cloud) -> After:
    """Return a function that deletes the server that a create has made."""
    def delete(response: webob.Response) -> None:
        cloud_module.expect(response.status_int, 202, response.text)
        server = response.json['server']['id']
        response = cloud.call(
            paste_config.NOVA_APP, 'DELETE', f'/servers/{server}')()
        cloud_module.expect(response.status_int, 204, response.text)
    return delete


def check(cloud: cloud_module.Cloud) -> After:
    """Return a function that checks that an answer lists the servers."""
    def check_one(response: webob.Response) -> None:
        cloud_module.expect(response.status_int, 200, response.text)
        cloud_module.expect(
            len(response.json['servers']), cloud.SERVERS, 'servers')
    return check_one


def python_calls(variants: Variants, after: After) -> dict[str, int]:
    """Count the function calls of each variant, with caches filled."""
    result = {}
    for name, prepare in variants.items():
        for _ in range(2):
            after(prepare()())
        answers: list[webob.Response] = []
        call = prepare()
        result[name] = measure.python_calls(
            lambda call=call, answers=answers: answers.append(call()))
        after(answers[0])
    return result


def costs(
    variants: Variants, after: After,
) -> dict[str, cloud_module.Counter]:
    """Count what each variant costs databases and other services."""
    result = {}
    for name, prepare in variants.items():
        after(prepare()())
        result[name] = cloud_module.Counter()
        call = prepare()
        with result[name].counting():
            response = call()
        after(response)
    return result
