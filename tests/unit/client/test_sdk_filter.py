"""Lists of servers by what they override, through openstacksdk."""

from nova_image_override import errors
from nova_image_override.client import sdk_proxy


def test_the_query_mapping_is_openstacksdk_s_and_two_more():
    mine, theirs = (each._query_mapping._mapping for each in (
        sdk_proxy.Server, sdk_proxy.Server.__base__))
    assert mine == {**theirs, **{name: name for name in errors.PARAMETERS}}
