"""How a request names the extension's version, and what answer it gets."""

import hypothesis
from hypothesis import strategies as st
import microversion_parse
import pytest
import webob

from nova_image_override import versions

#: Versions as there could be.
HISTORY = tuple(microversion_parse.Version(*version)
                for version in ((1, 0), (1, 1), (1, 2)))


def negotiate(value, name='OpenStack-API-Version'):
    return versions.negotiate(webob.Request.blank(
        '/', headers={name: value}).headers, HISTORY)


@pytest.mark.parametrize(('value', 'version'), [
    ('image-props-override 1.0', (1, 0)),
    ('image-props-override 1.1', (1, 1)),
    ('image-props-override 1.2', (1, 2)),
    ('image-props-override latest', (1, 2)),
    ('compute 2.90, image-props-override 1.0', (1, 0)),
    ('image-props-override 1.0, compute 2.90', (1, 0)),
    ('compute latest,image-props-override latest', (1, 2)),
    ('compute 2.90,\r\n\timage-props-override  1.0 ', (1, 0)),
    ('IMAGE-PROPS-OVERRIDE 1.0', (1, 0)),
    ('volume 3.60, Image-Props-Override\t1.0, compute 2.1', (1, 0)),
    # As with Nova's own entry, the last one counts.
    ('image-props-override 1.0, image-props-override 1.1', (1, 1)),
    ('image-props-override 9.9, image-props-override 1.0', (1, 0)),
])
def test_a_request_that_names_the_extension_gets_its_version(value, version):
    assert negotiate(value) == version


@pytest.mark.parametrize('name', [
    'openstack-api-version', 'OPENSTACK-API-VERSION'])
def test_the_headers_case_does_not_matter(name):
    assert negotiate('image-props-override 1.0', name) == (1, 0)


@pytest.mark.parametrize('value', [
    '', ' ', ',', '1.0', 'latest', 'compute 2.90', 'compute latest',
    'image-props-override', 'image-props-override,',
    'image_props_override 1.0', 'image-props-overrides 1.0',
    'x-image-props-override 1.0', 'image-props-override:1.0',
    'compute image-props-override 1.0',
])
def test_a_request_that_does_not_name_the_extension_has_no_version(value):
    assert negotiate(value) is None


def test_a_request_without_the_header_has_no_version():
    assert versions.negotiate({}, HISTORY) is None
    assert negotiate('image-props-override 1.0',
                     'X-OpenStack-Nova-API-Version') is None


@pytest.mark.parametrize('text', [
    'LATEST', 'newest', '1', '1.', '.1', '1.0.0', 'v1.0', '1.x', '-1.0',
    '+1.0', '1.-0', '1. 0', '1.0 1.1', '01.0', '1.00', '\u0661.0', '1\u00b2.0',
    '0x1.0', '1.0;', '9' * 10 + '.0', '1.' + '9' * 10, '1.' + '9' * 5000,
])
def test_what_is_no_version_is_malformed(text):
    with pytest.raises(versions.Unusable) as caught:
        versions.negotiate(
            {versions.HEADER: f'image-props-override {text}'}, HISTORY)
    assert caught.value.status == 400
    assert str(caught.value) == (
        'OpenStack-API-Version: the version of image-props-override must be '
        '"latest" or X.Y, such as 1.2.')


@pytest.mark.parametrize('text', [
    '0.9', '0.0', '1.3', '1.10', '2.0', '999999999.999999999', '2.90'])
def test_a_version_out_of_range_is_told_the_range(text):
    with pytest.raises(versions.Unusable) as caught:
        negotiate(f'compute 2.90, image-props-override {text}')
    assert caught.value.status == 406
    assert str(caught.value) == (
        f'Version {text} of image-props-override is not supported by this '
        'API. Minimum is 1.0 and maximum is 1.2.')


def test_every_version_of_the_history_can_be_asked_for():
    assert [str(v) for v in versions.VERSIONS] == list(versions.HISTORY)
    assert list(versions.VERSIONS) == sorted(set(versions.VERSIONS))
    assert versions.VERSIONS[0] == versions.MIN
    assert versions.VERSIONS[-1] == versions.MAX
    for text in versions.HISTORY:
        assert str(versions.negotiate(
            {versions.HEADER: f'image-props-override {text}'})) == text


def test_what_a_request_that_forgot_the_entry_is_told_can_be_sent():
    name, _, value = versions.ENTRY.partition(': ')
    assert name == versions.HEADER
    assert versions.negotiate(
        {name: value.replace('<version>', '2.90')}) == versions.MAX


@hypothesis.given(st.text(max_size=60) | st.text(
    'image-props-override latest,.019 \t', max_size=60).map(
        lambda rest: 'image-props-override ' + rest))
def test_any_header_is_a_version_or_none_or_refused(value):
    try:
        version = versions.negotiate({versions.HEADER: value}, HISTORY)
    except versions.Unusable:
        return
    assert version is None or version in HISTORY


@pytest.mark.parametrize(('told', 'will_do'), [
    *((text, True) for text in ('1.0', '1.1', '1.10', '2.0')),
    *((text, False) for text in (
        None, '', '0.9', '0.10', '1', 'latest', '1.0 ', '1.x', 1.0, True))])
def test_a_compute_part_of_this_version_or_a_newer_one_will_do(told, will_do):
    assert versions.does_compute_part(told) is will_do
