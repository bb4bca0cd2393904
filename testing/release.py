"""Which release of Nova is installed, and what it has."""

from nova import version

#: Such as 34.
NUMBER = int(version.version_string().split('.')[0])


def microversions(*versions: str) -> list[str]:
    """Return those compute microversions that it has."""
    from nova.api.openstack import api_version_request
    newest = api_version_request.max_api_version()
    return [each for each in versions
            if api_version_request.APIVersionRequest(each) <= newest]


def need(*properties: str) -> None:
    """Skip a test of image properties, unless it has all of them."""
    from nova.objects import image_meta
    import pytest
    missing = {*properties} - {*image_meta.ImageMetaProps.fields}
    if missing:
        pytest.skip(f'Nova {NUMBER} has no ' + ', '.join(sorted(missing)))
