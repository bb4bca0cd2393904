"""Random requests, and what must become of each.

What a request asks for is known from how it was made; nothing here asks the
package whether a name or a value is right.
"""
from __future__ import annotations

import dataclasses
import json
import re
import typing

from hypothesis import strategies as st
from nova.objects import image_meta

from nova_image_override import versions
from testing.harness import base
from tests.unit import strategies

#: The rules of the cloud under test, and below what they mean.
OPTIONS = {
    'allowed_properties': ['hw_*', 'os_*', 'trait:*', 'img_hide_hypervisor_id',
                           'img_hv_type=kvm|qemu'],
    'denied_properties': ['hw_vif_model', 'hw_numa_mem', 'trait:CUSTOM_GOLD',
                          'hw_watchdog_action=reset|poweroff'],
}

_NEVER = ('hw_ephemeral_encryption_secret_uuid', 'img_signature')


def refused(name: str, value: str | None) -> bool:
    """Return whether the cloud's rules refuse a property that exists."""
    if name.startswith('img_'):
        return name != 'img_hide_hypervisor_id' and not (
            name == 'img_hv_type' and value is not None
            and value.lower() in ('kvm', 'qemu'))
    return (name in ('hw_vif_model', 'trait:CUSTOM_GOLD')
            or name.startswith(('hw_numa_mem.', *_NEVER))
            or (name == 'hw_watchdog_action'
            and value in ('reset', 'poweroff')))


_FIELDS = frozenset(image_meta.ImageMetaProps.fields)


def exists(name: str) -> bool:
    """Return whether NAME is one that the documentation says to use."""
    if family := re.fullmatch(r'hw_numa_(?:cpus|mem)\.([0-9]+)', name,
                              re.ASCII):
        return str(int(family[1][:4])) == family[1] and int(family[1]) < 128
    if name.startswith('trait:'):
        return bool(re.fullmatch('[A-Z0-9_]{1,213}', name[6:], re.ASCII))
    return name in _FIELDS - {
        'hw_numa_cpus', 'hw_numa_mem', 'traits_required'}


#: Values that no property accepts.
_wrong_values = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False), st.lists(
        st.just('x'), max_size=2), st.just({}), st.just({'a': {'b': 'c'}}),
    st.sampled_from(['', '\0', 'true\n', 'x' * 256, 'é' * 128, '\ud800',
                     'a\x7f', '\u2028', '\U0001f600', '\ufffe', 'x' * 60_000]))

#: Overrides that do not conflict with any flavor or with each other.
_EASY = tuple(sorted({
    'hw_boot_menu', 'hw_cdrom_bus', 'hw_disk_bus', 'hw_input_bus',
    'hw_machine_type', 'hw_pointer_model', 'hw_qemu_guest_agent',
    'hw_rng_model', 'hw_scsi_model', 'hw_time_hpet', 'hw_video_model',
    'hw_vif_model', 'hw_watchdog_action', 'img_hide_hypervisor_id',
    'img_hv_type', 'os_distro', 'os_require_quiesce', 'os_type',
    'traits_required'} & _FIELDS))

_names = (strategies.pairs(_EASY) | strategies.pairs()).map(lambda p: p[0])


@dataclasses.dataclass
class Case:
    """One request to create a server.

    :ivar body: the bytes sent
    :ivar wrong: names that must be refused with 400, or None where what the
        request says depends on how it is read
    """

    body: bytes
    wrong: frozenset[str] | None = None
    version: str | None = None
    content_type: str | None = 'application/json'
    path: str = '/v2.1/servers'


@st.composite
def _spelled(draw: st.DrawFn, text: str) -> str:
    """TEXT as a JSON string, in one of its spellings."""
    how = draw(st.integers(0, 3))
    if how == 0:
        return '"' + ''.join(
            f'\\u{unit:04X}' if draw(st.booleans()) else json.dumps(char)[1:-1]
            for char in text[:40] for unit in [ord(char) & 0xffff]
            if ord(char) < 0x10000) + json.dumps(text[40:])[1:] \
            if max(map(ord, text), default=0) < 0x10000 else json.dumps(text)
    return json.dumps(text)


@st.composite
def _members(draw: st.DrawFn) -> tuple[str, frozenset[str]]:
    """The members of the parameter as JSON text, and those that are wrong."""
    said: dict[str, bool] = {}
    texts = []
    clean = draw(st.booleans())
    for _ in range(draw(st.integers(0, 6))):
        how = 'right' if clean else draw(st.sampled_from(
            ['right', 'right', 'name', 'value', 'null']))
        name, value = draw(
            strategies.pairs(_EASY) | strategies.pairs(_EASY)
            | strategies.pairs())
        wrong = False
        if how == 'name':
            name = draw(strategies.misnamed())
            wrong = not exists(name)
            if not wrong:
                continue
        elif how == 'value':
            value, wrong = draw(_wrong_values), True
        elif how == 'null':
            value = None
        said[name] = wrong
        texts.append(f'{draw(_spelled(name))}: ' + (
            draw(_spelled(value)) if isinstance(value, str)
            else json.dumps(value)))
    return ', '.join(texts), frozenset(
        name for name, wrong in said.items() if wrong)


def _server(flavor: str, parameter: str, image: str = base.IMAGE) -> str:
    return ('{"server": {"name": "x", "networks": "none", '
            f'"imageRef": "{image}", "flavorRef": "{flavor}"{parameter}}}}}')


@st.composite
def overrides(draw: st.DrawFn, flavor: str) -> Case:
    """A well-formed request with some overrides, right and wrong ones."""
    members, wrong = draw(_members())
    return Case(_server(
        flavor, f', "{base.PARAMETER}": {{{members}}}').encode(), wrong)


_entries = st.sampled_from([
    'compute 2.93', 'compute latest', 'compute 2.1', 'compute', 'compute 9.9',
    f'{versions.SERVICE_TYPE} 1.0',
    f'{versions.SERVICE_TYPE} latest', f'{versions.SERVICE_TYPE}',
    f'{versions.SERVICE_TYPE} 1.999', f'{versions.SERVICE_TYPE} 1.0.0',
    f'{versions.SERVICE_TYPE} 01.0', f'{versions.SERVICE_TYPE}  1.0 ',
    f'{versions.SERVICE_TYPE}\t1.0', f'{versions.SERVICE_TYPE} １.０',
    f'{versions.SERVICE_TYPE.upper()} 1.0', f'{versions.SERVICE_TYPE} -1',
    f'{versions.SERVICE_TYPE}: 1.0', 'volume 3.0', '', ' ', '1.0',
    f'{versions.SERVICE_TYPE} ' + '9' * 400, 'x' * 900, '"', ';', '\xff'])


@st.composite
def headers(draw: st.DrawFn, flavor: str) -> Case:
    """A request with an arbitrary version header or content type."""
    members, _ = draw(_members())
    wanted = draw(st.lists(_entries | st.text(
        st.characters(min_codepoint=32, max_codepoint=255), max_size=12),
        max_size=4))
    return Case(
        _server(flavor, f', "{base.PARAMETER}": {{{members}}}').encode(),
        version=draw(st.sampled_from([',', ', ', ' , ', '\r\n ', ';'])).join(
            wanted).encode('latin-1', 'ignore').decode('latin-1'),
        content_type=draw(st.sampled_from([
            'application/json', 'application/json;charset=utf-16', None, '',
            'text/plain', 'application/xml', 'Application/JSON',
            'application/vnd.openstack.compute+json'])))


_elsewhere = st.sampled_from([
    '{parameter}, "metadata": {{"image_props_override": "x"}}',
    ', "metadata": {{"hw_vif_model": "e1000"}}',
    '{parameter}{parameter}', ', "Image_Props_Override": {{}}',
    ', "image_props_override ": {{}}', ', "image\\u005fprops_override": {{}}',
    ', "os:scheduler_hints": {{"image_props_override": {{}}}}',
    '{parameter}}}, "image_props_override": {{"hw_vif_model": "e1000"',
    '}}, "server": {{"name": "y"{parameter}',
    '}}, "os:scheduler_hints": {{"image_props_override:hw_vif_model": "x"',
])


@st.composite
def texts(draw: st.DrawFn, flavor: str) -> Case:
    """A request whose text is not what clients send, or hardly JSON."""
    members, _ = draw(_members())
    parameter = draw(st.just(f', "{base.PARAMETER}": {{{members}}}')
                     | strategies.any_json.map(
                         lambda v: f', "{base.PARAMETER}": {json.dumps(v)}'))
    text = _server(flavor, draw(_elsewhere).format(parameter=parameter)
                   if draw(st.booleans()) else parameter)
    how = draw(st.integers(0, 9))
    if how == 0:
        text = text[:draw(st.integers(0, len(text)))]
    elif how == 1:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(strategies.any_text) + text[at:]
    elif how == 2:
        depth = draw(st.sampled_from([1, 5, 50, 200, 900]))
        text = text.replace(': {', ': ' + '[' * depth, 1)
    elif how == 3:
        text = json.dumps([text, members])
    elif how == 4:
        many = ', '.join(f'"trait:CUSTOM_{n}": "required"' for n in range(
            draw(st.sampled_from([127, 128, 129, 1500]))))
        text = _server(flavor, f', "{base.PARAMETER}": {{{many}}}')
    body = text.encode(draw(st.sampled_from(
        ['utf-8'] * 30 + ['utf-8-sig', 'utf-16', 'utf-32', 'latin-1',
                          'cp037'])),
        'replace')
    if draw(st.integers(0, 9)) == 0:
        body = draw(st.binary(max_size=40)) + body
    return Case(body, path=draw(st.sampled_from(
        ['/v2.1/servers'] * 3 + ['/v2/servers'])))


def requests(flavor: str) -> st.SearchStrategy[Case]:
    """Requests of all sorts to create a server of FLAVOR."""
    return st.one_of(overrides(flavor), overrides(flavor), headers(flavor),
                     texts(flavor))


def asked(case: Case) -> typing.Any:
    """Return the parameter as a JSON parser reads it, or None."""
    try:
        # Nova reads bodies as UTF-8, whatever Content-Type says.
        body = json.loads(case.body.decode())
        return body['server'].get(base.PARAMETER)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
