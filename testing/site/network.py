"""Neutron's API, as far as it is read, on top of Nova's own fake of it."""
from __future__ import annotations

import typing

import webob
import webob.exc

#: What is listed although there is none. Nova's fixture has one security group,
#: but nova-api cannot find it there by the ID that Horizon sends.
_NONE = {'address-groups', 'agents', 'floatingips', 'routers',
         'security-groups', 'subnetpools', 'trunks'}


def answer(
    neutron: typing.Any, request: webob.Request,
) -> dict[str, typing.Any]:
    """Return what Neutron answers to a request to list or show something.

    :param neutron: Nova's fixture
    :raises webob.exc.HTTPNotFound: there is nothing like that
    """
    path = request.path_info.strip('/').split('/')
    if path in ([''], ['v2.0']):
        return {'versions': [{
            'id': 'v2.0', 'status': 'CURRENT', 'links': [
                {'rel': 'self', 'href': f'{request.host_url}/network/v2.0'}]}]}
    kind, *which = path[1:]
    if kind in _NONE and not which:
        return {kind.replace('-', '_'): []}
    if kind == 'extensions' and not which:
        return neutron.list_extensions()
    if kind == 'networks':
        return _networks(neutron, request, *which)
    if kind == 'subnets' and not which:
        return neutron.list_subnets()
    if kind == 'ports' and not which:
        return neutron.list_ports(False, **_filters(request))
    raise webob.exc.HTTPNotFound()


def _networks(
    neutron: typing.Any, request: webob.Request, which: str | None = None,
) -> dict[str, typing.Any]:
    """Return the networks that nova-api has for the project.

    Nova's fixture does not say which subnets a network has.
    """
    def with_subnets(network: dict[str, typing.Any]) -> dict[str, typing.Any]:
        return {**network, 'subnets': [
            subnet['id'] for subnet in neutron.list_subnets()['subnets']
            if subnet['network_id'] == network['id']]}

    if which:
        return {'network': with_subnets(
            neutron.show_network(which)['network'])}
    found = neutron.list_networks(**_filters(request))['networks']
    return {'networks': [with_subnets(network) for network in found]}


def _filters(request: webob.Request) -> dict[str, typing.Any]:
    """Return the filters of a list that the fixture can compare."""
    spelled: dict[str, typing.Any] = {'true': True, 'false': False}
    return {name: spelled.get(value.lower(), value)
            for name, value in request.GET.items()
            if name not in ('fields', 'limit', 'marker', 'sort_key',
                            'sort_dir', 'page_reverse')}
