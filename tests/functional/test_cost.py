"""The extension adds no database query and no call of another service."""

from nova import context
from nova import objects
from nova.image import glance

from benchmarks import api
from benchmarks import cloud
from benchmarks import measure
from tests.functional import base


class Costs(cloud.Cloud):
    SHARED = False  # Tests stop services.
    SERVERS = 2

    def costs(self, variants, after):
        """Return what the variants cost, and what unmodified Nova costs."""
        costs = {variant: (count.queries, count.calls) for variant, count
                 in api.costs(variants, after).items()}
        return costs, costs[api.NOVA]

    def test_create_costs_no_query_and_no_call_more_than_nova(self):
        self.stop()
        costs, nova = self.costs(api.create(self), api.forget(self))
        self.assertGreater(min(nova), 0)
        self.assertEqual(dict.fromkeys(costs, nova), costs)

    def test_ten_overrides_cost_at_most_two_percent_of_calls_more(self):
        """Function calls, beside an image that has the ten properties."""
        self.stop()
        calls = api.python_calls(api.create(self), api.forget(self))
        self.assertLessEqual(calls[api.TEN], 1.02 * calls[api.NOVA_TEN])
        self.assertLessEqual(calls[api.NOT_NAMED], 1.02 * calls[api.NOVA])

    def test_function_calls_are_counted_the_same_each_time(self):
        def some():
            return sorted([3, 2, 1], key=abs)
        self.assertEqual(
            [measure.python_calls(some)] * 3,
            [measure.python_calls(some) for _ in range(3)])
        self.assertGreater(
            measure.python_calls(some), measure.python_calls(lambda: None))

    def test_lists_cost_no_query_and_no_call_more_than_nova(self):
        self.add_servers()
        self.stop()
        costs, nova = self.costs(
            api.detail(self, '2.73'), api.check(self))
        self.assertEqual(dict.fromkeys(costs, nova), costs)

    def test_lists_before_system_metadata_cost_one_query_more_when_named(self):
        """From 2.73 on Nova reads it for locked_reason."""
        self.add_servers()
        self.stop()
        costs, nova = self.costs(
            api.detail(self, '2.72'), api.check(self))
        queries, calls = costs.pop(api.NAMED)
        self.assertEqual((nova[0] + 1, nova[1]), (queries, calls))
        self.assertEqual(dict.fromkeys(costs, nova), costs)

    def test_queries_and_calls_are_what_is_counted(self):
        self.stop()
        asked, read = cloud.Counter(), cloud.Counter()
        with asked.counting():
            glance.API().get(None, base.IMAGE)
        with read.counting():
            objects.ServiceList.get_all(context.get_admin_context())
        self.assertEqual((0, 1), (asked.queries, asked.calls))
        self.assertGreater(read.queries, 0)
        self.assertEqual(0, read.calls)
