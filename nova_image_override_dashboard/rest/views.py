"""What the REST views have in common."""
from __future__ import annotations

import collections.abc
import functools
import typing

from django import http
from openstack_dashboard.api.rest import utils

from nova_image_override import errors
from nova_image_override.client import answers
from nova_image_override_dashboard import cloud

View = collections.abc.Callable[..., typing.Any]

#: What JSON calls the types that views ask for.
_KINDS = {dict: 'an object', str: 'a string'}

_NOT_FOUND = 404
_BAD_REQUEST = 400


def ajax(data_required: bool = False) -> collections.abc.Callable[[View], View]:
    """Return Horizon's decorator of REST views, with our errors.

    A refusal by the cloud is answered with status 200, because browsers write
    others to the console. A cloud without the extension gives 404.

    :param data_required: whether the request must have a body
    """
    def decorate(view: View) -> View:
        @functools.wraps(view)
        def answer(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
            try:
                return view(*args, **kwargs)
            except (answers.Refused, cloud.PresetChanged) as exc:
                return _refused(exc)
            except answers.NotAvailable as exc:
                raise utils.AjaxError(_NOT_FOUND, str(exc)) from None
        return typing.cast(
            View, utils.ajax(data_required=data_required)(answer))
    return decorate


def _refused(
    exc: answers.Refused | cloud.PresetChanged,
) -> dict[str, typing.Any]:
    return {'refused': {
        'message': exc.message,
        'problems': {problem.name: {'code': problem.code,
                                    'reason': problem.reason}
                     for problem in exc.problems}}}


def required(
    request: http.HttpRequest, name: str, kind: type,
) -> typing.Any:
    """Return what a request has under a name.

    :param kind: dict or str
    :raises utils.AjaxError: it is not there, or is something else
    """
    data = request.DATA
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, kind):
        raise malformed(f'{name} must be {_KINDS[kind]}')
    return value


def asked(
    request: http.HttpRequest,
) -> tuple[dict[str, typing.Any], str | None]:
    """Return the overrides and the name of the preset that a request has.

    :raises utils.AjaxError: the first are not there, or one is something else
    :raises cloud.PresetChanged: the preset is no longer what the page shows
    """
    overrides = required(request, errors.PARAMETER, dict)
    return overrides, cloud.preset_as_shown(
        request, None if request.DATA.get(errors.PRESET) is None
        else required(request, errors.PRESET, dict))


def malformed(why: str) -> utils.AjaxError:
    """Return the error that says what is wrong with a request."""
    return utils.AjaxError(_BAD_REQUEST, why)
