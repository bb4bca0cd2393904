"""Filtered lists, whatever tool lists servers through openstacksdk."""

import pytest

from nova_image_override import versions
from nova_image_override.client import answers
from nova_image_override.client import sdk_proxy
from tests.unit.client import adapters


def test_a_tool_that_lists_servers_in_another_way_is_noticed(cloud, compute):
    cloud.get(f'{adapters.URL}/servers', json={'servers': []})
    with pytest.raises(answers.NotSent, match='was NOT sent'), \
            sdk_proxy.filtering(compute, ['hw_pmu']):
        compute.get('/servers')
    assert not hasattr(compute, 'servers')


def test_nothing_is_listed_where_the_cloud_has_no_extension(cloud, compute):
    cloud.get(adapters.URL + versions.PATH, status_code=404)
    with pytest.raises(answers.NotAvailable), \
            sdk_proxy.filtering(compute, ['hw_pmu']):
        pytest.fail('the context was entered')


def test_the_query_mapping_is_openstacksdk_s_and_two_more():
    mine, theirs = (each._query_mapping._mapping for each in (
        sdk_proxy.Server, sdk_proxy.Server.__base__))
    assert mine == {**theirs, **{name: name for name in answers.PARAMETERS}}
