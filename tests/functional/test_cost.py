"""The extension adds no database query and no call to another service."""

from unittest import mock

from nova import context
from nova import objects
from nova import service
from nova.image import glance
import pytest

from testing import release
from testing.cost import cloud as cloud_module
from testing.cost import compared
from testing.cost import measure
from testing.cost import overrides
from testing.harness import base


class Cloud(cloud_module.Cloud):
    def costs(self, variants, after):
        """Return what the variants cost, and what unmodified Nova costs."""
        costs = {variant: (count.queries, count.calls) for variant, count
                 in compared.costs(variants, after).items()}
        return costs, costs[compared.NOVA]


class TestCosts:
    SHARED = False  # Tests stop services.
    SERVERS = 2

    def test_create_costs_no_query_and_no_call_more_than_nova(self, cloud):
        cloud.stop()
        costs, nova = cloud.costs(compared.create(cloud),
                                  compared.forget(cloud))
        assert min(nova) > 0
        assert costs == dict.fromkeys(costs, nova)

    # Under eventlet all services run in the thread whose calls are counted.
    @pytest.mark.skipif(release.NUMBER != 34, reason='needs native threads')
    def test_ten_overrides_cost_at_most_four_percent_of_calls_more(self, cloud):
        """Function calls, compared to an image with the ten properties."""
        cloud.stop()
        calls = compared.python_calls(
            compared.create(cloud), compared.forget(cloud))
        assert calls[compared.TEN] <= 1.04 * calls[compared.NOVA_TEN]
        assert calls[compared.NOT_NAMED] <= 1.02 * calls[compared.NOVA]

    def test_function_calls_are_counted_the_same_each_time(self):
        def some():
            return sorted([3, 2, 1], key=abs)
        assert [measure.python_calls(some)
                for _ in range(3)] == [measure.python_calls(some)] * 3
        assert measure.python_calls(some) > measure.python_calls(lambda: None)

    def test_lists_cost_no_query_and_no_call_more_than_nova(self, cloud):
        cloud.add_servers()
        cloud.stop()
        costs, nova = cloud.costs(
            compared.detail(cloud, '2.73'), compared.check(cloud))
        assert costs == dict.fromkeys(costs, nova)

    def test_lists_before_system_metadata_cost_one_query_more_when_named(
            self, cloud):
        """From 2.73 on, Nova reads it for locked_reason."""
        cloud.add_servers()
        cloud.stop()
        costs, nova = cloud.costs(
            compared.detail(cloud, '2.72'), compared.check(cloud))
        queries, calls = costs.pop(compared.NAMED)
        assert (queries, calls) == (nova[0] + 1, nova[1])
        assert costs == dict.fromkeys(costs, nova)

    def test_nova_compute_starts_with_the_queries_and_calls_of_novas(
            self, cloud):
        flavor = cloud.flavor(vcpus=4)
        for _ in range(3):
            cloud.boot(overrides.TEN, flavor=flavor)
        host, = cloud.HOSTS

        def start(manager):
            count = cloud_module.Counter()
            with mock.patch.dict(service.SERVICE_MANAGERS,
                                 {'nova-compute': manager}), count.counting():
                cloud.restart_compute_service(host)
            return count.queries, count.calls

        # At times, periodic tasks of Nova's are counted, too.
        nova, ours = (min(start(manager) for _ in range(3)) for manager in (
            service.SERVICE_MANAGERS['nova-compute'],
            base.compute_command.MANAGER))
        assert min(nova) > 0
        assert ours == nova

    def test_queries_and_calls_are_what_is_counted(self, cloud):
        cloud.stop()
        asked, read = cloud_module.Counter(), cloud_module.Counter()
        with asked.counting():
            glance.API().get(None, base.IMAGE)
        with read.counting():
            objects.ServiceList.get_all(context.get_admin_context())
        assert (asked.queries, asked.calls) == (0, 1)
        assert read.queries > 0
        assert read.calls == 0
