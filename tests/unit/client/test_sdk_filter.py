"""Lists of servers by what they override, through openstacksdk."""

from keystoneauth1 import noauth
from keystoneauth1 import session
import pytest

from nova_image_override import errors
from nova_image_override.client import sdk_proxy
from tests.unit.client import adapters


def test_the_query_mapping_is_openstacksdk_s_and_two_more():
    mine, theirs = (each._query_mapping._mapping for each in (
        sdk_proxy.Server, sdk_proxy.Server.__base__))
    assert mine == {**theirs, **{name: name for name in errors.PARAMETERS}}


@pytest.mark.parametrize('query', [
    {errors.PARAMETER: {'hw_disk_bus': 'scsi'}},
    {errors.PRESET: {'name': 'windows', 'digest': '0'}}])
def test_what_would_drop_values_from_a_filter_is_refused(cloud, query):
    proxy = sdk_proxy.Proxy(
        session.Session(auth=noauth.NoAuth(endpoint=adapters.URL)))
    with pytest.raises(TypeError, match='takes names, not '):
        list(proxy.servers(**query))
    assert not cloud.called
