"""Which release of Nova is installed, and what it has."""

import collections.abc

from nova import version

from nova_image_override.properties import book

#: Such as 34.
NUMBER = int(version.version_string().split('.')[0])


def microversions(*versions: str) -> list[str]:
    """Return those compute microversions that it has."""
    from nova.api.openstack import api_version_request
    newest = api_version_request.max_api_version()
    return [each for each in versions
            if api_version_request.APIVersionRequest(each) <= newest]


def lacking(names: collections.abc.Iterable[str]) -> set[str]:
    """Return the fields, of image properties called NAMES, that it has not."""
    from nova.objects import image_meta
    return {book.field_of(name) for name in names} - {
        *image_meta.ImageMetaProps.fields}


def need(*names: str) -> None:
    """Skip a test of image properties, unless it has all of them."""
    import pytest
    missing = lacking(names)
    if missing:
        pytest.skip(f'Nova {NUMBER} has no ' + ', '.join(sorted(missing)))
