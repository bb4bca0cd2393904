"""What an answer says of the version that a request was answered in."""

import microversion_parse
import pytest
import webob

from nova_image_override.api import application

VERSION = microversion_parse.Version(7, 3)


@pytest.mark.parametrize(('of_nova', 'expected'), [
    ('compute 2.90', 'compute 2.90, image-props-override 7.3'),
    (None, 'image-props-override 7.3')])
def test_the_version_stands_beside_novas(of_nova, expected):
    response = webob.Response()
    if of_nova:
        response.headers['OpenStack-API-Version'] = of_nova
    application.name_version(response, VERSION)
    assert response.headers.getall('OpenStack-API-Version') == [expected]


@pytest.mark.parametrize(('vary', 'expected'), [
    ([], ['OpenStack-API-Version']),
    (['Accept'], ['Accept', 'OpenStack-API-Version']),
    (['openstack-api-version'], ['openstack-api-version']),
    (['Accept', 'OpenStack-API-Version, X-OpenStack-Nova-API-Version'],
     ['Accept', 'OpenStack-API-Version, X-OpenStack-Nova-API-Version'])])
def test_vary_names_the_header_once(vary, expected):
    response = webob.Response()
    for value in vary:
        response.headers.add('Vary', value)
    application.name_version(response, VERSION)
    assert response.headers.getall('Vary') == expected
